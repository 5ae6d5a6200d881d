//! Vectorisation of symmetric matrices, and its adjoints.

use serde::{Deserialize, Serialize};

use crate::error::check_length;
use crate::{Error, Real, tolerance};

/// Vectorisation of a symmetric `n x n` matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Vectorisation {
    /// All `n^2` entries, row by row. The paper's parameter counts imply this one.
    Vec,
    /// The lower triangle, row by row: `n (n + 1)/2` entries. The paper's text defines this one.
    Vech,
    /// The lower triangle with off-diagonal entries times `sqrt 2`. It is an isometry:
    /// `<v(A), v(B)> = tr(A B)`.
    IsometricVech,
}

impl Vectorisation {
    /// Returns the length of the vector.
    pub fn length(self, n: usize) -> usize {
        match self {
            Self::Vec => n * n,
            Self::Vech | Self::IsometricVech => n * (n + 1) / 2,
        }
    }

    /// Returns the factor of the off-diagonal entries of the triangle.
    pub fn off_diagonal<T: Real>(self) -> T {
        T::from_f64(if self == Self::IsometricVech { std::f64::consts::SQRT_2 } else { 1.0 })
    }

    /// Writes the vector of a symmetric matrix.
    ///
    /// # Errors
    /// [`Error::Zero`] for `n = 0`, [`Error::Length`] if a slice does not fit.
    pub fn apply<T: Real>(self, n: usize, matrix: &[T], vector: &mut [T]) -> Result<(), Error> {
        check_size(n)?;
        check_length("the matrix", matrix.len(), n * n)?;
        check_length("the vector", vector.len(), self.length(n))?;
        if self == Self::Vec {
            vector.copy_from_slice(matrix);
            return Ok(());
        }
        let factor = self.off_diagonal::<T>();
        let mut places = vector.iter_mut();
        for i in 0..n {
            for (j, place) in (0..=i).zip(&mut places) {
                *place = if i == j { matrix[i * n + i] } else { factor * matrix[i * n + j] };
            }
        }
        Ok(())
    }

    /// Applies the adjoint. It maps the gradient `g` with respect to the vector to the symmetric
    /// gradient `G` with respect to the matrix: `<v(S), g> = tr(S G)` for every symmetric `S`. An
    /// off-diagonal entry of `vech` represents two entries of the matrix, so each gets half of its
    /// gradient.
    ///
    /// # Errors
    /// [`Error::Zero`] for `n = 0`, [`Error::Length`] if a slice does not fit.
    pub fn adjoint<T: Real>(self, n: usize, gradient: &[T], matrix: &mut [T]) -> Result<(), Error> {
        check_size(n)?;
        check_length("the gradient", gradient.len(), self.length(n))?;
        check_length("the matrix", matrix.len(), n * n)?;
        if self == Self::Vec {
            for i in 0..n {
                for j in 0..n {
                    matrix[i * n + j] = (gradient[i * n + j] + gradient[j * n + i]) * T::HALF;
                }
            }
            return Ok(());
        }
        let share = self.off_diagonal::<T>() * T::HALF;
        let mut entries = gradient.iter();
        for i in 0..n {
            for (j, &entry) in (0..=i).zip(&mut entries) {
                let value = if i == j { entry } else { share * entry };
                matrix[i * n + j] = value;
                matrix[j * n + i] = value;
            }
        }
        Ok(())
    }
}

fn check_size(n: usize) -> Result<(), Error> {
    let what = "the size of the matrix";
    match n {
        0 => Err(Error::Zero { what }),
        n if n > tolerance::LARGEST_MATRIX => {
            Err(Error::OutOfRange { what, value: n as f64, expected: "at most 16384" })
        }
        _ => Ok(()),
    }
}
