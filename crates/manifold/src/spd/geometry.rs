//! Distances, geodesics, exponential and logarithm, whitening.

use crate::dense::{Left, frobenius_norm, multiply};
use crate::error::check_length;
use crate::finite::check_finite;
use crate::simd::Simd;
use crate::spectral::{SpectralFunction, SpectralMap};
use crate::symmetric::{check_batch, check_symmetric};
use crate::{Error, Real};

/// A metric on SPD matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpdMetric {
    /// `tr(P^-1 X P^-1 Y)` at `P`. It is invariant under congruence, hence under any mixing of the
    /// channels.
    AffineInvariant,
    /// The Euclidean metric of the logarithms.
    LogEuclidean,
}

/// The manifold of `n x n` SPD matrices with scratch memory for its operations. Matrices are
/// row-major slices.
///
/// ```
/// # fn main() -> Result<(), fedspd_manifold::Error> {
/// use fedspd_manifold::{Spd, SpdMetric};
///
/// let mut spd = Spd::<f64>::new(2)?;
/// let (a, b) = ([1.0, 0.0, 0.0, 1.0], [std::f64::consts::E, 0.0, 0.0, 1.0]);
/// assert!((spd.distance(SpdMetric::AffineInvariant, &a, &b)? - 1.0).abs() < 1e-15);
/// # Ok(())
/// # }
/// ```
pub struct Spd<T: Real> {
    map: SpectralMap<T>,
    /// Square root and inverse square root of a base point, and three scratch matrices.
    root: Vec<T>,
    inverse_root: Vec<T>,
    first: Vec<T>,
    second: Vec<T>,
    product: Vec<T>,
}

impl<T: Real> Spd<T> {
    /// Creates the manifold of `n x n` SPD matrices on the instruction set of [`Simd::detect`].
    ///
    /// # Errors
    /// [`Error::Zero`] for `n = 0`, [`Error::SimdUnavailable`].
    pub fn new(n: usize) -> Result<Self, Error> {
        Self::with_simd(n, Simd::detect()?)
    }

    /// Creates the manifold on a given instruction set.
    ///
    /// # Errors
    /// [`Error::Zero`] for `n = 0`.
    pub fn with_simd(n: usize, simd: Simd) -> Result<Self, Error> {
        let matrix = || vec![T::ZERO; n * n];
        Ok(Self {
            map: SpectralMap::with_simd(n, simd)?,
            root: matrix(),
            inverse_root: matrix(),
            first: matrix(),
            second: matrix(),
            product: matrix(),
        })
    }

    /// Returns the size of the matrices.
    pub fn n(&self) -> usize {
        self.map.n()
    }

    pub(super) fn map(&mut self) -> &mut SpectralMap<T> {
        &mut self.map
    }

    fn check(&self, what: &'static str, matrix: &[T]) -> Result<(), Error> {
        check_length(what, matrix.len(), self.n() * self.n())
    }

    /// Checks that an argument is finite and symmetric. Errors name it by `index`.
    fn check_argument(&self, index: usize, matrix: &[T]) -> Result<(), Error> {
        check_symmetric(self.map.simd(), self.n(), matrix, 0..1).map_err(|error| numbered(error, index))
    }

    /// Checks that a result did not overflow.
    fn check_result(&self, operation: &'static str, out: &[T]) -> Result<(), Error> {
        check_finite(self.map.simd(), 0, self.n(), out).map_err(|_| Error::TooLarge { operation, matrix: 1 })
    }

    /// Computes the roots of a base point.
    fn rebase(&mut self, base: &[T]) -> Result<(), Error> {
        self.check("the base point", base)?;
        self.map.apply(SpectralFunction::Sqrt, base, &mut self.root)?;
        self.map.apply(SpectralFunction::InverseSqrt, base, &mut self.inverse_root)
    }

    /// Computes `second <- log(P^-1/2 Y P^-1/2)` for the base point of the last [`Spd::rebase`].
    fn log_of_whitened(&mut self, y: &[T]) -> Result<(), Error> {
        sandwich(&self.map, &self.inverse_root, y, &mut self.product, &mut self.first);
        self.check_result("the whitening", &self.first)?;
        if let Err(error) = self.map.apply(SpectralFunction::Log, &self.first, &mut self.second) {
            // If the matrix itself is not positive definite, report its own eigenvalue.
            self.map.apply(SpectralFunction::Log, y, &mut self.product).map_err(|own| numbered(own, 1))?;
            return Err(numbered(error, 1));
        }
        Ok(())
    }

    /// Returns the distance between two matrices: `|log(A^-1/2 B A^-1/2)|` or `|log A - log B|`.
    ///
    /// # Errors
    /// [`Error::Length`] and errors of the matrices (number 0 is `A`, 1 is `B`).
    pub fn distance(&mut self, metric: SpdMetric, a: &[T], b: &[T]) -> Result<T, Error> {
        self.check("the second matrix", b)?;
        self.check_argument(1, b)?;
        match metric {
            SpdMetric::AffineInvariant => {
                self.rebase(a)?;
                self.log_of_whitened(b)?;
                Ok(frobenius_norm(&self.second))
            }
            SpdMetric::LogEuclidean => {
                self.logs(a, b)?;
                for (x, &y) in self.first.iter_mut().zip(&self.second) {
                    *x -= y;
                }
                Ok(frobenius_norm(&self.first))
            }
        }
    }

    /// Computes `first <- log A` and `second <- log B`.
    fn logs(&mut self, a: &[T], b: &[T]) -> Result<(), Error> {
        self.check("the first matrix", a)?;
        self.check("the second matrix", b)?;
        self.map.apply(SpectralFunction::Log, a, &mut self.first)?;
        self.map.apply(SpectralFunction::Log, b, &mut self.second).map_err(|error| numbered(error, 1))
    }

    /// Computes the point at time `t` on the geodesic from `A` at time 0 to `B` at time 1.
    ///
    /// # Errors
    /// [`Error::Length`] and errors of the matrices (number 0 is `A`, 1 is `B`).
    pub fn geodesic(
        &mut self,
        metric: SpdMetric,
        a: &[T],
        b: &[T],
        t: T,
        out: &mut [T],
    ) -> Result<(), Error> {
        self.check("the second matrix", b)?;
        self.check_argument(1, b)?;
        self.check("the output", out)?;
        if !t.is_finite() {
            return Err(Error::OutOfRange { what: "the time", value: t.to_f64(), expected: "finite" });
        }
        match metric {
            SpdMetric::AffineInvariant => {
                self.rebase(a)?;
                self.log_of_whitened(b)?;
                for x in &mut self.second {
                    *x *= t;
                }
                self.map.apply(SpectralFunction::Exp, &self.second, &mut self.first)?;
                sandwich(&self.map, &self.root, &self.first, &mut self.product, out);
                self.check_result("the geodesic", out)
            }
            SpdMetric::LogEuclidean => {
                self.logs(a, b)?;
                for (x, &y) in self.first.iter_mut().zip(&self.second) {
                    *x = (T::ONE - t) * *x + t * y;
                }
                self.map.apply(SpectralFunction::Exp, &self.first, out)
            }
        }
    }

    /// Computes the exponential map: the end of the geodesic from `P` with velocity `X`.
    ///
    /// `P^1/2 exp(P^-1/2 X P^-1/2) P^1/2`, or `exp(log P + D log(P)[X])`.
    ///
    /// # Errors
    /// [`Error::Length`] and errors of the matrices.
    pub fn exp(&mut self, metric: SpdMetric, base: &[T], x: &[T], out: &mut [T]) -> Result<(), Error> {
        self.check("the tangent vector", x)?;
        self.check_argument(1, x)?;
        self.check("the output", out)?;
        match metric {
            SpdMetric::AffineInvariant => {
                self.rebase(base)?;
                sandwich(&self.map, &self.inverse_root, x, &mut self.product, &mut self.first);
                self.map.apply(SpectralFunction::Exp, &self.first, &mut self.second)?;
                sandwich(&self.map, &self.root, &self.second, &mut self.product, out);
                self.check_result("the exponential map", out)
            }
            SpdMetric::LogEuclidean => {
                self.check("the base point", base)?;
                self.map.apply(SpectralFunction::Log, base, &mut self.first)?;
                self.map.derivative(SpectralFunction::Log, base, x, &mut self.second)?;
                for (sum, &step) in self.first.iter_mut().zip(&self.second) {
                    *sum += step;
                }
                self.map.apply(SpectralFunction::Exp, &self.first, out)
            }
        }
    }

    /// Computes the logarithm map: the initial velocity of the geodesic from `P` to `Y`.
    ///
    /// `P^1/2 log(P^-1/2 Y P^-1/2) P^1/2`, or `D exp(log P)[log Y - log P]`.
    ///
    /// # Errors
    /// [`Error::Length`] and errors of the matrices (number 0 is `P`, 1 is `Y`).
    pub fn log(&mut self, metric: SpdMetric, base: &[T], y: &[T], out: &mut [T]) -> Result<(), Error> {
        self.check("the target point", y)?;
        self.check_argument(1, y)?;
        self.check("the output", out)?;
        match metric {
            SpdMetric::AffineInvariant => {
                self.rebase(base)?;
                self.log_of_whitened(y)?;
                sandwich(&self.map, &self.root, &self.second, &mut self.product, out);
                self.check_result("the logarithm map", out)
            }
            SpdMetric::LogEuclidean => {
                self.logs(base, y)?;
                for (step, &start) in self.second.iter_mut().zip(&self.first) {
                    *step -= start;
                }
                self.map.derivative(SpectralFunction::Exp, &self.first, &self.second, out)
            }
        }
    }

    /// Whitens a batch at a reference point: `G^-1/2 X_i G^-1/2`. The reference maps to the
    /// identity (recentring).
    ///
    /// # Errors
    /// [`Error::NotABatch`], [`Error::Length`] and errors of the matrices.
    pub fn whiten(&mut self, reference: &[T], matrices: &[T], out: &mut [T]) -> Result<(), Error> {
        check_batch(self.n(), matrices)?;
        check_length("the output", out.len(), matrices.len())?;
        self.check("the reference", reference)?;
        self.map.apply(SpectralFunction::InverseSqrt, reference, &mut self.inverse_root)?;
        let size = self.n() * self.n();
        check_symmetric(self.map.simd(), self.n(), matrices, 0..matrices.len() / size)?;
        for (index, (matrix, out)) in matrices.chunks_exact(size).zip(out.chunks_exact_mut(size)).enumerate()
        {
            sandwich(&self.map, &self.inverse_root, matrix, &mut self.product, out);
            check_finite(self.map.simd(), 0, self.n(), out)
                .map_err(|_| Error::TooLarge { operation: "the whitening", matrix: index })?;
        }
        Ok(())
    }
}

/// Computes `B X B` for symmetric matrices and makes it exactly symmetric.
fn sandwich<T: Real>(map: &SpectralMap<T>, b: &[T], x: &[T], product: &mut [T], out: &mut [T]) {
    let n = map.n();
    multiply(map.simd(), Left::Plain, (n, n, n), b, x, product);
    multiply(map.simd(), Left::Plain, (n, n, n), product, b, out);
    for i in 0..n {
        for j in 0..i {
            let mean = (out[i * n + j] + out[j * n + i]) * T::HALF;
            out[i * n + j] = mean;
            out[j * n + i] = mean;
        }
    }
}

/// Sets the index of the matrix in an error, when several matrices are handled one by one.
fn numbered(error: Error, index: usize) -> Error {
    match error {
        Error::NotFinite { row, column, value, .. } => Error::NotFinite { matrix: index, row, column, value },
        Error::NotSymmetric { row, column, difference, tolerance, .. } => {
            Error::NotSymmetric { matrix: index, row, column, difference, tolerance }
        }
        Error::NotPositiveDefinite { smallest_eigenvalue, .. } => {
            Error::NotPositiveDefinite { matrix: index, smallest_eigenvalue }
        }
        other => other,
    }
}
