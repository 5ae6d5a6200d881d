//! Products of small square matrices, one matrix per lane of a hardware vector.

use crate::simd::{Lanes, Rows};

/// Replaces the symmetric `E` by the congruence `Q E Q^T`; `product` is scratch of the same size.
#[inline(always)]
pub(crate) fn congruence<P: Lanes>(n: usize, q: &[P], e: &mut [P], product: &mut [P]) {
    // E is its own transpose, so both factors are products of rows with rows.
    rows_times_rows(n, q, e, product, |_| n);
    symmetric_product(n, product, q, e);
}

/// Computes a symmetric `C = A B^T`: one triangle, then its mirror image.
#[inline(always)]
pub(crate) fn symmetric_product<P: Lanes>(n: usize, a: &[P], b: &[P], c: &mut [P]) {
    rows_times_rows(n, a, b, c, |last| last + 1);
    for i in 0..n {
        for j in 0..i {
            c[j * n + i] = c[i * n + j];
        }
    }
}

/// Computes `C = A B^T`. In rows up to number `last`, it computes at least the first
/// `columns(last)` columns. A tile holds as many sums as fit in the registers beside their factors.
/// Each loaded factor then serves several multiply-adds, which limit the speed (two per cycle).
#[inline(always)]
fn rows_times_rows<P: Lanes>(n: usize, a: &[P], b: &[P], c: &mut [P], columns: impl Fn(usize) -> usize) {
    if P::REGISTERS >= 32 {
        tiles::<P, 3, 6>(n, a, b, c, columns);
    } else {
        tiles::<P, 2, 4>(n, a, b, c, columns);
    }
}

/// Computes the same product in tiles of `R` rows and `C` columns. Tiles of one row or column fill
/// the rest.
#[inline(always)]
fn tiles<P: Lanes, const R: usize, const C: usize>(
    n: usize,
    a: &[P],
    b: &[P],
    c: &mut [P],
    columns: impl Fn(usize) -> usize,
) {
    let mut i = 0;
    while i < n {
        let rows = if i + R <= n { R } else { 1 };
        let (mut j, end) = (0, columns(i + rows - 1));
        while j < end {
            j += match (rows == R, j + C <= n) {
                (true, true) => tile::<P, R, C>(n, a, b, c, i, j),
                (true, false) => tile::<P, R, 1>(n, a, b, c, i, j),
                (false, true) => tile::<P, 1, C>(n, a, b, c, i, j),
                (false, false) => tile::<P, 1, 1>(n, a, b, c, i, j),
            };
        }
        i += rows;
    }
}

/// Computes the tile that starts at `(i, j)`. Returns its width.
#[inline(always)]
fn tile<P: Lanes, const R: usize, const C: usize>(
    n: usize,
    a: &[P],
    b: &[P],
    c: &mut [P],
    i: usize,
    j: usize,
) -> usize {
    let mut sum = [[P::zero(); C]; R];
    let (left, right) = (Rows::<P, R>::new(&a[i * n..], n, n), Rows::<P, C>::new(&b[j * n..], n, n));
    for k in 0..n {
        let (factors, others) = (left.column(k), right.column(k));
        for s in 0..C {
            for r in 0..R {
                sum[r][s] = factors[r].mul_add(others[s], sum[r][s]);
            }
        }
    }
    for r in 0..R {
        for s in 0..C {
            c[(i + r) * n + j + s] = sum[r][s];
        }
    }
    C
}
