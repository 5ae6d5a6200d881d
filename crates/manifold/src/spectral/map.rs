//! Spectral functions of batches of matrices, and their adjoints.

use super::tape::Given;
use super::{SpectralFunction, SpectralTape};
use crate::error::check_length;
use crate::finite::check_finite;
use crate::simd::Simd;
use crate::symmetric::{Form, Wanted, check_batch, pack};
use crate::{Error, Real};

/// Spectral functions and their derivatives for batches of symmetric `n x n` matrices, with scratch
/// memory.
///
/// `F(A) = U diag(f(l)) U^T` has the derivative (Daleckii and Krein)
///
/// ```text
/// DF(A)[E] = U (L o (U^T E U)) U^T,    L_ij = (f(l_i) - f(l_j))/(l_i - l_j),    L_ii = f'(l_i),
/// ```
///
/// which is its own adjoint. Equal, nearly equal and clamped eigenvalues are ordinary inputs:
/// eigenvectors are never differentiated, and the divided differences are accurate for any gap.
/// Results do not depend on the batch or the instruction set. Nothing is allocated after
/// construction.
///
/// ```
/// # fn main() -> Result<(), fedspd_manifold::Error> {
/// use fedspd_manifold::{SpectralFunction, SpectralMap};
///
/// let mut map = SpectralMap::<f64>::new(2)?;
/// let mut out = [0.0; 4];
/// map.apply(SpectralFunction::Sqrt, &[4.0, 0.0, 0.0, 9.0], &mut out)?;
/// assert!((out[0] - 2.0).abs() < 1e-15 && (out[3] - 3.0).abs() < 1e-15);
/// # Ok(())
/// # }
/// ```
pub struct SpectralMap<T: Real> {
    tape: SpectralTape<T>,
}

impl<T: Real> SpectralMap<T> {
    /// Creates a map for `n x n` matrices on the instruction set of [`Simd::detect`].
    ///
    /// # Errors
    /// [`Error::Zero`] for `n = 0`, [`Error::SimdUnavailable`] if the requested instruction set is
    /// unavailable.
    pub fn new(n: usize) -> Result<Self, Error> {
        Self::with_simd(n, Simd::detect()?)
    }

    /// Creates a map on a given instruction set.
    ///
    /// # Errors
    /// [`Error::Zero`] for `n = 0`.
    pub fn with_simd(n: usize, simd: Simd) -> Result<Self, Error> {
        Ok(Self { tape: SpectralTape::with_simd(n, simd)? })
    }

    /// Returns the size of the matrices.
    pub fn n(&self) -> usize {
        self.tape.n()
    }

    /// Returns the instruction set.
    pub fn simd(&self) -> Simd {
        self.tape.chunk.simd()
    }

    /// Computes `F(A)` for every matrix of a batch.
    ///
    /// # Errors
    /// As [`crate::SymmetricEigen::decompose`]; [`Error::OutOfRange`] for the function's parameter,
    /// [`Error::NotPositiveDefinite`] and [`Error::Overflow`] where the function is undefined or
    /// infinite.
    pub fn apply(
        &mut self,
        function: SpectralFunction<T>,
        matrices: &[T],
        out: &mut [T],
    ) -> Result<(), Error> {
        let n = self.n();
        let count = check_batch(n, matrices)?;
        check_length("the output", out.len(), matrices.len())?;
        for first in (0..count).step_by(self.tape.lanes()) {
            let held = self.load(function, matrices, first)?;
            self.tape.evaluate(function, first, held)?;
            self.unpack(first, held, out);
        }
        Ok(())
    }

    /// Computes `DF(A)[E]` for every matrix of a batch in its own direction. It is also the
    /// adjoint: it maps a gradient with respect to `F(A)` to the gradient with respect to `A`. It
    /// symmetrises the directions first.
    ///
    /// # Errors
    /// As [`SpectralMap::apply`], and [`Error::NotFinite`] for the directions.
    pub fn derivative(
        &mut self,
        function: SpectralFunction<T>,
        matrices: &[T],
        directions: &[T],
        out: &mut [T],
    ) -> Result<(), Error> {
        let n = self.n();
        let count = check_batch(n, matrices)?;
        check_length("the directions", directions.len(), matrices.len())?;
        check_length("the output", out.len(), matrices.len())?;
        for first in (0..count).step_by(self.tape.lanes()) {
            let held = self.load(function, matrices, first)?;
            self.tape.prepare(function);
            let own = &directions[first * n * n..(first + held) * n * n];
            pack(self.tape.chunk.simd(), self.tape.chunk.shape(), own, self.tape.results.numbers_mut());
            if let Err(error) = self.tape.differentiate(function, Given::Everything, first, held) {
                for matrix in first..first + held {
                    check_finite(self.simd(), matrix, n, &directions[matrix * n * n..(matrix + 1) * n * n])?;
                }
                return Err(error);
            }
            self.unpack(first, held, out);
        }
        Ok(())
    }

    /// Writes the results of a chunk that starts at matrix `first` of the batch.
    fn unpack(&self, first: usize, held: usize, out: &mut [T]) {
        let size = self.n() * self.n();
        let own = &mut out[first * size..(first + held) * size];
        self.tape.take(Form::Full, (0, held), (own, size));
    }

    /// Decomposes a chunk and checks that the function is defined at its eigenvalues.
    fn load(&mut self, function: SpectralFunction<T>, matrices: &[T], first: usize) -> Result<usize, Error> {
        function.check()?;
        let held = self.tape.chunk.load(Wanted::Everything, matrices, first)?;
        self.tape.check_domain(function, first, held)?;
        Ok(held)
    }
}
