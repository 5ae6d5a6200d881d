//! Spectral functions of batches of matrices, and their adjoints.

use super::SpectralFunction;
use crate::error::check_length;
use crate::finite::check_finite;
use crate::lanewise::{congruence, symmetric_product};
use crate::simd::{Buffer, Kernel, Lanes, Simd};
use crate::symmetric::{Chunk, check_batch, pack};
use crate::{Error, Real};

/// Applies spectral functions to batches of symmetric `n x n` matrices and to gradients, with its scratch memory.
///
/// `F(A) = U diag(f(l)) U^T` has the derivative (Daleckii and Krein)
///
/// ```text
/// DF(A)[E] = U (L o (U^T E U)) U^T,    L_ij = (f(l_i) - f(l_j))/(l_i - l_j),    L_ii = f'(l_i),
/// ```
///
/// which is its own adjoint. Equal, nearly equal and clamped eigenvalues are ordinary inputs: eigenvectors are never
/// differentiated, and the divided differences are accurate for any gap. Results do not depend on the batch or the
/// instruction set. Nothing is allocated after construction.
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
    chunk: Chunk<T>,
    /// Three matrices and a row per lane.
    work: Buffer<T>,
}

impl<T: Real> SpectralMap<T> {
    /// A map for `n x n` matrices on the instruction set that [`Simd::detect`] gives.
    ///
    /// # Errors
    /// [`Error::Zero`] for `n = 0`, [`Error::SimdUnavailable`] if an unavailable instruction set is asked for.
    pub fn new(n: usize) -> Result<Self, Error> {
        Self::with_simd(n, Simd::detect()?)
    }

    /// A map on a given instruction set.
    ///
    /// # Errors
    /// [`Error::Zero`] for `n = 0`.
    pub fn with_simd(n: usize, simd: Simd) -> Result<Self, Error> {
        let chunk = Chunk::new(n, simd)?;
        let work = Buffer::new(3 * n * n + n, chunk.lanes());
        Ok(Self { chunk, work })
    }

    /// The size of the matrices.
    pub fn n(&self) -> usize {
        self.chunk.n()
    }

    /// The instruction set.
    pub fn simd(&self) -> Simd {
        self.chunk.simd()
    }

    /// `F(A)` of every matrix of a batch.
    ///
    /// # Errors
    /// The faults of [`crate::SymmetricEigen::decompose`]; [`Error::OutOfRange`] for the function's parameter,
    /// [`Error::NotPositiveDefinite`] and [`Error::Overflow`] where the function is not defined or not finite.
    pub fn apply(
        &mut self,
        function: SpectralFunction<T>,
        matrices: &[T],
        out: &mut [T],
    ) -> Result<(), Error> {
        self.apply_observed(function, matrices, out, |_, _| ())
    }

    /// [`SpectralMap::apply`], showing the smallest and the largest eigenvalue of each matrix in turn.
    pub(crate) fn apply_observed(
        &mut self,
        function: SpectralFunction<T>,
        matrices: &[T],
        out: &mut [T],
        mut observe: impl FnMut(T, T),
    ) -> Result<(), Error> {
        let n = self.n();
        let count = check_batch(n, matrices)?;
        check_length("the output", out.len(), matrices.len())?;
        for first in (0..count).step_by(self.chunk.lanes()) {
            let held = self.load(function, matrices, first)?;
            for lane in 0..held {
                observe(
                    self.extreme_eigenvalue(lane, |a, b| a < b),
                    self.extreme_eigenvalue(lane, |a, b| a > b),
                );
            }
            let Self { chunk, work } = self;
            let finite = chunk.simd().run(Apply { function, chunk, work });
            if !finite {
                self.check_overflow(function, first, held)?;
            }
            unpack(n, self.work.numbers(), self.chunk.lanes(), held, &mut out[first * n * n..]);
        }
        Ok(())
    }

    /// `DF(A)[E]` of every matrix of a batch in its own direction; also the adjoint, which carries a gradient with
    /// respect to `F(A)` to the gradient with respect to `A`. Directions are symmetrised first.
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
        for first in (0..count).step_by(self.chunk.lanes()) {
            let held = self.load(function, matrices, first)?;
            pack(n, &directions[first * n * n..], self.chunk.lanes(), self.work.numbers_mut());
            let Self { chunk, work } = self;
            let finite = chunk.simd().run(Derivative { function, chunk, work });
            if !finite {
                for matrix in first..first + held {
                    check_finite(self.simd(), matrix, n, &directions[matrix * n * n..(matrix + 1) * n * n])?;
                }
                self.check_overflow(function, first, held)?;
            }
            unpack(n, self.work.numbers(), self.chunk.lanes(), held, &mut out[first * n * n..]);
        }
        Ok(())
    }

    /// Decomposes a chunk and checks that its eigenvalues are in the domain of the function.
    fn load(&mut self, function: SpectralFunction<T>, matrices: &[T], first: usize) -> Result<usize, Error> {
        function.check()?;
        let held = self.chunk.load(matrices, first)?;
        if function.needs_positive() {
            for lane in 0..held {
                let smallest = self.extreme_eigenvalue(lane, |a, b| a < b);
                if !(smallest > T::ZERO) {
                    return Err(Error::NotPositiveDefinite {
                        matrix: first + lane,
                        smallest_eigenvalue: smallest.to_f64(),
                    });
                }
            }
        }
        Ok(held)
    }

    fn extreme_eigenvalue(&self, lane: usize, before: impl Fn(T, T) -> bool) -> T {
        let first = self.chunk.value(0, lane);
        (1..self.n())
            .map(|i| self.chunk.value(i, lane))
            .fold(first, |extreme, value| if before(value, extreme) { value } else { extreme })
    }

    /// Says which of the results is not finite. Lanes without a matrix hold the identity, where every function is.
    fn check_overflow(&self, function: SpectralFunction<T>, first: usize, held: usize) -> Result<(), Error> {
        let (size, lanes) = (self.n() * self.n(), self.chunk.lanes());
        let overflows = |lane: &usize| (0..size).any(|i| !self.work.numbers()[i * lanes + lane].is_finite());
        match (0..held).find(overflows) {
            None => Ok(()),
            Some(lane) => Err(Error::Overflow {
                operation: function.name(),
                matrix: first + lane,
                largest_eigenvalue: self.extreme_eigenvalue(lane, |a, b| a > b).to_f64(),
            }),
        }
    }
}

/// Moves matrices out of lanes: the inverse of [`pack`].
fn unpack<T: Real>(n: usize, source: &[T], lanes: usize, held: usize, matrices: &mut [T]) {
    for lane in 0..held {
        for (i, entry) in matrices[lane * n * n..(lane + 1) * n * n].iter_mut().enumerate() {
            *entry = source[i * lanes + lane];
        }
    }
}

/// Whether all entries of all lanes are finite.
#[inline(always)]
fn all_finite<V: Lanes>(entries: &[V]) -> bool {
    let mut sum = V::zero();
    for &entry in entries {
        sum = entry.mul_add(V::zero(), sum);
    }
    !V::any(!sum.eq(V::zero()))
}

/// Writes `F(A)` to the front of `work`; returns whether all of it is finite.
struct Apply<'a, T: Real> {
    function: SpectralFunction<T>,
    chunk: &'a mut Chunk<T>,
    work: &'a mut Buffer<T>,
}

impl<T: Real> Kernel<T> for Apply<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(self) -> bool {
        let n = self.chunk.n();
        let (u, values) = self.chunk.vectors_and_values::<V>();
        let (out, rest) = self.work.vectors::<V>().split_at_mut(n * n);
        let (scaled, rest) = rest.split_at_mut(n * n);
        let f = &mut rest[..n];
        for i in 0..n {
            f[i] = self.function.value(self.function.prepare(values[i]));
        }
        for i in 0..n {
            for k in 0..n {
                scaled[i * n + k] = u[i * n + k] * f[k];
            }
        }
        symmetric_product(n, scaled, u, out);
        all_finite(out)
    }
}

/// Replaces the directions at the front of `work` by `DF(A)[E]`; returns whether all of it is finite.
struct Derivative<'a, T: Real> {
    function: SpectralFunction<T>,
    chunk: &'a mut Chunk<T>,
    work: &'a mut Buffer<T>,
}

impl<T: Real> Kernel<T> for Derivative<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(self) -> bool {
        let n = self.chunk.n();
        let (u, values) = self.chunk.vectors_and_values::<V>();
        let (e, rest) = self.work.vectors::<V>().split_at_mut(n * n);
        let (product, rest) = rest.split_at_mut(n * n);
        let (transposed, rest) = rest.split_at_mut(n * n);
        let prepared = &mut rest[..n];
        for i in 0..n {
            prepared[i] = self.function.prepare(values[i]);
            for j in 0..n {
                transposed[j * n + i] = u[i * n + j];
            }
        }
        congruence(n, transposed, e, product);
        for i in 0..n {
            for j in 0..=i {
                let slope = self.function.divided_difference(values[i], values[j], prepared[i], prepared[j]);
                e[i * n + j] = slope * e[i * n + j];
                e[j * n + i] = e[i * n + j];
            }
        }
        congruence(n, u, e, product);
        all_finite(e)
    }
}
