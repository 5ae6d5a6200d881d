//! Products of small square matrices, one matrix per lane.

use crate::simd::Lanes;

/// Rows and columns computed together: as many sums as registers hold for a pair of vectors.
const BLOCK: usize = 2;

/// Replaces the symmetric `E` by the congruence `Q E Q^T`; `product` is scratch of the same size.
#[inline(always)]
pub(crate) fn congruence<V: Lanes>(n: usize, q: &[V], e: &mut [V], product: &mut [V]) {
    // E is its own transpose, so both factors are products of rows with rows.
    for i in (0..n).step_by(BLOCK) {
        for j in (0..n).step_by(BLOCK) {
            rows_times_rows(n, q, e, product, i, j);
        }
    }
    symmetric_product(n, product, q, e);
}

/// `C = A B^T` for a product that is symmetric: one triangle is computed and mirrored.
#[inline(always)]
pub(crate) fn symmetric_product<V: Lanes>(n: usize, a: &[V], b: &[V], c: &mut [V]) {
    for i in (0..n).step_by(BLOCK) {
        for j in (0..=i).step_by(BLOCK) {
            rows_times_rows(n, a, b, c, i, j);
        }
    }
    for i in 0..n {
        for j in 0..i {
            c[j * n + i] = c[i * n + j];
        }
    }
}

/// The block of `A B^T` that starts at `(i, j)`, up to [`BLOCK`] wide and high.
#[inline(always)]
fn rows_times_rows<V: Lanes>(n: usize, a: &[V], b: &[V], c: &mut [V], i: usize, j: usize) {
    if i + BLOCK <= n && j + BLOCK <= n {
        block_of_rows::<V, BLOCK>(n, a, b, c, i, j);
    } else {
        for i in i..n.min(i + BLOCK) {
            for j in j..n.min(j + BLOCK) {
                block_of_rows::<V, 1>(n, a, b, c, i, j);
            }
        }
    }
}

#[inline(always)]
fn block_of_rows<V: Lanes, const B: usize>(n: usize, a: &[V], b: &[V], c: &mut [V], i: usize, j: usize) {
    let mut sum = [[V::zero(); B]; B];
    let left: [&[V]; B] = std::array::from_fn(|r| &a[(i + r) * n..(i + r + 1) * n]);
    let right: [&[V]; B] = std::array::from_fn(|s| &b[(j + s) * n..(j + s + 1) * n]);
    for k in 0..n {
        for r in 0..B {
            for s in 0..B {
                sum[r][s] = left[r][k].mul_add(right[s][k], sum[r][s]);
            }
        }
    }
    for r in 0..B {
        for s in 0..B {
            c[(i + r) * n + j + s] = sum[r][s];
        }
    }
}
