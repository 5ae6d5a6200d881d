//! Reduction of a symmetric matrix to tridiagonal form, one matrix per lane.

use super::chunk::Wanted;
use crate::simd::{Lanes, elementary::constant};
use crate::{Real, tolerance};

/// Number of columns processed together: enough independent sums to hide the latency of the
/// multiply-add.
const BLOCK: usize = 4;
/// The same for machines with more registers.
const WIDE_BLOCK: usize = 8;

/// Largest size for which a hardware vector of matrices fits in the first-level cache.
const LARGEST_IN_CACHE: usize = 24;

/// Computes the Householder reduction `A = Z T Z^T` of matrices whose largest entry lies in
/// `[1, 2)` in magnitude.
///
/// On entry the lower triangle of `z` holds `A`. On exit `z` holds the orthogonal `Z` (if
/// requested), `d` the diagonal of `T` and `e[i]` its entry `(i, i + 1)`; `e[n - 1]` is zero.
/// `scratch` must hold `n + n^2` vectors.
///
/// Rows are eliminated from the last to the second, as in Martin, Reinsch and Wilkinson,
/// "Householder's tridiagonalization of a symmetric matrix", Numer. Math. 11 (1968). The reflection
/// `H = I - u u^T / h`, `h = u^T u / 2`, maps row `i` to its last entry. The leading block becomes
/// `A - u q^T - q u^T` with `p = A u / h`, `q = p - (u^T p / 2h) u`.
#[inline(always)]
pub(super) fn tridiagonalise<V: Lanes>(
    n: usize,
    z: &mut [V],
    d: &mut [V],
    e: &mut [V],
    scratch: &mut [V],
    wanted: Wanted,
) {
    let (p, scratch) = scratch.split_at_mut(n);
    // During the reduction, `d[i]` holds 1/h of the reflection of row i (zero for a skipped step).
    d[0] = V::zero();
    for i in (1..n).rev() {
        let (above, row) = z.split_at_mut(i * n);
        let u = &mut row[..i];
        if i == 1 {
            e[0] = u[0];
            d[1] = V::zero();
            break;
        }
        let Reflection { e: beside, first, inverse_h, skip } = Reflection::of(u[i - 1], dot(u, u));
        e[i - 1] = beside;
        d[i] = inverse_h;
        u[i - 1] = first;
        if V::any(skip) {
            for entry in &mut *u {
                *entry = V::select(skip, V::zero(), *entry);
            }
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
        Wanted::Everything if n > LARGEST_IN_CACHE => accumulate_in_panels(n, z, d, &mut scratch[..n * n]),
        Wanted::Everything => accumulate(n, z, d),
        Wanted::Values => (0..n).for_each(|i| d[i] = z[i * n + i]),
    }
    e[n - 1] = V::zero();
}

/// Parameters of the reflection of a row.
pub(super) struct Reflection<V: Lanes> {
    /// The entry of `T` beside the diagonal.
    pub(super) e: V,
    /// The last entry of `u`; the others are those of the row.
    pub(super) first: V,
    /// `1/h`; zero where there is nothing to reflect.
    pub(super) inverse_h: V,
    /// Lanes with nothing to reflect; `u` is zero there.
    pub(super) skip: V::Mask,
}

impl<V: Lanes> Reflection<V> {
    /// Returns the reflection of a row with the given last entry and squared norm.
    #[inline(always)]
    pub(super) fn of(last: V, norm_squared: V) -> Self {
        let negligible = V::Scalar::from_f64(tolerance::NEGLIGIBLE_COLUMN) * V::Scalar::EPSILON;
        let skip = norm_squared.lt(V::splat(negligible * negligible));
        let g = -norm_squared.sqrt().copysign(last);
        let h = V::select(skip, V::one(), last.neg_mul_add(g, norm_squared));
        let inverse_h = V::select(skip, V::zero(), V::one() / h);
        Self { e: V::select(skip, last, g), first: last - g, inverse_h, skip }
    }
}

/// Computes `u^T v` in two interleaved sums.
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

/// Computes `p = A u` for the symmetric `A` with its lower triangle in `a` (rows of length `n`).
#[inline(always)]
fn multiply_lower<V: Lanes>(n: usize, a: &[V], u: &[V], p: &mut [V]) {
    let size = u.len();
    let p = &mut p[..size];
    let mut first = 0;
    while first < size {
        first += match size - first {
            WIDE_BLOCK.. if V::REGISTERS >= 32 => multiply_lower_block::<V, WIDE_BLOCK>(n, a, u, p, first),
            BLOCK.. => multiply_lower_block::<V, BLOCK>(n, a, u, p, first),
            _ => multiply_lower_block::<V, 1>(n, a, u, p, first),
        };
    }
}

/// Computes entries `first .. first + B` of `A u`. Returns `B`.
#[inline(always)]
fn multiply_lower_block<V: Lanes, const B: usize>(
    n: usize,
    a: &[V],
    u: &[V],
    p: &mut [V],
    first: usize,
) -> usize {
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
    B
}

/// Computes `A - u q^T - q u^T` on the lower triangle.
#[inline(always)]
fn subtract_rank_two<V: Lanes>(n: usize, a: &mut [V], u: &[V], q: &[V]) {
    let size = u.len();
    let q = &q[..size];
    for j in 0..size {
        let (uj, qj) = (u[j], q[j]);
        for ((entry, &uk), &qk) in a[j * n..=j * n + j].iter_mut().zip(&u[..=j]).zip(&q[..=j]) {
            *entry = uj.neg_mul_add(qk, qj.neg_mul_add(uk, *entry));
        }
    }
}

/// Multiplies the reflections out as [`accumulate`] does, a few columns at a time. These columns
/// stay in the first-level cache for all reflections.
#[inline(always)]
fn accumulate_in_panels<V: Lanes>(n: usize, z: &mut [V], d: &mut [V], out: &mut [V]) {
    let mut first = 0;
    while first < n {
        let panel = &mut out[first * n..];
        first += match n - first {
            BLOCK.. => reflect_panel::<V, BLOCK>(n, z, d, first, panel),
            _ => reflect_panel::<V, 1>(n, z, d, first, panel),
        };
    }
    for i in 0..n {
        d[i] = z[i * n + i];
    }
    first = 0;
    while first < n {
        let width = if n - first >= BLOCK { BLOCK } else { 1 };
        for (k, row) in out[first * n..(first + width) * n].chunks_exact(width).enumerate() {
            z[k * n + first..k * n + first + width].copy_from_slice(row);
        }
        first += width;
    }
}

/// Computes columns `first .. first + B` of the product of all reflections, row by row. Returns
/// `B`. Each entry is loaded once for the end of one reflection and the start of the next.
#[inline(always)]
fn reflect_panel<V: Lanes, const B: usize>(
    n: usize,
    z: &[V],
    d: &[V],
    first: usize,
    panel: &mut [V],
) -> usize {
    let panel = &mut panel[..n * B];
    panel.fill(V::zero());
    for b in 0..B {
        panel[(first + b) * B + b] = V::one();
    }
    let mut sum = [V::zero(); B];
    if first + 1 < n {
        // Of the rows above reflection `first + 1`, only the last has an entry in the panel: a one
        // in its first column.
        sum[0] = z[(first + 1) * n + first];
    }
    for i in first + 1..n {
        for b in 0..B {
            sum[b] = sum[b] * d[i];
        }
        let (above, own) = panel.split_at_mut(i * B);
        let rows = above.chunks_exact_mut(B).zip(&z[i * n..i * n + i]);
        if i + 1 == n {
            for (row, &factor) in rows {
                for b in 0..B {
                    row[b] = sum[b].neg_mul_add(factor, row[b]);
                }
            }
            break;
        }
        let next = &z[(i + 1) * n..=(i + 1) * n + i];
        let mut next_sum = [V::zero(); B];
        for ((row, &factor), &next) in rows.zip(next) {
            for b in 0..B {
                row[b] = sum[b].neg_mul_add(factor, row[b]);
                next_sum[b] = row[b].mul_add(next, next_sum[b]);
            }
        }
        for b in 0..B {
            sum[b] = own[b].mul_add(next[i], next_sum[b]);
        }
    }
    B
}

/// Multiplies the reflections out in place. Row `i` of `z` holds the vector `u` of reflection `i`
/// until it is applied. The diagonal of `T` moves from `z` to `d`.
#[inline(always)]
fn accumulate<V: Lanes>(n: usize, z: &mut [V], d: &mut [V]) {
    for i in 0..n {
        let (above, row) = z.split_at_mut(i * n);
        let u = &row[..i];
        let mut first = 0;
        while first < i {
            first += match i - first {
                WIDE_BLOCK.. if V::REGISTERS >= 32 => {
                    reflect_columns::<V, WIDE_BLOCK>(n, above, u, d[i], first)
                }
                BLOCK.. => reflect_columns::<V, BLOCK>(n, above, u, d[i], first),
                _ => reflect_columns::<V, 1>(n, above, u, d[i], first),
            };
        }
        d[i] = row[i];
        row[..i].fill(V::zero());
        row[i] = V::one();
        for j in 0..i {
            above[j * n + i] = V::zero();
        }
    }
}

/// Applies `I - u u^T / h` to columns `first .. first + B` of the leading block. Returns `B`.
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
