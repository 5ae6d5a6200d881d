//! As many matrices as there are lanes, decomposed together.

use super::ql::{self, Rotations};
use super::tridiagonal;
use crate::finite::check_finite;
use crate::simd::{Array, Buffer, Kernel, Lanes, Simd, as_numbers, elementary::constant};
use crate::{Error, Real, tolerance};

/// The eigendecompositions of one chunk of a batch, in lanes, with the scratch memory of the solver.
///
/// Eigenvalues are in the order in which the solver finds them: what is built from all of them (a spectral function)
/// does not need them sorted.
pub(crate) struct Chunk<T: Real> {
    n: usize,
    simd: Simd,
    lanes: usize,
    /// The number of lanes in use: all of them, or one.
    width: usize,
    /// `n^2` eigenvectors, `n` eigenvalues, then scratch of the solver.
    work: Buffer<T>,
}

/// Which entries of a matrix are there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Given {
    /// All of them, to be checked for symmetry.
    Everything,
    /// Those on and below the diagonal.
    LowerTriangle,
}

/// What a decomposition is for. The eigenvalues have the same bits either way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Eigenvalues only, at about half the cost.
    Values,
    /// Eigenvalues and eigenvectors.
    Everything,
}

impl<T: Real> Chunk<T> {
    pub(crate) fn new(n: usize, simd: Simd) -> Result<Self, Error> {
        if n == 0 {
            return Err(Error::Zero { what: "the size of the matrices" });
        }
        if n > tolerance::LARGEST_MATRIX {
            let (what, expected) = ("the size of the matrices", "at most 16384");
            return Err(Error::OutOfRange { what, value: n as f64, expected });
        }
        let lanes = simd.run::<T, _>(Width);
        Ok(Self { n, simd, lanes, width: lanes, work: Buffer::new(n * (n + 2 + ql::ROTATION_ROWS), lanes) })
    }

    pub(crate) fn n(&self) -> usize {
        self.n
    }

    pub(crate) fn simd(&self) -> Simd {
        self.simd
    }

    pub(crate) fn lanes(&self) -> usize {
        self.lanes
    }

    /// Decomposes the matrices of a batch from `first` on, as many as there are lanes or matrices left.
    ///
    /// Returns how many they are.
    pub(crate) fn load(&mut self, matrices: &[T], first: usize) -> Result<usize, Error> {
        self.load_into(self.lanes, Wanted::Everything, matrices, first)
    }

    /// As [`Chunk::load`], but a matrix that is alone gets the arithmetic units to itself: one lane, the same bits, half the time.
    pub(crate) fn load_narrow(
        &mut self,
        wanted: Wanted,
        matrices: &[T],
        first: usize,
    ) -> Result<usize, Error> {
        let alone = (first + 1) * self.n * self.n == matrices.len();
        self.load_into(if alone { 1 } else { self.lanes }, wanted, matrices, first)
    }

    fn load_into(
        &mut self,
        width: usize,
        wanted: Wanted,
        matrices: &[T],
        first: usize,
    ) -> Result<usize, Error> {
        self.width = width;
        let held = pack(self.n, &matrices[first * self.n * self.n..], width, self.work.numbers_mut());
        if !self.prepare(Given::Everything) {
            check_symmetric(self.simd, self.n, matrices, first..first + held)?;
        }
        self.decompose(wanted, first, held)?;
        Ok(held)
    }

    /// Makes room for up to as many matrices as there are lanes, to be placed by [`Chunk::place`]; a matrix that is alone gets the
    /// arithmetic units to itself.
    pub(crate) fn begin(&mut self, held: usize) {
        self.width = if held == 1 { 1 } else { self.lanes };
    }

    /// The number of lanes in use: all of them, or one.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Puts the lower triangle of a row-major matrix into a lane.
    pub(crate) fn place(&mut self, lane: usize, matrix: &[T]) {
        place_triangle(self.n, matrix, self.width, lane, self.work.numbers_mut());
    }

    /// Decomposes the `held` matrices that were placed; errors count them from zero.
    pub(crate) fn decompose_placed(&mut self, held: usize) -> Result<(), Error> {
        let (n, width) = (self.n, self.width);
        if held < width {
            for (i, row) in self.work.numbers_mut()[..n * n * width].chunks_exact_mut(width).enumerate() {
                row[held..].fill(if i % (n + 1) == 0 { T::ONE } else { T::ZERO });
            }
        }
        if !self.prepare(Given::LowerTriangle) {
            let numbers = self.work.numbers();
            let entries = (0..held).flat_map(|lane| (0..n * n).map(move |i| (lane, i)));
            for (matrix, i) in entries.filter(|(_, i)| i % n <= i / n) {
                let (row, column, value) = (i / n, i % n, numbers[i * width + matrix].to_f64());
                if !value.is_finite() {
                    return Err(Error::NotFinite { matrix, row, column, value });
                }
            }
        }
        self.decompose(Wanted::Everything, 0, held)
    }

    fn prepare(&mut self, given: Given) -> bool {
        T::prepare(self.simd, Prepare { n: self.n, alone: self.width == 1, given, work: &mut self.work })
    }

    /// Decomposes what was prepared: `held` matrices, of which the first is number `first` of its batch.
    fn decompose(&mut self, wanted: Wanted, first: usize, held: usize) -> Result<(), Error> {
        let alone = self.width == 1;
        if !T::decompose(self.simd, Decompose { n: self.n, alone, wanted, work: &mut self.work }) {
            let unconverged = self.scratch_row();
            let lane = (0..held).find(|lane| self.work.numbers()[unconverged + lane] != T::ZERO);
            return Err(Error::EigenvaluesNotConverged {
                matrix: first + lane.unwrap_or(0),
                sweeps: sweeps(self.n),
            });
        }
        let overflows = |lane: &usize| (0..self.n).any(|i| !self.value(i, *lane).is_finite());
        match (0..held).find(overflows) {
            None => Ok(()),
            Some(lane) => Err(Error::TooLarge { operation: "an eigenvalue", matrix: first + lane }),
        }
    }

    /// Where the first vector of scratch begins.
    fn scratch_row(&self) -> usize {
        self.n * (self.n + 1) * self.width
    }

    /// Eigenvalue `i` of the matrix in `lane`.
    #[inline(always)]
    pub(crate) fn value(&self, i: usize, lane: usize) -> T {
        self.work.numbers()[(self.n * self.n + i) * self.width + lane]
    }

    /// Entry `row` of eigenvector `column` of the matrix in `lane`.
    #[inline(always)]
    pub(crate) fn vector(&self, row: usize, column: usize, lane: usize) -> T {
        self.work.numbers()[(row * self.n + column) * self.width + lane]
    }

    /// The eigenvectors (columns of row-major matrices) and the eigenvalues, as vectors.
    #[inline(always)]
    pub(crate) fn vectors_and_values<V: Lanes<Scalar = T>>(&mut self) -> (&[V], &[V]) {
        let (vectors, rest) = self.work.vectors::<V>().split_at(self.n * self.n);
        (vectors, &rest[..self.n])
    }
}

/// Moves matrices into lanes: entry `i` of matrix `lane` goes to place `i * lanes + lane`. Lanes without a matrix get the
/// identity. Returns how many have one.
pub(crate) fn pack<T: Real>(n: usize, matrices: &[T], lanes: usize, target: &mut [T]) -> usize {
    let size = n * n;
    let held = lanes.min(matrices.len() / size);
    for (i, row) in target[..size * lanes].chunks_exact_mut(lanes).enumerate() {
        for (lane, place) in row[..held].iter_mut().enumerate() {
            *place = matrices[lane * size + i];
        }
        row[held..].fill(if i % (n + 1) == 0 { T::ONE } else { T::ZERO });
    }
    held
}

/// Puts the lower triangle of a row-major matrix into a lane: entry `i` goes to place `i * lanes + lane`.
pub(crate) fn place_triangle<T: Real>(n: usize, matrix: &[T], lanes: usize, lane: usize, target: &mut [T]) {
    for (i, row) in matrix[..n * n].chunks_exact(n).enumerate() {
        for (j, &entry) in row[..=i].iter().enumerate() {
            target[(i * n + j) * lanes + lane] = entry;
        }
    }
}

fn sweeps(n: usize) -> usize {
    tolerance::SWEEPS_PER_EIGENVALUE * n
}

/// The number of lanes.
struct Width;

impl<T: Real> Kernel<T> for Width {
    type Output = usize;
    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(self) -> usize {
        V::WIDTH
    }
}

/// Checks that all lanes are finite and symmetric, averages the triangles into the lower one, and scales each matrix
/// by a power of two (exactly) so that its largest entry lies in `[1, 2)`. The inverse of the scale is left in the first
/// two rows of scratch, as two factors because it may exceed the range of the type.
pub struct Prepare<'a, T: Real> {
    n: usize,
    alone: bool,
    given: Given,
    work: &'a mut Buffer<T>,
}

impl<T: Real> Kernel<T> for Prepare<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(self) -> bool {
        if self.alone { self.prepare::<Array<T, 1>>() } else { self.prepare::<V>() }
    }
}

impl<T: Real> Prepare<'_, T> {
    #[inline(always)]
    fn prepare<V: Lanes<Scalar = T>>(self) -> bool {
        let n = self.n;
        let (a, rest) = self.work.vectors::<V>().split_at_mut(n * n);
        let (mut largest, mut asymmetry, mut not_finite) = (V::zero(), V::zero(), V::zero());
        for i in 0..n {
            for j in 0..=i {
                let lower = a[i * n + j];
                let upper = if self.given == Given::Everything { a[j * n + i] } else { lower };
                // Zero times a number is zero, times NaN or infinity it is NaN.
                not_finite = lower.mul_add(V::zero(), upper * V::zero()) + not_finite;
                largest = lower.abs().max(upper.abs()).max(largest);
                asymmetry = (lower - upper).abs().max(asymmetry);
                let mean = lower.mul_add(constant(0.5), upper * constant(0.5));
                // Half of a subnormal number may not be representable.
                a[i * n + j] = V::select(lower.eq(upper), lower, mean);
            }
        }
        let allowed = largest * V::splat(T::from_f64(tolerance::SYMMETRY) * T::EPSILON);
        if V::any(!asymmetry.le(allowed)) || V::any(!not_finite.eq(V::zero())) {
            return false;
        }

        let largest = V::select(largest.eq(V::zero()), V::one(), largest);
        let subnormal = largest.lt(V::splat(T::MIN_POSITIVE));
        let shift = constant::<V>(f64::from(T::MANTISSA_BITS + 2));
        let normal = V::select(subnormal, largest * shift.exp2_of_integer(), largest);
        let bias = constant::<V>(f64::from(1 - T::EXPONENTS.0));
        let exponent = normal.biased_exponent() - bias - V::select(subnormal, shift, V::zero());
        let round = V::splat(T::ROUND_TO_INTEGER);
        let half = exponent.mul_add(constant(0.5), round) - round;
        let (first, second) = ((-half).exp2_of_integer(), (half - exponent).exp2_of_integer());
        for i in 0..n {
            for entry in &mut a[i * n..=i * n + i] {
                *entry = *entry * first * second;
            }
        }
        rest[n] = half.exp2_of_integer();
        rest[n + 1] = (exponent - half).exp2_of_integer();
        true
    }
}

/// Decomposes the prepared matrices. Returns whether all converged; if not, the first row of scratch is not zero where not.
pub struct Decompose<'a, T: Real> {
    n: usize,
    alone: bool,
    wanted: Wanted,
    work: &'a mut Buffer<T>,
}

impl<T: Real> Kernel<T> for Decompose<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(self) -> bool {
        if self.alone { self.decompose_alone::<V>() } else { self.decompose::<V>() }
    }
}

impl<T: Real> Decompose<'_, T> {
    #[inline(always)]
    fn decompose<V: Lanes<Scalar = T>>(self) -> bool {
        let (n, wanted) = (self.n, self.wanted);
        let (mut parts, _) = Parts::new(n, self.work.vectors::<V>());
        tridiagonal::tridiagonalise(n, parts.z, parts.d, parts.e, parts.scratch, wanted);
        let Parts { z, d, e, scratch, .. } = &mut parts;
        let unconverged = ql::diagonalise(d, e, Rotations::new(n, scratch), sweeps(n), |rotations| {
            if wanted == Wanted::Everything {
                rotations.apply(z);
            }
        });
        parts.finish(unconverged)
    }

    /// One matrix in one lane; the eigenvectors are rotated with lanes across their rows.
    #[inline(always)]
    fn decompose_alone<V: Lanes<Scalar = T>>(self) -> bool {
        let (n, wanted) = (self.n, self.wanted);
        let (mut parts, rest) = Parts::new(n, self.work.vectors::<Array<T, 1>>());
        tridiagonal::tridiagonalise(n, parts.z, parts.d, parts.e, parts.scratch, wanted);
        let Parts { z, d, e, scratch, .. } = &mut parts;
        // The memory is for a matrix in every lane, so there is room for a second copy of this one.
        let stride = n.next_multiple_of(V::WIDTH);
        let transposed = &mut as_numbers(rest)[..n * stride];
        let vectors = wanted == Wanted::Everything;
        if vectors {
            for i in 0..n {
                for j in 0..n {
                    transposed[j * stride + i] = z[i * n + j].0[0];
                }
            }
        }
        let unconverged = ql::diagonalise(d, e, Rotations::new(n, scratch), sweeps(n), |rotations| {
            if vectors {
                rotations.apply_transposed::<V>(transposed, stride);
            }
        });
        if vectors {
            for i in 0..n {
                for j in 0..n {
                    z[i * n + j] = Array([transposed[j * stride + i]]);
                }
            }
        }
        parts.finish(unconverged)
    }
}

/// The memory of a decomposition.
struct Parts<'a, V> {
    n: usize,
    z: &'a mut [V],
    d: &'a mut [V],
    e: &'a mut [V],
    scratch: &'a mut [V],
    /// The inverse of the scale of the matrices, in two factors.
    unscale: (V, V),
}

impl<'a, V: Lanes> Parts<'a, V> {
    /// Divides the memory, and returns what is left of it.
    #[inline(always)]
    fn new(n: usize, work: &'a mut [V]) -> (Self, &'a mut [V]) {
        let (z, rest) = work.split_at_mut(n * n);
        let (d, rest) = rest.split_at_mut(n);
        let unscale = (rest[0], rest[1]);
        let (e, rest) = rest.split_at_mut(n);
        let (scratch, rest) = rest.split_at_mut(ql::ROTATION_ROWS * n);
        (Self { n, z, d, e, scratch, unscale }, rest)
    }

    /// Scales the eigenvalues back and marks the lanes that did not converge; returns whether there are none.
    #[inline(always)]
    fn finish(self, unconverged: Option<V::Mask>) -> bool {
        // A rotation by the identity may turn -0 into +0, and whether a lane sees one depends on its neighbours:
        // adding zero makes every zero positive.
        for entry in &mut self.z[..self.n * self.n] {
            *entry = *entry + V::zero();
        }
        for value in self.d {
            *value = *value * self.unscale.0 * self.unscale.1 + V::zero();
        }
        let Some(mask) = unconverged else { return true };
        self.e[0] = V::select(mask, V::one(), V::zero());
        false
    }
}

/// Checks that a slice is a batch of `n x n` matrices and returns how many.
pub(crate) fn check_batch<T: Real>(n: usize, matrices: &[T]) -> Result<usize, Error> {
    if matrices.is_empty() {
        return Err(Error::Zero { what: "the number of matrices" });
    }
    if !matrices.len().is_multiple_of(n * n) {
        return Err(Error::NotABatch { n, found: matrices.len() });
    }
    Ok(matrices.len() / (n * n))
}

/// Checks that the given matrices of a batch are finite and symmetric, up to rounding.
///
/// # Errors
/// [`Error::NotFinite`] or [`Error::NotSymmetric`], for the first matrix at fault.
///
/// # Panics
/// If there are fewer matrices.
pub fn check_symmetric<T: Real>(
    simd: Simd,
    n: usize,
    matrices: &[T],
    which: std::ops::Range<usize>,
) -> Result<(), Error> {
    for index in which {
        let matrix = &matrices[index * n * n..(index + 1) * n * n];
        check_finite(simd, index, n, matrix)?;
        let largest =
            matrix.iter().fold(T::ZERO, |largest, x| if x.abs() > largest { x.abs() } else { largest });
        let tolerance = T::from_f64(tolerance::SYMMETRY) * T::EPSILON * largest;
        let mut worst = (T::ZERO, 0, 0);
        for i in 0..n {
            for j in 0..i {
                let difference = (matrix[i * n + j] - matrix[j * n + i]).abs();
                if difference > worst.0 {
                    worst = (difference, i, j);
                }
            }
        }
        let (difference, row, column) = worst;
        if difference > tolerance {
            return Err(Error::NotSymmetric {
                matrix: index,
                row,
                column,
                difference: difference.to_f64(),
                tolerance: tolerance.to_f64(),
            });
        }
    }
    Ok(())
}
