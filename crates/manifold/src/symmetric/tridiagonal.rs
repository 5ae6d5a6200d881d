//! Reduction of a symmetric matrix to tridiagonal form, one matrix per lane.

use super::chunk::Wanted;
use crate::simd::{Lanes, elementary::constant};
use crate::{Real, tolerance};

/// How many columns are handled together: enough independent sums to hide the latency of the multiply-add.
const BLOCK: usize = 4;

/// Householder reduction `A = Z T Z^T` of matrices whose largest entry is 1 in magnitude.
///
/// On entry the lower triangle of `z` holds `A`. On exit `z` holds the orthogonal `Z` (if wanted), `d` the diagonal of `T` and
/// `e[i]` its entry `(i, i + 1)`; `e[n - 1]` is zero. `p` is scratch of length `n`.
///
/// Rows are eliminated from the last to the second, as in Martin, Reinsch and Wilkinson, "Householder's
/// tridiagonalization of a symmetric matrix", Numer. Math. 11 (1968): row `i` is reflected onto its last place by
/// `H = I - u u^T / h`, `h = u^T u / 2`, and the leading block becomes `A - u q^T - q u^T` with
/// `p = A u / h`, `q = p - (u^T p / 2h) u`.
#[inline(always)]
pub(super) fn tridiagonalise<V: Lanes>(
    n: usize,
    z: &mut [V],
    d: &mut [V],
    e: &mut [V],
    p: &mut [V],
    wanted: Wanted,
) {
    let negligible = V::Scalar::from_f64(tolerance::NEGLIGIBLE_COLUMN) * V::Scalar::EPSILON;
    let negligible = V::splat(negligible * negligible);
    // While reducing, `d[i]` keeps 1/h of the reflection of row i (zero where the step was skipped).
    d[0] = V::zero();
    for i in (1..n).rev() {
        let (above, row) = z.split_at_mut(i * n);
        let u = &mut row[..i];
        let last = u[i - 1];
        if i == 1 {
            e[0] = last;
            d[1] = V::zero();
            break;
        }
        let norm_squared = dot(u, u);
        let skip = norm_squared.lt(negligible);
        let g = -norm_squared.sqrt().copysign(last);
        e[i - 1] = V::select(skip, last, g);
        let h = V::select(skip, V::one(), last.neg_mul_add(g, norm_squared));
        let inverse_h = V::select(skip, V::zero(), V::one() / h);
        d[i] = inverse_h;
        u[i - 1] = last - g;
        for entry in &mut *u {
            *entry = V::select(skip, V::zero(), *entry);
        }
        let p = &mut p[..i];
        multiply_lower(n, above, u, p);
        let half_curvature = dot(u, p) * inverse_h * inverse_h * constant(0.5);
        for j in 0..i {
            p[j] = half_curvature.neg_mul_add(u[j], p[j] * inverse_h);
        }
        subtract_rank_two(n, above, u, p);
    }
    match wanted {
        Wanted::Everything => accumulate(n, z, d),
        Wanted::Values => (0..n).for_each(|i| d[i] = z[i * n + i]),
    }
    e[n - 1] = V::zero();
}

/// `u^T v`, in two interleaved sums.
#[inline(always)]
fn dot<V: Lanes>(u: &[V], v: &[V]) -> V {
    let n = u.len();
    let v = &v[..n];
    let (mut even, mut odd) = (V::zero(), V::zero());
    let mut k = 0;
    while k + 1 < n {
        even = u[k].mul_add(v[k], even);
        odd = u[k + 1].mul_add(v[k + 1], odd);
        k += 2;
    }
    if k < n {
        even = u[k].mul_add(v[k], even);
    }
    even + odd
}

/// `p = A u` for the symmetric `A` whose lower triangle is in `a` (rows of length `n`).
#[inline(always)]
fn multiply_lower<V: Lanes>(n: usize, a: &[V], u: &[V], p: &mut [V]) {
    let size = u.len();
    let p = &mut p[..size];
    let mut first = 0;
    while first < size {
        if first + BLOCK <= size {
            multiply_lower_block::<V, BLOCK>(n, a, u, p, first);
            first += BLOCK;
        } else {
            multiply_lower_block::<V, 1>(n, a, u, p, first);
            first += 1;
        }
    }
}

/// Entries `first .. first + B` of `A u`.
#[inline(always)]
fn multiply_lower_block<V: Lanes, const B: usize>(n: usize, a: &[V], u: &[V], p: &mut [V], first: usize) {
    let size = u.len();
    let mut sum = [V::zero(); B];
    let rows: [&[V]; B] = std::array::from_fn(|b| &a[(first + b) * n..(first + b) * n + first]);
    for k in 0..first {
        let factor = u[k];
        for b in 0..B {
            sum[b] = rows[b][k].mul_add(factor, sum[b]);
        }
    }
    for k in first..first + B {
        for b in 0..B {
            let j = first + b;
            let entry = if k <= j { a[j * n + k] } else { a[k * n + j] };
            sum[b] = entry.mul_add(u[k], sum[b]);
        }
    }
    for k in first + B..size {
        let column = &a[k * n + first..k * n + first + B];
        let factor = u[k];
        for b in 0..B {
            sum[b] = column[b].mul_add(factor, sum[b]);
        }
    }
    p[first..first + B].copy_from_slice(&sum);
}

/// `A - u q^T - q u^T` on the lower triangle.
#[inline(always)]
fn subtract_rank_two<V: Lanes>(n: usize, a: &mut [V], u: &[V], q: &[V]) {
    let size = u.len();
    let q = &q[..size];
    for j in 0..size {
        let (uj, qj) = (u[j], q[j]);
        // Zipped, so that no check of bounds keeps the loop over a single matrix from being vectorised.
        for ((entry, &uk), &qk) in a[j * n..=j * n + j].iter_mut().zip(&u[..=j]).zip(&q[..=j]) {
            *entry = uj.neg_mul_add(qk, qj.neg_mul_add(uk, *entry));
        }
    }
}

/// Multiplies the reflections out, in place: row `i` of `z` holds the vector `u` of reflection `i` until its turn.
/// The diagonal of `T`, which `z` still holds, moves to `d`.
#[inline(always)]
fn accumulate<V: Lanes>(n: usize, z: &mut [V], d: &mut [V]) {
    for i in 0..n {
        let (above, row) = z.split_at_mut(i * n);
        let u = &row[..i];
        let mut first = 0;
        while first < i {
            // The columns of a single matrix lie side by side: the more at a time, the longer the vectors.
            first += match i - first {
                8.. if V::WIDTH == 1 => reflect_columns::<V, 8>(n, above, u, d[i], first),
                BLOCK.. => reflect_columns::<V, BLOCK>(n, above, u, d[i], first),
                _ => reflect_columns::<V, 1>(n, above, u, d[i], first),
            }
        }
        d[i] = row[i];
        row[..i].fill(V::zero());
        row[i] = V::one();
        for j in 0..i {
            above[j * n + i] = V::zero();
        }
    }
}

/// Applies `I - u u^T / h` to columns `first .. first + B` of the leading block; returns `B`.
#[inline(always)]
fn reflect_columns<V: Lanes, const B: usize>(
    n: usize,
    a: &mut [V],
    u: &[V],
    inverse_h: V,
    first: usize,
) -> usize {
    let size = u.len();
    let mut sum = [V::zero(); B];
    for k in 0..size {
        let row = &a[k * n + first..k * n + first + B];
        let factor = u[k];
        for b in 0..B {
            sum[b] = row[b].mul_add(factor, sum[b]);
        }
    }
    for b in 0..B {
        sum[b] = sum[b] * inverse_h;
    }
    for k in 0..size {
        let row = &mut a[k * n + first..k * n + first + B];
        let factor = u[k];
        for b in 0..B {
            row[b] = sum[b].neg_mul_add(factor, row[b]);
        }
    }
    B
}
