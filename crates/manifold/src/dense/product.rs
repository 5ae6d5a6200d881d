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
    simd.run(Multiply { left, rows, inner, columns, a, b, c });
}

struct Multiply<'a, T> {
    left: Left,
    rows: usize,
    inner: usize,
    columns: usize,
    a: &'a [T],
    b: &'a [T],
    c: &'a mut [T],
}

impl<T: Real> Kernel<T> for Multiply<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(self) {
        let Self { left, rows, inner, columns, a, b, c } = self;
        let (row_step, inner_step) = if left == Left::Plain { (inner, 1) } else { (1, rows) };
        let a = &a[..rows * inner];
        let b = &b[..inner * columns];
        let c = &mut c[..rows * columns];
        for first in (0..rows).step_by(ROWS) {
            let height = ROWS.min(rows - first);
            let mut column = 0;
            while column < columns {
                let width = V::WIDTH.min(columns - column);
                let mut sum = [V::zero(); ROWS];
                for k in 0..inner {
                    let place = k * columns + column;
                    let entries = if width == V::WIDTH {
                        V::load(&b[place..])
                    } else {
                        V::load_partial(&b[place..place + width])
                    };
                    for r in 0..height {
                        let factor = V::splat(a[(first + r) * row_step + k * inner_step]);
                        sum[r] = factor.mul_add(entries, sum[r]);
                    }
                }
                for r in 0..height {
                    let place = (first + r) * columns + column;
                    if width == V::WIDTH {
                        sum[r].store(&mut c[place..]);
                    } else {
                        sum[r].store_partial(&mut c[place..place + width]);
                    }
                }
                column += width;
            }
        }
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
