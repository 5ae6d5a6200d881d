//! Products of dense matrices, with lanes across the columns.

use super::Matrix;
use crate::Real;
use crate::simd::{Kernel, Lanes, Simd};

/// Rows computed together: enough sums to hide the latency of the multiply-add.
const ROWS: usize = 4;

/// Which factor stands on the left.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// `A`
    Plain,
    /// `A^T`
    Transposed,
}

/// `C = A B` or `C = A^T B` with row-major matrices: `C` is `rows x columns`, the sum runs over `inner`.
///
/// Every entry of `C` is one chain of multiply-adds in the order of the inner index, whatever the vectors' width.
pub(crate) fn multiply<T: Real>(
    simd: Simd,
    left: Left,
    (rows, inner, columns): (usize, usize, usize),
    a: &[T],
    b: &[T],
    c: &mut [T],
) {
    let (a, b, c) = (&a[..rows * inner], &b[..inner * columns], &mut c[..rows * columns]);
    match left {
        Left::Plain => simd.run(Multiply::<T, false> { rows, inner, columns, a, b, c }),
        Left::Transposed => simd.run(Multiply::<T, true> { rows, inner, columns, a, b, c }),
    }
}

struct Multiply<'a, T, const TRANSPOSED: bool> {
    rows: usize,
    inner: usize,
    columns: usize,
    a: &'a [T],
    b: &'a [T],
    c: &'a mut [T],
}

impl<T: Real, const TRANSPOSED: bool> Kernel<T> for Multiply<'_, T, TRANSPOSED> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(mut self) {
        let mut first = 0;
        while first < self.rows {
            if first + ROWS <= self.rows {
                self.row_block::<V, ROWS>(first);
                first += ROWS;
            } else {
                self.row_block::<V, 1>(first);
                first += 1;
            }
        }
    }
}

impl<T: Real, const TRANSPOSED: bool> Multiply<'_, T, TRANSPOSED> {
    /// Rows `first .. first + R` of the product.
    #[inline(always)]
    fn row_block<V: Lanes<Scalar = T>, const R: usize>(&mut self, first: usize) {
        let columns = self.columns;
        if columns < V::WIDTH {
            let sum = self.sums::<V, R>(first, V::load_partial);
            for r in 0..R {
                sum[r].store_partial(&mut self.c[(first + r) * columns..(first + r + 1) * columns]);
            }
            return;
        }
        let mut column = 0;
        while column < columns {
            // The last block may overlap the one before: the entries they share get the same value twice.
            let start = column.min(columns - V::WIDTH);
            let sum = self.sums::<V, R>(first, |row| V::load(&row[start..]));
            for r in 0..R {
                sum[r].store(&mut self.c[(first + r) * columns + start..]);
            }
            column += V::WIDTH;
        }
    }

    /// `sum_k a(first + r, k) b(k)` where `load` takes a vector of entries from row `k` of `B`.
    #[inline(always)]
    fn sums<V: Lanes<Scalar = T>, const R: usize>(&self, first: usize, load: impl Fn(&[T]) -> V) -> [V; R] {
        let mut sum = [V::zero(); R];
        let b = self.b.chunks_exact(self.columns);
        if TRANSPOSED {
            for (column, row) in self.a.chunks_exact(self.rows).zip(b) {
                let (factors, entries) = (&column[first..first + R], load(row));
                for r in 0..R {
                    sum[r] = V::splat(factors[r]).mul_add(entries, sum[r]);
                }
            }
        } else {
            let rows: [&[T]; R] = std::array::from_fn(|r| &self.a[(first + r) * self.inner..][..self.inner]);
            for (k, row) in b.enumerate().take(self.inner) {
                let entries = load(row);
                for r in 0..R {
                    sum[r] = V::splat(rows[r][k]).mul_add(entries, sum[r]);
                }
            }
        }
        sum
    }
}

impl<T: Real> Matrix<T> {
    /// `self * other`.
    ///
    /// # Panics
    /// If the inner dimensions differ.
    pub(crate) fn times(&self, simd: Simd, other: &Self) -> Self {
        assert_eq!(self.columns(), other.rows(), "inner dimensions differ");
        let mut out = Self::zeros(self.rows(), other.columns());
        let shape = (self.rows(), self.columns(), other.columns());
        multiply(simd, Left::Plain, shape, self.as_slice(), other.as_slice(), out.as_mut_slice());
        out
    }

    /// `self^T * other`.
    ///
    /// # Panics
    /// If the numbers of rows differ.
    pub(crate) fn transposed_times(&self, simd: Simd, other: &Self) -> Self {
        assert_eq!(self.rows(), other.rows(), "inner dimensions differ");
        let mut out = Self::zeros(self.columns(), other.columns());
        let shape = (self.columns(), self.rows(), other.columns());
        multiply(simd, Left::Transposed, shape, self.as_slice(), other.as_slice(), out.as_mut_slice());
        out
    }
}
