//! Linear systems and inverses by Gaussian elimination.

use crate::Real;
use crate::simd::{Kernel, Lanes, Simd};

/// Replaces `b` (`n x columns`) by the solution of `A X = B`, with partial pivoting. Overwrites
/// `a`.
///
/// Returns whether `A` is invertible.
#[must_use]
pub(crate) fn solve<T: Real>(simd: Simd, n: usize, a: &mut [T], columns: usize, b: &mut [T]) -> bool {
    simd.run(Solve { n, a, columns, b })
}

/// Returns `A^-1`, or `None` if a pivot vanishes. Overwrites `a`.
pub(crate) fn inverse<T: Real>(simd: Simd, n: usize, a: &mut [T]) -> Option<Vec<T>> {
    let mut out = vec![T::ZERO; n * n];
    for i in 0..n {
        out[i * n + i] = T::ONE;
    }
    solve(simd, n, a, n, &mut out).then_some(out)
}

struct Solve<'a, T> {
    n: usize,
    a: &'a mut [T],
    columns: usize,
    b: &'a mut [T],
}

impl<T: Real> Kernel<T> for Solve<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(self) -> bool {
        let Self { n, a, columns, b } = self;
        for pivot in 0..n {
            let mut best = pivot;
            for row in pivot + 1..n {
                if a[row * n + pivot].abs() > a[best * n + pivot].abs() {
                    best = row;
                }
            }
            let value = a[best * n + pivot];
            if value == T::ZERO || !value.is_finite() {
                return false;
            }
            swap_rows(n, a, pivot, best);
            swap_rows(columns, b, pivot, best);
            for row in (0..n).filter(|&row| row != pivot) {
                let factor = -(a[row * n + pivot] / value);
                add_row(n, a, pivot, row, factor);
                add_row(columns, b, pivot, row, factor);
            }
        }
        for row in 0..n {
            let pivot = a[row * n + row];
            for entry in &mut b[row * columns..(row + 1) * columns] {
                *entry /= pivot;
            }
        }
        true
    }
}

#[inline(always)]
fn swap_rows<T>(columns: usize, a: &mut [T], i: usize, j: usize) {
    for column in 0..columns {
        a.swap(i * columns + column, j * columns + column);
    }
}

/// Adds `factor` times row `from` to row `to`.
#[inline(always)]
fn add_row<T: Real>(columns: usize, a: &mut [T], from: usize, to: usize, factor: T) {
    for column in 0..columns {
        a[to * columns + column] = factor.mul_add(a[from * columns + column], a[to * columns + column]);
    }
}
