//! Reduction and rotation of a single symmetric matrix, with lanes along its rows.
//!
//! This module reduces the matrix and rotates its eigenvectors. The QL iteration between them is
//! one long chain of dependent operations, so lanes do not help it. Every entry gets the same
//! operations as in lanes, in the same order, so the bits are the same.
//!
//! Matrices are padded: a row has `stride` entries, a multiple of the vector width.

use super::tridiagonal::Reflection;
use crate::Real;
use crate::simd::{Array, Lanes};

/// Reduces a full symmetric matrix by Householder reflections, as in [`super::tridiagonal`]. On
/// exit, row `i` holds the vector `u` of reflection `i` left of the diagonal, and the diagonal
/// holds that of `T`. `inverse_h[i]` is `1/h` of reflection `i`, and `e[i]` is the entry
/// `(i, i + 1)` of `T`. `indices` holds the numbers from 0, and `q` is scratch; both are as long as
/// a row.
#[inline(always)]
pub(super) fn tridiagonalise<P: Lanes>(
    n: usize,
    stride: usize,
    a: &mut [P::Scalar],
    inverse_h: &mut [P::Scalar],
    e: &mut [P::Scalar],
    indices: &[P::Scalar],
    q: &mut [P::Scalar],
) {
    let zero = P::Scalar::ZERO;
    inverse_h[0] = zero;
    e[n - 1] = zero;
    for i in (1..n).rev() {
        let (above, row) = a.split_at_mut(i * stride);
        if i == 1 {
            e[0] = row[0];
            inverse_h[1] = zero;
            break;
        }
        let norm_squared = dot(&row[..i], &row[..i]);
        let Reflection { e: Array([beside]), first: Array([first]), inverse_h: Array([inverse]), skip } =
            Reflection::of(Array([row[i - 1]]), Array([norm_squared]));
        e[i - 1] = beside;
        inverse_h[i] = inverse;
        row[i - 1] = first;
        if Array::<P::Scalar, 1>::any(skip) {
            row[..i].fill(zero);
        }
        // Clear the entries of A right of the vector. They are no longer needed and must not enter
        // the products.
        row[i + 1..stride].fill(zero);
        let diagonal = std::mem::replace(&mut row[i], zero);
        let u = &row[..stride];
        multiply_rows::<P>(i, stride, above, u, q);
        let half_curvature = dot(&u[..i], &q[..i]) * inverse * inverse * P::Scalar::HALF;
        for (q, &u) in q[..i].iter_mut().zip(u) {
            *q = (-half_curvature).mul_add(u, *q * inverse);
        }
        q[i..].fill(zero);
        subtract_rank_two::<P>(i, stride, above, u, q, indices);
        row[i] = diagonal;
    }
}

/// Computes `u^T v` in two interleaved sums, as the reduction in lanes does.
#[inline(always)]
fn dot<T: Real>(u: &[T], v: &[T]) -> T {
    let (mut even, mut odd) = (T::ZERO, T::ZERO);
    for (u, v) in u.chunks_exact(2).zip(v.chunks_exact(2)) {
        even = u[0].mul_add(v[0], even);
        odd = u[1].mul_add(v[1], odd);
    }
    if let ([.., u], [.., v], true) = (u, v, u.len() % 2 == 1) {
        even = u.mul_add(*v, even);
    }
    even + odd
}

/// Computes `out = u^T A` for the first `size` rows and columns. It rounds the number of columns up
/// to whole vectors.
#[inline(always)]
fn multiply_rows<P: Lanes>(
    size: usize,
    stride: usize,
    a: &[P::Scalar],
    u: &[P::Scalar],
    out: &mut [P::Scalar],
) {
    let columns = size.next_multiple_of(P::WIDTH);
    let mut first = 0;
    while first < columns {
        first += match (columns - first) / P::WIDTH {
            8.. => multiply_panel::<P, 8>(size, stride, a, u, out, first),
            4.. => multiply_panel::<P, 4>(size, stride, a, u, out, first),
            2.. => multiply_panel::<P, 2>(size, stride, a, u, out, first),
            _ => multiply_panel::<P, 1>(size, stride, a, u, out, first),
        };
    }
}

/// Computes `N` vectors of columns of `u^T A`. Returns their number of columns.
#[inline(always)]
fn multiply_panel<P: Lanes, const N: usize>(
    size: usize,
    stride: usize,
    a: &[P::Scalar],
    u: &[P::Scalar],
    out: &mut [P::Scalar],
    first: usize,
) -> usize {
    let mut sum = [P::zero(); N];
    for (row, &factor) in a.chunks_exact(stride).zip(&u[..size]) {
        let (row, factor) = (&row[first..first + N * P::WIDTH], P::splat(factor));
        for v in 0..N {
            sum[v] = P::load(&row[v * P::WIDTH..]).mul_add(factor, sum[v]);
        }
    }
    for v in 0..N {
        sum[v].store(&mut out[first + v * P::WIDTH..]);
    }
    N * P::WIDTH
}

/// Computes `A - u q^T - q u^T` on both triangles of the first `size` rows. An entry above the
/// diagonal gets the bits of its mirror image.
#[inline(always)]
fn subtract_rank_two<P: Lanes>(
    size: usize,
    stride: usize,
    a: &mut [P::Scalar],
    u: &[P::Scalar],
    q: &[P::Scalar],
    indices: &[P::Scalar],
) {
    let mut first = 0;
    while first < size {
        first += match size - first {
            4.. => subtract_from_rows::<P, 4>(size, stride, a, u, q, indices, first),
            _ => subtract_from_rows::<P, 1>(size, stride, a, u, q, indices, first),
        };
    }
}

/// Computes `R` rows of the update. Returns `R`.
#[inline(always)]
fn subtract_from_rows<P: Lanes, const R: usize>(
    size: usize,
    stride: usize,
    a: &mut [P::Scalar],
    u: &[P::Scalar],
    q: &[P::Scalar],
    indices: &[P::Scalar],
    first: usize,
) -> usize {
    let rows = &mut a[first * stride..(first + R) * stride];
    let (mut of_u, mut of_q) = ([P::zero(); R], [P::zero(); R]);
    for r in 0..R {
        (of_u[r], of_q[r]) = (P::splat(u[first + r]), P::splat(q[first + r]));
    }
    let columns = size.next_multiple_of(P::WIDTH);
    for column in (0..columns).step_by(P::WIDTH) {
        let (u, q) = (P::load(&u[column..]), P::load(&q[column..]));
        for r in 0..R {
            let place = r * stride + column;
            let entry = P::load(&rows[place..]);
            let left = |entry: P| of_u[r].neg_mul_add(q, of_q[r].neg_mul_add(u, entry));
            let right = |entry: P| u.neg_mul_add(of_q[r], q.neg_mul_add(of_u[r], entry));
            let new = if column + P::WIDTH <= first {
                left(entry)
            } else if column >= first + R {
                right(entry)
            } else {
                let diagonal = P::splat(P::Scalar::from_f64((first + r) as f64));
                P::select(P::load(&indices[column..]).le(diagonal), left(entry), right(entry))
            };
            new.store(&mut rows[place..]);
        }
    }
    R
}

/// Column vectors of the orthogonal matrix that are multiplied out together. The number of sums
/// hides the latency of the multiply-add and fits in sixteen registers.
const PANEL: usize = 4;

/// Multiplies the reflections out: `z` becomes the orthogonal `Z` of `A = Z T Z^T`.
#[inline(always)]
pub(super) fn accumulate<P: Lanes>(
    n: usize,
    stride: usize,
    reflections: &[P::Scalar],
    inverse_h: &[P::Scalar],
    z: &mut [P::Scalar],
) {
    let mut first = 0;
    while first < stride {
        first += match (stride - first) / P::WIDTH {
            PANEL.. => accumulate_panel::<P, PANEL>(n, stride, reflections, inverse_h, z, first),
            _ => accumulate_panel::<P, 1>(n, stride, reflections, inverse_h, z, first),
        };
    }
}

/// Computes `N` vectors of columns of `Z`. Returns their number of columns. It applies all
/// reflections one after the other. Each entry is loaded once for the end of one reflection and the
/// start of the next. The stores therefore limit the speed: one per cycle.
#[inline(always)]
fn accumulate_panel<P: Lanes, const N: usize>(
    n: usize,
    stride: usize,
    reflections: &[P::Scalar],
    inverse_h: &[P::Scalar],
    z: &mut [P::Scalar],
    first: usize,
) -> usize {
    let width = N * P::WIDTH;
    for (i, row) in z[..n * stride].chunks_exact_mut(stride).enumerate() {
        row[first..first + width].fill(P::Scalar::ZERO);
        if (first..first + width).contains(&i) {
            row[i] = P::Scalar::ONE;
        }
    }
    // Reflections up to number `first` touch no column of this panel.
    let mut sum = [P::zero(); N];
    if first + 1 < n {
        // Of the rows above reflection `first + 1`, only the last has an entry in the panel: a one
        // in its first column.
        let mut entries = [P::Scalar::ZERO; crate::simd::MAX_WIDTH];
        entries[0] = reflections[(first + 1) * stride + first];
        sum[0] = P::load(&entries);
    }
    for i in first + 1..n {
        for v in 0..N {
            sum[v] = sum[v] * P::splat(inverse_h[i]);
        }
        let u = &reflections[i * stride..i * stride + i];
        let mut next_sum = [P::zero(); N];
        let rows = z.chunks_exact_mut(stride).zip(u);
        if i + 1 == n {
            for (row, &factor) in rows {
                let (row, factor) = (&mut row[first..first + width], P::splat(factor));
                for v in 0..N {
                    let entry = P::load(&row[v * P::WIDTH..]);
                    sum[v].neg_mul_add(factor, entry).store(&mut row[v * P::WIDTH..]);
                }
            }
            break;
        }
        let next = &reflections[(i + 1) * stride..=(i + 1) * stride + i];
        for ((row, &factor), &next) in rows.zip(next) {
            let (row, factor, next) = (&mut row[first..first + width], P::splat(factor), P::splat(next));
            for v in 0..N {
                let entry = sum[v].neg_mul_add(factor, P::load(&row[v * P::WIDTH..]));
                entry.store(&mut row[v * P::WIDTH..]);
                next_sum[v] = entry.mul_add(next, next_sum[v]);
            }
        }
        let (own, next) = (&z[i * stride + first..i * stride + first + width], P::splat(next[i]));
        for v in 0..N {
            sum[v] = P::load(&own[v * P::WIDTH..]).mul_add(next, next_sum[v]);
        }
    }
    width
}

/// Rotations of one sweep for one matrix.
pub(super) struct Sweep<'a, T> {
    /// Cosines of the rotations of columns `i` and `i + 1` of the eigenvectors, at index `i`.
    pub(super) cosines: &'a [T],
    pub(super) sines: &'a [T],
    /// The rotations of the sweep: `start .. end`.
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Applies a sweep to the transposed eigenvectors, one per row.
#[inline(always)]
pub(super) fn rotate<P: Lanes>(stride: usize, transposed: &mut [P::Scalar], sweep: &Sweep<'_, P::Scalar>) {
    let mut first = 0;
    while first < stride {
        first += match (stride - first) / P::WIDTH {
            8.. if P::REGISTERS >= 32 => rotate_panel::<P, 8>(stride, transposed, sweep, first),
            4.. => rotate_panel::<P, 4>(stride, transposed, sweep, first),
            3 => rotate_panel::<P, 3>(stride, transposed, sweep, first),
            _ => rotate_panel::<P, 1>(stride, transposed, sweep, first),
        };
    }
}

/// Rotates `N` vectors of entries of all eigenvectors. Returns their number of entries. Registers
/// carry the entries that two successive rotations share. The four operations per entry limit the
/// speed: two per cycle.
#[inline(always)]
fn rotate_panel<P: Lanes, const N: usize>(
    stride: usize,
    transposed: &mut [P::Scalar],
    sweep: &Sweep<'_, P::Scalar>,
    first: usize,
) -> usize {
    let (start, end, width) = (sweep.start, sweep.end, N * P::WIDTH);
    let rows = &mut transposed[start * stride..(end + 1) * stride];
    let (rows, last) = rows.split_at_mut((end - start) * stride);
    let mut target = &mut last[first..first + width];
    let mut carried = [P::zero(); N];
    for v in 0..N {
        carried[v] = P::load(&target[v * P::WIDTH..]);
    }
    let rotations = sweep.cosines[start..end].iter().zip(&sweep.sines[start..end]);
    for ((&c, &s), row) in rotations.zip(rows.chunks_exact_mut(stride)).rev() {
        let row = &mut row[first..first + width];
        let (c, s) = (P::splat(c), P::splat(s));
        for v in 0..N {
            let entry = P::load(&row[v * P::WIDTH..]);
            s.mul_add(entry, c * carried[v]).store(&mut target[v * P::WIDTH..]);
            carried[v] = c.mul_add(entry, -(s * carried[v]));
        }
        target = row;
    }
    for v in 0..N {
        carried[v].store(&mut target[v * P::WIDTH..]);
    }
    width
}
