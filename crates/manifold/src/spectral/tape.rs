//! A spectral function of a few matrices, stored for the backward pass.

use super::SpectralFunction;
use crate::dense::{Left, Triangle, mirror, multiply, multiply_symmetric};
use crate::error::check_length;
use crate::lanewise::{congruence, symmetric_product};
use crate::simd::{Array, Buffer, Kernel, Lanes, MAX_WIDTH, Simd};
use crate::symmetric::{Chunk, Form, Shape, on_lanes_in_use, put, take};
use crate::transpose::transpose;
use crate::{Error, Real};

/// `F(A)` of up to [`SpectralTape::lanes`] symmetric `n x n` matrices at once. It keeps the
/// decomposition, so that the backward pass needs no second one.
///
/// Usage in a network layer: [`begin`](Self::begin), [`put`](Self::put) each matrix,
/// [`apply`](Self::apply), read the results. Then [`put_gradient`](Self::put_gradient) for each,
/// [`pull_back`](Self::pull_back), and read the gradients. Only lower triangles are read. Methods
/// for all matrices at once are faster. The results for a matrix do not depend on the others.
/// Nothing is allocated after construction.
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
    /// Results or gradients, in the same layout as the matrices of the chunk.
    pub(super) results: Buffer<T>,
    /// Output of [`SpectralFunction::prepare`] for the eigenvalues, in lanes.
    prepared: Buffer<T>,
    /// Two matrices. For a matrix in rows, also its eigenvalues and their prepared values.
    scratch: Buffer<T>,
    /// The number of matrices.
    held: usize,
    /// The last function that was applied successfully.
    applied: Option<SpectralFunction<T>>,
}

impl<T: Real> SpectralTape<T> {
    /// Creates a tape for `n x n` matrices on the instruction set of [`Simd::detect`].
    ///
    /// # Errors
    /// [`Error::Zero`] for `n = 0`, [`Error::SimdUnavailable`] if the requested instruction set is
    /// unavailable.
    pub fn new(n: usize) -> Result<Self, Error> {
        Self::with_simd(n, Simd::detect()?)
    }

    /// Creates a tape on a given instruction set.
    ///
    /// # Errors
    /// [`Error::Zero`] for `n = 0`.
    pub fn with_simd(n: usize, simd: Simd) -> Result<Self, Error> {
        let chunk = Chunk::new(n, simd)?;
        let lanes = chunk.lanes();
        let (results, prepared) = (Buffer::new(n * n, lanes), Buffer::new(n, lanes));
        let scratch = Buffer::new(2 * n * n * lanes + 2 * (n + MAX_WIDTH), 1);
        Ok(Self { chunk, results, prepared, scratch, held: 0, applied: None })
    }

    /// Returns the size of the matrices.
    pub fn n(&self) -> usize {
        self.chunk.n()
    }

    /// Returns the largest number of matrices at once.
    pub fn lanes(&self) -> usize {
        self.chunk.lanes()
    }

    /// Starts a new set of `count` matrices.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if `count` is zero or exceeds [`SpectralTape::lanes`].
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

    /// Sets matrix `index` from the lower triangle of a row-major matrix.
    ///
    /// # Errors
    /// [`Error::Length`] if it is not `n x n`, [`Error::OutOfRange`] if `index` is too large.
    pub fn put(&mut self, index: usize, matrix: &[T]) -> Result<(), Error> {
        self.check(index, matrix.len(), self.n() * self.n())?;
        self.applied = None;
        self.chunk.place(index, Triangle::Lower, matrix);
        Ok(())
    }

    /// Sets all contiguous matrices, each from one triangle of a row-major matrix. This is faster
    /// than setting them one by one.
    ///
    /// # Errors
    /// [`Error::Length`] if the slice does not hold all the `n x n` matrices.
    pub fn put_triangles(&mut self, triangle: Triangle, matrices: &[T]) -> Result<(), Error> {
        check_length("the matrices", matrices.len(), self.held * self.n() * self.n())?;
        self.applied = None;
        self.chunk.place(0, triangle, matrices);
        Ok(())
    }

    /// Decomposes the matrices and applies the function.
    ///
    /// # Errors
    /// As [`crate::SpectralMap::apply`]; matrices count from zero.
    pub fn apply(&mut self, function: SpectralFunction<T>) -> Result<(), Error> {
        self.applied = None;
        function.check()?;
        self.chunk.decompose_placed(self.held)?;
        self.check_domain(function, 0, self.held)?;
        self.evaluate(function, 0, self.held)?;
        self.applied = Some(function);
        Ok(())
    }

    /// Returns eigenvalue number `i` (unsorted) of matrix `index` of the last
    /// [`apply`](Self::apply).
    ///
    /// # Errors
    /// [`Error::NotFactored`], or [`Error::OutOfRange`] if an index is too large.
    pub fn eigenvalue(&self, index: usize, i: usize) -> Result<T, Error> {
        self.check(index, 0, 0)?;
        if i >= self.n() {
            let (what, expected) = ("the number of the eigenvalue", "less than n");
            return Err(Error::OutOfRange { what, value: i as f64, expected });
        }
        self.applied.map(|_| self.chunk.value(i, index)).ok_or(Error::NotFactored)
    }

    /// Writes the full row-major result of the last call for matrix `index`: `F(A)` or the
    /// gradient.
    ///
    /// # Errors
    /// [`Error::Length`] if it is not `n x n`, [`Error::OutOfRange`] if `index` is too large,
    /// [`Error::NotFactored`].
    pub fn matrix(&self, index: usize, out: &mut [T]) -> Result<(), Error> {
        self.check(index, out.len(), self.n() * self.n())?;
        self.applied.ok_or(Error::NotFactored)?;
        self.take(Form::Full, (index, 1), (out, self.n() * self.n()));
        Ok(())
    }

    /// Writes the full row-major results of the last call for all matrices, one after the other.
    ///
    /// # Errors
    /// [`Error::Length`] if the slice does not hold all the `n x n` matrices,
    /// [`Error::NotFactored`].
    pub fn matrices(&self, out: &mut [T]) -> Result<(), Error> {
        check_length("the matrices", out.len(), self.held * self.n() * self.n())?;
        self.applied.ok_or(Error::NotFactored)?;
        self.take(Form::Full, (0, self.held), (out, self.n() * self.n()));
        Ok(())
    }

    /// Writes the lower triangles of all results of the last call, row by row. A triangle starts
    /// every `stride` numbers.
    ///
    /// # Errors
    /// [`Error::Length`] if `stride` is less than `n (n + 1)/2` or `out` is too short;
    /// [`Error::NotFactored`].
    pub fn triangles(&self, out: &mut [T], stride: usize) -> Result<(), Error> {
        self.check_triangles(out.len(), stride)?;
        self.take(Form::Packed, (0, self.held), (out, stride));
        Ok(())
    }

    /// Sets the gradient with respect to `F(A)` of matrix `index` from the lower triangle of a
    /// symmetric matrix.
    ///
    /// # Errors
    /// As [`SpectralTape::matrix`].
    pub fn put_gradient(&mut self, index: usize, gradient: &[T]) -> Result<(), Error> {
        let size = self.n() * self.n();
        self.check(index, gradient.len(), size)?;
        self.applied.ok_or(Error::NotFactored)?;
        self.put_results(Form::Half(Triangle::Lower), (index, 1), (gradient, size));
        Ok(())
    }

    /// Sets the gradients with respect to `F(A)` of all matrices from their lower triangles, row by
    /// row. A triangle starts every `stride` numbers.
    ///
    /// # Errors
    /// As [`SpectralTape::triangles`].
    pub fn put_gradient_triangles(&mut self, gradients: &[T], stride: usize) -> Result<(), Error> {
        self.check_triangles(gradients.len(), stride)?;
        self.put_results(Form::Packed, (0, self.held), (gradients, stride));
        Ok(())
    }

    fn check_triangles(&self, found: usize, stride: usize) -> Result<(), Error> {
        self.applied.ok_or(Error::NotFactored)?;
        let triangle = self.n() * (self.n() + 1) / 2;
        check_length("a triangle", stride.min(triangle), triangle)?;
        let expected = (self.held - 1) * stride + triangle;
        check_length("the triangles", found.min(expected), expected)
    }

    fn put_results(&mut self, form: Form, which: (usize, usize), outside: (&[T], usize)) {
        let shape = self.chunk.shape();
        put(self.chunk.simd(), (shape, form), which, outside, self.results.numbers_mut());
    }

    pub(super) fn take(&self, form: Form, which: (usize, usize), outside: (&mut [T], usize)) {
        take(self.chunk.simd(), (self.chunk.shape(), form), which, self.results.numbers(), outside);
    }

    /// Maps the gradients with respect to `F(A)` to gradients with respect to `A`. The caller must
    /// set the gradients of all matrices first.
    ///
    /// # Errors
    /// [`Error::NotFactored`] before [`SpectralTape::apply`] succeeded; [`Error::Overflow`] if a
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

    /// Checks that the function is defined at the eigenvalues. `first` is the index of the first
    /// matrix in its batch.
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

    /// Returns the smallest and the largest eigenvalue of a matrix of the last decomposition.
    pub(crate) fn eigenvalue_range(&self, lane: usize) -> (T, T) {
        (self.extreme_eigenvalue(lane, |a, b| a < b), self.extreme_eigenvalue(lane, |a, b| a > b))
    }

    fn extreme_eigenvalue(&self, lane: usize, before: impl Fn(T, T) -> bool) -> T {
        let first = self.chunk.value(0, lane);
        (1..self.n())
            .map(|i| self.chunk.value(i, lane))
            .fold(first, |extreme, value| if before(value, extreme) { value } else { extreme })
    }

    /// Computes `F(A)`.
    pub(super) fn evaluate(
        &mut self,
        function: SpectralFunction<T>,
        first: usize,
        held: usize,
    ) -> Result<(), Error> {
        self.prepare(function);
        let Self { chunk, results, prepared, scratch, .. } = self;
        let (simd, shape) = (chunk.simd(), chunk.shape());
        let finite = T::evaluate(simd, Evaluate { shape, simd, function, chunk, results, prepared, scratch });
        if finite { Ok(()) } else { self.check_overflow(function, first, held) }
    }

    /// Prepares the eigenvalues for [`SpectralTape::differentiate`]. [`SpectralTape::evaluate`]
    /// does so too.
    pub(super) fn prepare(&mut self, function: SpectralFunction<T>) {
        let Self { chunk, prepared, .. } = self;
        let (simd, shape) = (chunk.simd(), chunk.shape());
        T::prepare_values(simd, PrepareValues { shape, function, chunk, prepared });
    }

    /// Replaces directions by `DF(A)[E]`.
    pub(super) fn differentiate(
        &mut self,
        function: SpectralFunction<T>,
        given: Given,
        first: usize,
        held: usize,
    ) -> Result<(), Error> {
        let Self { chunk, results, prepared, scratch, .. } = self;
        let (simd, shape) = (chunk.simd(), chunk.shape());
        let kernel = Differentiate { shape, simd, function, given, chunk, results, prepared, scratch };
        let finite = T::differentiate(simd, kernel);
        if finite { Ok(()) } else { self.check_overflow(function, first, held) }
    }

    /// Names the first result that is not finite. Lanes without a matrix hold the identity, where
    /// every function is finite, but their directions are arbitrary.
    fn check_overflow(&self, function: SpectralFunction<T>, first: usize, held: usize) -> Result<(), Error> {
        let (size, shape, results) = (self.n() * self.n(), self.chunk.shape(), self.results.numbers());
        let overflows = |lane: &usize| (0..size).any(|i| !results[shape.place(i, *lane)].is_finite());
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

/// Available entries of the directions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    /// All of them; they are symmetrised.
    Everything,
    /// Those on and below the diagonal of a symmetric matrix.
    LowerTriangle,
}

/// Returns whether all entries of all lanes are finite.
#[inline(always)]
fn all_finite<V: Lanes>(entries: &[V]) -> bool {
    // Four sums, because a single one would stall on its own latency.
    let mut sums = [V::zero(); 4];
    let mut groups = entries.chunks_exact(sums.len());
    for group in &mut groups {
        for (sum, &entry) in sums.iter_mut().zip(group) {
            *sum = entry.mul_add(V::zero(), *sum);
        }
    }
    for &entry in groups.remainder() {
        sums[0] = entry.mul_add(V::zero(), sums[0]);
    }
    let sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    !V::any(!sum.eq(V::zero()))
}

/// Fills the prepared eigenvalues.
pub struct PrepareValues<'a, T: Real> {
    shape: Shape,
    function: SpectralFunction<T>,
    chunk: &'a mut Chunk<T>,
    prepared: &'a mut Buffer<T>,
}

on_lanes_in_use!(PrepareValues, ());

impl<T: Real> PrepareValues<'_, T> {
    #[allow(clippy::extra_unused_type_parameters)] // the macro passes them to every kernel
    #[inline(always)]
    fn work<V: Lanes<Scalar = T>, P: Lanes<Scalar = T>>(self) {
        let (_, values) = self.chunk.vectors_and_values::<V>();
        for (prepared, &value) in self.prepared.vectors::<V>().iter_mut().zip(values) {
            *prepared = self.function.prepare(value);
        }
    }
}

/// Computes `F(A)` from the prepared eigenvalues. Returns whether all of it is finite.
pub struct Evaluate<'a, T: Real> {
    shape: Shape,
    simd: Simd,
    function: SpectralFunction<T>,
    chunk: &'a mut Chunk<T>,
    results: &'a mut Buffer<T>,
    prepared: &'a mut Buffer<T>,
    scratch: &'a mut Buffer<T>,
}

on_lanes_in_use!(Evaluate, bool);

impl<T: Real> Evaluate<'_, T> {
    #[allow(clippy::extra_unused_type_parameters)] // the macro passes them to every kernel
    #[inline(always)]
    fn work<V: Lanes<Scalar = T>, P: Lanes<Scalar = T>>(self) -> bool {
        if self.shape.in_lanes() { self.in_lanes::<V>() } else { self.in_rows() }
    }

    #[inline(always)]
    fn in_lanes<V: Lanes<Scalar = T>>(self) -> bool {
        let (n, prepared) = (self.shape.n, &self.prepared.vectors::<V>()[..self.shape.n]);
        let (u, _) = self.chunk.vectors_and_values::<V>();
        let out = &mut self.results.vectors::<V::Vector>()[..V::VECTORS * n * n];
        let scaled = &mut self.scratch.vectors::<V::Vector>()[..n * n];
        for (part, (u, out)) in u.chunks_exact(n * n).zip(out.chunks_exact_mut(n * n)).enumerate() {
            for k in 0..n {
                let f = self.function.value(prepared[k].part(part));
                for i in 0..n {
                    scaled[i * n + k] = u[i * n + k] * f;
                }
            }
            symmetric_product(n, scaled, u, out);
        }
        all_finite(out)
    }

    /// Computes the same for one matrix, with lanes along its rows.
    #[inline(always)]
    fn in_rows(self) -> bool {
        let n = self.shape.n;
        let scaled = &mut self.scratch.numbers_mut()[..n * n];
        let vectors = self.chunk.transposed_vectors();
        let out = &mut self.results.numbers_mut()[..n * n];
        let rows = scaled.chunks_exact_mut(n).zip(vectors.chunks_exact(n));
        for ((scaled, vector), &prepared) in rows.zip(self.prepared.numbers()) {
            let Array([f]) = self.function.value(Array([prepared]));
            for (scaled, &entry) in scaled.iter_mut().zip(vector) {
                *scaled = entry * f;
            }
        }
        multiply_symmetric(self.simd, Left::Transposed, Triangle::Lower, (n, n), scaled, vectors, out);
        mirror(n, out);
        out.iter().all(|entry| entry.is_finite())
    }
}

/// Replaces the directions by `DF(A)[E]`. Returns whether all of it is finite.
pub struct Differentiate<'a, T: Real> {
    shape: Shape,
    simd: Simd,
    function: SpectralFunction<T>,
    given: Given,
    chunk: &'a mut Chunk<T>,
    results: &'a mut Buffer<T>,
    prepared: &'a mut Buffer<T>,
    scratch: &'a mut Buffer<T>,
}

on_lanes_in_use!(Differentiate, bool);

impl<T: Real> Differentiate<'_, T> {
    #[inline(always)]
    fn work<V: Lanes<Scalar = T>, P: Lanes<Scalar = T>>(self) -> bool {
        if self.shape.in_lanes() { self.in_lanes::<V>() } else { self.in_rows::<P>() }
    }

    #[inline(always)]
    fn in_lanes<V: Lanes<Scalar = T>>(self) -> bool {
        let (n, prepared) = (self.shape.n, &self.prepared.vectors::<V>()[..self.shape.n]);
        let (u, values) = self.chunk.vectors_and_values::<V>();
        let directions = &mut self.results.vectors::<V::Vector>()[..V::VECTORS * n * n];
        let (product, rest) = self.scratch.vectors::<V::Vector>().split_at_mut(n * n);
        let transposed = &mut rest[..n * n];
        let half = V::Vector::splat(T::HALF);
        for (u, e) in u.chunks_exact(n * n).zip(directions.chunks_exact_mut(n * n)) {
            for i in 0..n {
                for j in 0..n {
                    transposed[j * n + i] = u[i * n + j];
                }
            }
            for i in 0..n {
                for j in 0..i {
                    if self.given == Given::Everything {
                        e[i * n + j] = e[i * n + j].mul_add(half, e[j * n + i] * half);
                    }
                    e[j * n + i] = e[i * n + j];
                }
            }
            congruence(n, transposed, e, product);
        }
        // Process all lanes at once, because each slope is a long chain of operations.
        for i in 0..n {
            for j in 0..=i {
                let slope = self.function.divided_difference(values[i], values[j], prepared[i], prepared[j]);
                for part in 0..V::VECTORS {
                    let e = &mut directions[part * n * n..(part + 1) * n * n];
                    e[i * n + j] = slope.part(part) * e[i * n + j];
                    e[j * n + i] = e[i * n + j];
                }
            }
        }
        for (u, e) in u.chunks_exact(n * n).zip(directions.chunks_exact_mut(n * n)) {
            congruence(n, u, e, product);
        }
        all_finite(directions)
    }

    /// Computes the same for one matrix, with lanes along its rows.
    #[inline(always)]
    fn in_rows<P: Lanes<Scalar = T>>(self) -> bool {
        let (simd, n) = (self.simd, self.shape.n);
        let (product, rest) = self.scratch.numbers_mut().split_at_mut(n * n);
        let (u, rest) = rest.split_at_mut(n * n);
        // Padded by one vector, so that loads at the end stay in bounds.
        let (values, prepared) = rest[..2 * (n + MAX_WIDTH)].split_at_mut(n + MAX_WIDTH);
        for i in 0..n {
            (values[i], prepared[i]) = (self.chunk.value(i, 0), self.prepared.numbers()[i]);
        }
        let vectors = self.chunk.transposed_vectors();
        let e = &mut self.results.numbers_mut()[..n * n];
        if self.given == Given::Everything {
            for i in 0..n {
                for j in 0..i {
                    e[i * n + j] = e[i * n + j].mul_add(T::HALF, e[j * n + i] * T::HALF);
                }
            }
        }
        mirror(n, e);
        transpose::<P>((n, n), (vectors, n), (&mut *u, n));
        multiply(simd, Left::Plain, (n, n, n), vectors, e, product);
        multiply_symmetric(simd, Left::Plain, Triangle::Lower, (n, n), product, u, e);
        for i in 0..n {
            let (value, own) = (P::splat(values[i]), P::splat(prepared[i]));
            for j in (0..=i).step_by(P::WIDTH) {
                let (other, others) = (P::load(&values[j..]), P::load(&prepared[j..]));
                let slope = self.function.divided_difference(value, other, own, others);
                let entries = &mut e[i * n + j..(i * n + j + P::WIDTH).min(i * n + i + 1)];
                (slope * P::load_partial(entries)).store_partial(entries);
            }
        }
        mirror(n, e);
        multiply(simd, Left::Plain, (n, n, n), u, e, product);
        multiply_symmetric(simd, Left::Plain, Triangle::Lower, (n, n), product, vectors, e);
        mirror(n, e);
        e.iter().all(|entry| entry.is_finite())
    }
}
