//! The Stiefel manifold: tangent spaces, lifting, transport, feasibility.

use crate::dense::{Left, frobenius_norm, multiply};
use crate::error::check_length;
use crate::finite::check_finite;
use crate::simd::Simd;
use crate::{Error, Matrix, Real, tolerance};

/// The Stiefel manifold `St(p, k)` with scratch memory for its operations.
///
/// Points and tangent vectors are row-major `p x k` slices. Operations that write to a slice
/// allocate nothing after construction.
///
/// ```
/// # fn main() -> Result<(), fedspd_manifold::Error> {
/// use fedspd_manifold::Stiefel;
///
/// // The unit circle is St(2, 1); the tangent at (1, 0) points up.
/// let mut circle = Stiefel::<f64>::new(2, 1)?;
/// let mut tangent = [0.0; 2];
/// circle.project(&[1.0, 0.0], &[3.0, 4.0], &mut tangent)?;
/// assert_eq!(tangent, [0.0, 4.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Stiefel<T: Real> {
    pub(super) p: usize,
    pub(super) k: usize,
    pub(super) simd: Simd,
    small: Vec<T>,
    tall: Vec<T>,
}

impl<T: Real> Stiefel<T> {
    /// Creates the manifold of `p x k` matrices with orthonormal columns on the instruction set of
    /// [`Simd::detect`].
    ///
    /// # Errors
    /// [`Error::Zero`], [`Error::MoreColumnsThanRows`] for impossible shapes,
    /// [`Error::SimdUnavailable`].
    pub fn new(p: usize, k: usize) -> Result<Self, Error> {
        Self::with_simd(p, k, Simd::detect()?)
    }

    /// Creates the manifold on a given instruction set.
    ///
    /// # Errors
    /// [`Error::Zero`] and [`Error::MoreColumnsThanRows`] for impossible shapes.
    pub fn with_simd(p: usize, k: usize, simd: Simd) -> Result<Self, Error> {
        if p == 0 {
            return Err(Error::Zero { what: "the number of rows" });
        }
        if k == 0 {
            return Err(Error::Zero { what: "the number of columns" });
        }
        if k > p {
            return Err(Error::MoreColumnsThanRows { rows: p, columns: k });
        }
        if p > tolerance::LARGEST_MATRIX {
            return Err(Error::OutOfRange {
                what: "the number of rows",
                value: p as f64,
                expected: "at most 16384",
            });
        }
        Ok(Self { p, k, simd, small: vec![T::ZERO; k * k], tall: vec![T::ZERO; p * k] })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.p
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.k
    }

    /// Returns the instruction set.
    pub fn simd(&self) -> Simd {
        self.simd
    }

    /// Checks that a matrix has the shape of the manifold and finite entries.
    pub(crate) fn check_matrix(
        &self,
        what: &'static str,
        index: usize,
        matrix: &Matrix<T>,
    ) -> Result<(), Error> {
        let (expected, found) = ((self.p, self.k), (matrix.rows(), matrix.columns()));
        if found != expected {
            return Err(Error::Shape { what, expected, found });
        }
        self.check(what, index, matrix.as_slice())
    }

    /// Checks that a slice has the length of a matrix of the manifold and finite entries.
    pub(crate) fn check(&self, what: &'static str, index: usize, matrix: &[T]) -> Result<(), Error> {
        check_length(what, matrix.len(), self.p * self.k)?;
        check_finite(self.simd, index, self.k, matrix)
    }

    /// Checks that a result is finite.
    pub(crate) fn check_result(&self, operation: &'static str, result: &[T]) -> Result<(), Error> {
        check_finite(self.simd, 0, self.k, result).map_err(|_| Error::TooLarge { operation, matrix: 0 })
    }

    fn check_all(&self, inputs: [&[T]; 2], out: &[T]) -> Result<(), Error> {
        self.check("the base point", 0, inputs[0])?;
        self.check("the matrix", 1, inputs[1])?;
        check_length("the output", out.len(), self.p * self.k)
    }

    /// Computes the tangent projection `P_W(X) = X - W sym(W^T X)`. It maps a Euclidean gradient
    /// `X` to the Riemannian gradient.
    ///
    /// # Errors
    /// [`Error::Length`] if a slice is not `p x k`, [`Error::NotFinite`] (number 0 is the base
    /// point, 1 the matrix).
    pub fn project(&mut self, w: &[T], x: &[T], out: &mut [T]) -> Result<(), Error> {
        self.check_all([w, x], out)?;
        self.project_unchecked(w, x, out)
    }

    /// Projects finite matrices of the right shape and checks the result.
    fn project_unchecked(&mut self, w: &[T], x: &[T], out: &mut [T]) -> Result<(), Error> {
        let (p, k) = (self.p, self.k);
        multiply(self.simd, Left::Transposed, (k, p, k), w, x, &mut self.small);
        for i in 0..k {
            for j in 0..i {
                let mean = (self.small[i * k + j] + self.small[j * k + i]) * T::HALF;
                self.small[i * k + j] = mean;
                self.small[j * k + i] = mean;
            }
        }
        multiply(self.simd, Left::Plain, (p, k, k), w, &self.small, out);
        for (out, &x) in out.iter_mut().zip(x) {
            *out = x - *out;
        }
        check_finite(self.simd, 0, self.k, out)
            .map_err(|_| Error::TooLarge { operation: "the tangent projection", matrix: 1 })
    }

    /// Computes the orthographic lifting `L_W(Y) = P_W(Y - W)` of another point to the tangent
    /// space at `W`.
    ///
    /// `P_W(W) = 0`, so exact arithmetic does not need the difference. It preserves relative
    /// accuracy when `Y` is close to `W`.
    ///
    /// # Errors
    /// [`Error::Length`] if a slice is not `p x k`, [`Error::NotFinite`] (number 0 is the base
    /// point, 1 the matrix).
    pub fn lift(&mut self, w: &[T], y: &[T], out: &mut [T]) -> Result<(), Error> {
        self.check_all([w, y], out)?;
        let mut difference = std::mem::take(&mut self.tall);
        for ((difference, &y), &w) in difference.iter_mut().zip(y).zip(w) {
            *difference = y - w;
        }
        let result = self.project_unchecked(w, &difference, out);
        self.tall = difference;
        result
    }

    /// Transports a tangent vector to the tangent space at `target` by projection. Its length never
    /// grows.
    ///
    /// # Errors
    /// [`Error::Length`] if a slice is not `p x k`, [`Error::NotFinite`] (number 0 is the base
    /// point, 1 the matrix).
    pub fn transport(&mut self, target: &[T], x: &[T], out: &mut [T]) -> Result<(), Error> {
        self.project(target, x, out)
    }

    /// Returns the distance from orthonormal columns: `|W^T W - I|`.
    ///
    /// # Errors
    /// [`Error::Length`] if the slice is not `p x k`, [`Error::NotFinite`].
    pub fn feasibility_error(&mut self, w: &[T]) -> Result<T, Error> {
        let (p, k) = (self.p, self.k);
        self.check("the matrix", 0, w)?;
        multiply(self.simd, Left::Transposed, (k, p, k), w, w, &mut self.small);
        for i in 0..k {
            self.small[i * k + i] -= T::ONE;
        }
        Ok(frobenius_norm(&self.small))
    }
}
