//! A dense matrix.

use crate::error::check_length;
use crate::{Error, Real};

/// A dense row-major matrix that owns its entries.
///
/// The hot paths of this crate use slices and caller-owned scratch. `Matrix` is for results that
/// are computed once (averages, geodesics, logarithms).
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix<T> {
    rows: usize,
    columns: usize,
    entries: Vec<T>,
}

impl<T: Real> Matrix<T> {
    /// Creates a matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows, columns, entries: vec![T::ZERO; rows * columns] }
    }

    /// Creates the identity.
    pub fn identity(n: usize) -> Self {
        Self::from_fn(n, n, |i, j| if i == j { T::ONE } else { T::ZERO })
    }

    /// Creates the matrix with the entries `f(i, j)`.
    pub fn from_fn(rows: usize, columns: usize, mut f: impl FnMut(usize, usize) -> T) -> Self {
        let entries = (0..rows * columns).map(|i| f(i / columns, i % columns)).collect();
        Self { rows, columns, entries }
    }

    /// Creates a matrix from its entries, row by row.
    ///
    /// # Errors
    /// [`Error::Length`] if the number of entries is not `rows * columns`.
    pub fn from_rows(rows: usize, columns: usize, entries: Vec<T>) -> Result<Self, Error> {
        check_length("the matrix", entries.len(), rows.saturating_mul(columns))?;
        Ok(Self { rows, columns, entries })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the entries, row by row.
    pub fn as_slice(&self) -> &[T] {
        &self.entries
    }

    /// Returns the mutable entries, row by row.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.entries
    }

    /// Returns the transpose.
    #[must_use]
    pub fn transpose(&self) -> Self {
        Self::from_fn(self.columns, self.rows, |i, j| self[(j, i)])
    }

    /// Applies `f` to every entry.
    #[must_use]
    pub fn map(&self, f: impl Fn(T) -> T) -> Self {
        Self { entries: self.entries.iter().map(|&x| f(x)).collect(), ..*self }
    }

    /// Applies `f(a, b)` to the pairs of entries of two matrices of the same shape.
    ///
    /// # Panics
    /// If the shapes differ.
    #[must_use]
    pub fn zip(&self, other: &Self, f: impl Fn(T, T) -> T) -> Self {
        assert_eq!((self.rows, self.columns), (other.rows, other.columns), "shapes differ");
        let entries = self.entries.iter().zip(&other.entries).map(|(&a, &b)| f(a, b)).collect();
        Self { entries, ..*self }
    }

    /// Converts the entries to the floating-point type `U`.
    #[must_use]
    pub fn cast<U: Real>(&self) -> Matrix<U> {
        let entries = self.entries.iter().map(|x| U::from_f64(x.to_f64())).collect();
        Matrix { rows: self.rows, columns: self.columns, entries }
    }

    /// Returns the Frobenius norm.
    pub fn norm(&self) -> T {
        frobenius_norm(&self.entries)
    }
}

impl<T> std::ops::Index<(usize, usize)> for Matrix<T> {
    type Output = T;
    fn index(&self, (i, j): (usize, usize)) -> &T {
        &self.entries[i * self.columns + j]
    }
}

impl<T> std::ops::IndexMut<(usize, usize)> for Matrix<T> {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut T {
        &mut self.entries[i * self.columns + j]
    }
}

/// Returns the Frobenius norm of the entries, without overflow or underflow of the squares.
pub(crate) fn frobenius_norm<T: Real>(entries: &[T]) -> T {
    let largest =
        entries.iter().fold(T::ZERO, |largest, x| if x.abs() > largest { x.abs() } else { largest });
    if largest == T::ZERO || !largest.is_finite() {
        // Either all entries are zero or NaN, or the norm is infinite. The sum keeps NaN from
        // passing for zero.
        return largest + entries.iter().copied().sum::<T>().abs();
    }
    let sum: T = entries.iter().map(|&x| (x / largest) * (x / largest)).sum();
    largest * sum.sqrt()
}
