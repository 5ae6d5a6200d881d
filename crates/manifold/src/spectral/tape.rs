//! A spectral function of a few matrices, remembered for the way back.

use super::SpectralFunction;
use crate::dense::{Left, Triangle, multiply_symmetric};
use crate::error::check_length;
use crate::lanewise::{congruence, symmetric_product};
use crate::simd::{Array, Buffer, Kernel, Lanes, Simd};
use crate::symmetric::{Chunk, place_triangle};
use crate::{Error, Real};

/// `F(A)` of up to [`SpectralTape::lanes`] symmetric `n x n` matrices at once, which keeps the decomposition so that gradients go
/// back through it without another one.
///
/// A layer of a network uses it so: [`begin`](Self::begin), [`put`](Self::put) each matrix, [`apply`](Self::apply), read the results;
/// then [`put_gradient`](Self::put_gradient) (or its triangle) for each, [`pull_back`](Self::pull_back), and read the gradients. Only lower triangles are read.
/// The results for a matrix do not depend on the others. Nothing is allocated after construction.
///
/// ```
/// # fn main() -> Result<(), fedspd_manifold::Error> {
/// use fedspd_manifold::{SpectralFunction, SpectralTape};
///
/// let mut tape = SpectralTape::<f64>::new(2)?;
/// let (mut root, mut gradient) = ([0.0; 4], [0.0; 4]);
/// tape.begin(1)?;
/// tape.put(0, &[4.0, 0.0, 0.0, 9.0])?;
/// tape.apply(SpectralFunction::Sqrt)?;
/// tape.matrix(0, &mut root)?;
/// tape.put_gradient(0, &[1.0, 0.0, 0.0, 1.0])?;
/// tape.pull_back()?;
/// tape.matrix(0, &mut gradient)?;
/// assert!((root[0] - 2.0).abs() < 1e-15 && (gradient[0] - 1.0 / 4.0).abs() < 1e-15);
/// # Ok(())
/// # }
/// ```
pub struct SpectralTape<T: Real> {
    pub(super) chunk: Chunk<T>,
    /// `n^2` results or gradients, `2 n^2` scratch, and what [`SpectralFunction::prepare`] made of the `n` eigenvalues; all in lanes.
    pub(super) work: Buffer<T>,
    /// How many matrices there are.
    held: usize,
    /// The function that was applied last, if that succeeded.
    applied: Option<SpectralFunction<T>>,
}

impl<T: Real> SpectralTape<T> {
    /// Room for `n x n` matrices on the instruction set that [`Simd::detect`] gives.
    ///
    /// # Errors
    /// [`Error::Zero`] for `n = 0`, [`Error::SimdUnavailable`] if an unavailable instruction set is asked for.
    pub fn new(n: usize) -> Result<Self, Error> {
        Self::with_simd(n, Simd::detect()?)
    }

    /// The same on a given instruction set.
    ///
    /// # Errors
    /// [`Error::Zero`] for `n = 0`.
    pub fn with_simd(n: usize, simd: Simd) -> Result<Self, Error> {
        let chunk = Chunk::new(n, simd)?;
        let work = Buffer::new(3 * n * n + n, chunk.lanes());
        Ok(Self { chunk, work, held: 0, applied: None })
    }

    /// The size of the matrices.
    pub fn n(&self) -> usize {
        self.chunk.n()
    }

    /// How many matrices it takes at once.
    pub fn lanes(&self) -> usize {
        self.chunk.lanes()
    }

    /// Starts with `count` matrices.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if there are none or more than [`SpectralTape::lanes`].
    pub fn begin(&mut self, count: usize) -> Result<(), Error> {
        self.applied = None;
        if count == 0 || count > self.lanes() {
            let (what, expected) = ("the number of matrices", "between 1 and the number of lanes");
            return Err(Error::OutOfRange { what, value: count as f64, expected });
        }
        self.held = count;
        self.chunk.begin(count);
        Ok(())
    }

    /// Sets matrix `index` by the lower triangle of a row-major matrix.
    ///
    /// # Errors
    /// [`Error::Length`] if it is not `n x n`, [`Error::OutOfRange`] if there is no such matrix.
    pub fn put(&mut self, index: usize, matrix: &[T]) -> Result<(), Error> {
        self.check(index, matrix.len(), self.n() * self.n())?;
        self.applied = None;
        self.chunk.place(index, matrix);
        Ok(())
    }

    /// Decomposes the matrices and applies the function.
    ///
    /// # Errors
    /// As [`crate::SpectralMap::apply`]; matrices are counted from zero.
    pub fn apply(&mut self, function: SpectralFunction<T>) -> Result<(), Error> {
        self.applied = None;
        function.check()?;
        self.chunk.decompose_placed(self.held)?;
        self.check_domain(function, 0, self.held)?;
        self.evaluate(function, 0, self.held)?;
        self.applied = Some(function);
        Ok(())
    }

    /// Eigenvalue number `i`, in no particular order, of matrix `index` of those that were applied last.
    ///
    /// # Errors
    /// [`Error::NotFactored`], or [`Error::OutOfRange`] if there is no such matrix or eigenvalue.
    pub fn eigenvalue(&self, index: usize, i: usize) -> Result<T, Error> {
        self.check(index, 0, 0)?;
        if i >= self.n() {
            let (what, expected) = ("the number of the eigenvalue", "less than n");
            return Err(Error::OutOfRange { what, value: i as f64, expected });
        }
        self.applied.map(|_| self.chunk.value(i, index)).ok_or(Error::NotFactored)
    }

    /// Writes the result of the last call, `F(A)` or the gradient, for matrix `index`: all of it, row-major.
    ///
    /// # Errors
    /// [`Error::Length`] if it is not `n x n`, [`Error::OutOfRange`] if there is no such matrix, [`Error::NotFactored`].
    pub fn matrix(&self, index: usize, out: &mut [T]) -> Result<(), Error> {
        let (n, width) = (self.n(), self.chunk.width());
        self.check(index, out.len(), n * n)?;
        self.applied.ok_or(Error::NotFactored)?;
        for (place, entry) in out.iter_mut().enumerate() {
            *entry = self.work.numbers()[place * width + index];
        }
        Ok(())
    }

    /// Writes the lower triangle of the result of the last call for matrix `index`, row by row.
    ///
    /// # Errors
    /// As [`SpectralTape::matrix`]; the triangle has `n (n + 1)/2` entries.
    pub fn triangle(&self, index: usize, out: &mut [T]) -> Result<(), Error> {
        let (n, width) = (self.n(), self.chunk.width());
        self.check(index, out.len(), n * (n + 1) / 2)?;
        self.applied.ok_or(Error::NotFactored)?;
        let mut entries = out.iter_mut();
        for i in 0..n {
            for (j, entry) in (0..=i).zip(&mut entries) {
                *entry = self.work.numbers()[(i * n + j) * width + index];
            }
        }
        Ok(())
    }

    /// Sets the gradient with respect to `F(A)` of matrix `index` by the lower triangle of a symmetric matrix.
    ///
    /// # Errors
    /// As [`SpectralTape::matrix`].
    pub fn put_gradient(&mut self, index: usize, gradient: &[T]) -> Result<(), Error> {
        let (n, width) = (self.n(), self.chunk.width());
        self.check(index, gradient.len(), n * n)?;
        self.applied.ok_or(Error::NotFactored)?;
        place_triangle(n, gradient, width, index, self.work.numbers_mut());
        Ok(())
    }

    /// Sets the gradient with respect to `F(A)` of matrix `index` by its lower triangle, row by row.
    ///
    /// # Errors
    /// As [`SpectralTape::triangle`].
    pub fn put_gradient_triangle(&mut self, index: usize, gradient: &[T]) -> Result<(), Error> {
        let (n, width) = (self.n(), self.chunk.width());
        self.check(index, gradient.len(), n * (n + 1) / 2)?;
        self.applied.ok_or(Error::NotFactored)?;
        let mut entries = gradient.iter();
        for i in 0..n {
            for (j, &entry) in (0..=i).zip(&mut entries) {
                self.work.numbers_mut()[(i * n + j) * width + index] = entry;
            }
        }
        Ok(())
    }

    /// Carries the gradients with respect to `F(A)`, which must have been set for all matrices, to gradients with respect to `A`.
    ///
    /// # Errors
    /// [`Error::NotFactored`] before [`SpectralTape::apply`] succeeded; [`Error::NotFinite`] or [`Error::Overflow`] if a
    /// gradient is not finite.
    pub fn pull_back(&mut self) -> Result<(), Error> {
        let function = self.applied.ok_or(Error::NotFactored)?;
        self.differentiate(function, Given::LowerTriangle, 0, self.held)
    }

    fn check(&self, index: usize, found: usize, expected: usize) -> Result<(), Error> {
        check_length("the matrix", found, expected)?;
        if index < self.held {
            return Ok(());
        }
        let (what, expected) = ("the index of the matrix", "less than the number of matrices");
        Err(Error::OutOfRange { what, value: index as f64, expected })
    }

    /// Checks that the eigenvalues are in the domain of the function; the first matrix is number `first` of its batch.
    pub(super) fn check_domain(
        &self,
        function: SpectralFunction<T>,
        first: usize,
        held: usize,
    ) -> Result<(), Error> {
        if !function.needs_positive() {
            return Ok(());
        }
        for lane in 0..held {
            let smallest = self.extreme_eigenvalue(lane, |a, b| a < b);
            if !(smallest > T::ZERO) {
                return Err(Error::NotPositiveDefinite {
                    matrix: first + lane,
                    smallest_eigenvalue: smallest.to_f64(),
                });
            }
        }
        Ok(())
    }

    pub(super) fn extreme_eigenvalue(&self, lane: usize, before: impl Fn(T, T) -> bool) -> T {
        let first = self.chunk.value(0, lane);
        (1..self.n())
            .map(|i| self.chunk.value(i, lane))
            .fold(first, |extreme, value| if before(value, extreme) { value } else { extreme })
    }

    /// Writes `F(A)` to the front of `work`.
    pub(super) fn evaluate(
        &mut self,
        function: SpectralFunction<T>,
        first: usize,
        held: usize,
    ) -> Result<(), Error> {
        if self.chunk.width() == 1 {
            self.prepare(function);
            self.evaluate_alone(function);
            return self.check_overflow(function, first, held);
        }
        let Self { chunk, work, .. } = self;
        let finite = T::evaluate(chunk.simd(), Evaluate { function, chunk, work });
        if finite { Ok(()) } else { self.check_overflow(function, first, held) }
    }

    /// `F(A)` of a matrix that is alone: its entries are in rows, so lanes can run along them. Every entry is the same chain of operations.
    fn evaluate_alone(&mut self, function: SpectralFunction<T>) {
        let n = self.n();
        let (out, rest) = self.work.numbers_mut().split_at_mut(n * n);
        let (scaled, rest) = rest.split_at_mut(n * n);
        let (transposed, prepared) = rest.split_at_mut(n * n);
        for k in 0..n {
            let Array([f]) = function.value(Array([prepared[k]]));
            for i in 0..n {
                let u = self.chunk.vector(i, k, 0);
                transposed[k * n + i] = u;
                scaled[i * n + k] = u * f;
            }
        }
        multiply_symmetric(self.chunk.simd(), Left::Plain, Triangle::Lower, (n, n), scaled, transposed, out);
        for i in 0..n {
            for j in 0..i {
                out[j * n + i] = out[i * n + j];
            }
        }
    }

    /// Prepares the eigenvalues for [`SpectralTape::differentiate`], which [`SpectralTape::evaluate`] does too.
    pub(super) fn prepare(&mut self, function: SpectralFunction<T>) {
        let Self { chunk, work, .. } = self;
        T::prepare_values(chunk.simd(), PrepareValues { function, chunk, work });
    }

    /// Replaces the directions at the front of `work` by `DF(A)[E]`.
    pub(super) fn differentiate(
        &mut self,
        function: SpectralFunction<T>,
        given: Given,
        first: usize,
        held: usize,
    ) -> Result<(), Error> {
        let Self { chunk, work, .. } = self;
        let finite = T::differentiate(chunk.simd(), Differentiate { function, given, chunk, work });
        if finite { Ok(()) } else { self.check_overflow(function, first, held) }
    }

    /// Says which of the results is not finite. Lanes without a matrix hold the identity, where every function is, but the
    /// directions in them are anything.
    fn check_overflow(&self, function: SpectralFunction<T>, first: usize, held: usize) -> Result<(), Error> {
        let (size, width) = (self.n() * self.n(), self.chunk.width());
        let overflows = |lane: &usize| (0..size).any(|i| !self.work.numbers()[i * width + lane].is_finite());
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

/// Which entries of the directions are there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    /// All of them, to be symmetrised.
    Everything,
    /// Those on and below the diagonal, of a symmetric matrix.
    LowerTriangle,
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

/// The parts of the work memory: results, two scratch matrices, prepared eigenvalues.
#[inline(always)]
fn parts<V: Lanes>(n: usize, work: &mut Buffer<V::Scalar>) -> [&mut [V]; 4] {
    let (front, rest) = work.vectors::<V>().split_at_mut(n * n);
    let (first, rest) = rest.split_at_mut(n * n);
    let (second, rest) = rest.split_at_mut(n * n);
    [front, first, second, &mut rest[..n]]
}

/// Runs `work` on the lanes in use: one, or all of `V`.
macro_rules! on_lanes_in_use {
    ($kernel:ident, $output:ty) => {
        impl<T: Real> Kernel<T> for $kernel<'_, T> {
            type Output = $output;
            #[inline(always)]
            fn run<V: Lanes<Scalar = T>>(self) -> $output {
                if self.chunk.width() == 1 { self.work::<Array<T, 1>>() } else { self.work::<V>() }
            }
        }
    };
}
on_lanes_in_use!(PrepareValues, ());
on_lanes_in_use!(Differentiate, bool);

/// Fills the prepared eigenvalues.
pub struct PrepareValues<'a, T: Real> {
    function: SpectralFunction<T>,
    chunk: &'a mut Chunk<T>,
    work: &'a mut Buffer<T>,
}

impl<T: Real> PrepareValues<'_, T> {
    #[inline(always)]
    fn work<V: Lanes<Scalar = T>>(self) {
        let n = self.chunk.n();
        let (_, values) = self.chunk.vectors_and_values::<V>();
        let [.., prepared] = parts::<V>(n, self.work);
        for (prepared, &value) in prepared.iter_mut().zip(values) {
            *prepared = self.function.prepare(value);
        }
    }
}

/// Writes `F(A)` to the front of `work`, and the prepared eigenvalues to its end; returns whether all of it is finite.
pub struct Evaluate<'a, T: Real> {
    function: SpectralFunction<T>,
    chunk: &'a mut Chunk<T>,
    work: &'a mut Buffer<T>,
}

impl<T: Real> Kernel<T> for Evaluate<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(self) -> bool {
        let Self { function, chunk, work } = self;
        PrepareValues { function, chunk, work }.work::<V>();
        let n = chunk.n();
        let (u, _) = chunk.vectors_and_values::<V>();
        let [out, scaled, f, prepared] = parts::<V>(n, work);
        for k in 0..n {
            f[k] = function.value(prepared[k]);
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
pub struct Differentiate<'a, T: Real> {
    function: SpectralFunction<T>,
    given: Given,
    chunk: &'a mut Chunk<T>,
    work: &'a mut Buffer<T>,
}

impl<T: Real> Differentiate<'_, T> {
    #[inline(always)]
    fn work<V: Lanes<Scalar = T>>(self) -> bool {
        let n = self.chunk.n();
        let (u, values) = self.chunk.vectors_and_values::<V>();
        let [e, product, transposed, prepared] = parts::<V>(n, self.work);
        for i in 0..n {
            for j in 0..n {
                transposed[j * n + i] = u[i * n + j];
            }
        }
        for i in 0..n {
            for j in 0..i {
                let half = V::splat(T::HALF);
                if self.given == Given::Everything {
                    e[i * n + j] = e[i * n + j].mul_add(half, e[j * n + i] * half);
                }
                e[j * n + i] = e[i * n + j];
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
