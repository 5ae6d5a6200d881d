//! Joint decomposition of a few matrices.

use std::marker::PhantomData;

use super::arrange::{self, Form};
use super::prepare::{Given, Prepare};
use super::ql::{self, Rotate, Rotations};
use super::{rows, tridiagonal};
use crate::dense::Triangle;
use crate::finite::check_finite;
use crate::simd::{Array, Buffer, Kernel, Lanes, Simd};
use crate::transpose::transpose;
use crate::{Error, Real, tolerance};

/// The eigendecompositions of one chunk of a batch, with the scratch memory of the solver.
///
/// Eigenvalues are in the solver's order. A spectral function uses all of them and does not need
/// them sorted.
pub(crate) struct Chunk<T: Real> {
    simd: Simd,
    lanes: usize,
    /// The number of lanes of one hardware vector.
    part: usize,
    shape: Shape,
    /// The eigenvectors, in the layout of [`Shape`].
    vectors: Buffer<T>,
    /// `n` eigenvalues in lanes, then scratch memory of the solver.
    values: Buffer<T>,
    /// Scratch for matrices in rows.
    scratch: Buffer<T>,
}

/// Memory layout of the matrices of a chunk.
///
/// Several matrices lie in lanes. Entry `i` of all matrices of a hardware vector is contiguous, and
/// one hardware vector follows the other. The data of one hardware vector then fit in the
/// first-level cache, up to about twenty rows. A single matrix lies in rows, with lanes along them.
/// Its eigenvectors are transposed, one per row.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) n: usize,
    /// The number of lanes in use: all of them, those of one hardware vector, or one.
    pub(crate) width: usize,
    /// The number of lanes in use of a hardware vector.
    part: usize,
}

impl Shape {
    /// Returns whether the matrices lie in lanes.
    #[inline(always)]
    pub(crate) fn in_lanes(self) -> bool {
        self.width > 1
    }

    /// Returns the position of an entry of the matrix in a lane.
    #[inline(always)]
    pub(crate) fn place(self, entry: usize, lane: usize) -> usize {
        (lane / self.part * self.n * self.n + entry) * self.part + lane % self.part
    }

    /// Returns the start of the matrix in a lane and the step between its entries.
    #[inline(always)]
    pub(crate) fn lane(self, lane: usize) -> (usize, usize) {
        (self.place(0, lane), self.part)
    }
}

/// Requested outputs of a decomposition. The eigenvalues have the same bits in both cases.
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
        let (lanes, part) = simd.run::<T, _>(Widths);
        let stride = n.next_multiple_of(part);
        Ok(Self {
            simd,
            lanes,
            part,
            shape: Shape { n, width: lanes, part },
            vectors: Buffer::new(n * stride, lanes),
            values: Buffer::new(n * (2 + ql::ROTATION_ROWS), lanes),
            // For a hardware vector of lanes: `d`, `e` and the scratch of the reduction. For a
            // matrix in rows: a second matrix and some rows.
            scratch: Buffer::new(n * part * (n + 3) + (n + ROWS_OF_SCRATCH) * stride, 1),
        })
    }

    pub(crate) fn n(&self) -> usize {
        self.shape.n
    }

    pub(crate) fn simd(&self) -> Simd {
        self.simd
    }

    pub(crate) fn lanes(&self) -> usize {
        self.lanes
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// Decomposes the matrices of a batch from `first`, as many as there are lanes or matrices
    /// left.
    ///
    /// Returns their number.
    pub(crate) fn load(&mut self, wanted: Wanted, matrices: &[T], first: usize) -> Result<usize, Error> {
        let size = self.n() * self.n();
        let held = self.lanes.min(matrices.len() / size - first);
        self.begin(held);
        let batch = &matrices[first * size..(first + held) * size];
        pack(self.simd, self.shape, batch, self.vectors.numbers_mut());
        if !self.prepare(Given::Everything) {
            check_symmetric(self.simd, self.n(), matrices, first..first + held)?;
        }
        self.decompose(wanted, first, held)?;
        Ok(held)
    }

    /// Prepares for up to as many matrices as there are lanes; [`Chunk::place`] then sets them.
    /// Fewer matrices use fewer lanes. A single matrix uses lanes along its rows.
    pub(crate) fn begin(&mut self, held: usize) {
        let width = match held {
            1 => 1,
            _ if held <= self.part => self.part,
            _ => self.lanes,
        };
        self.shape = Shape { width, part: self.part.min(width), ..self.shape };
    }

    /// Copies symmetric matrices, given by one triangle, into lanes starting at `first`.
    pub(crate) fn place(&mut self, first: usize, triangle: Triangle, matrices: &[T]) {
        let size = self.n() * self.n();
        let (form, lanes) = (Form::Half(triangle), (first, matrices.len() / size));
        arrange::put(self.simd, (self.shape, form), lanes, (matrices, size), self.vectors.numbers_mut());
    }

    /// Decomposes the `held` matrices that were placed. Errors count them from zero.
    pub(crate) fn decompose_placed(&mut self, held: usize) -> Result<(), Error> {
        let (n, shape) = (self.n(), self.shape);
        fill_up(shape, held, self.vectors.numbers_mut());
        if !self.prepare(Given::LowerTriangle) {
            let numbers = self.vectors.numbers();
            let entries = (0..held).flat_map(|lane| (0..n * n).map(move |i| (lane, i)));
            for (matrix, i) in entries.filter(|(_, i)| i % n <= i / n) {
                let (row, column, value) = (i / n, i % n, numbers[shape.place(i, matrix)].to_f64());
                if !value.is_finite() {
                    return Err(Error::NotFinite { matrix, row, column, value });
                }
            }
        }
        self.decompose(Wanted::Everything, 0, held)
    }

    fn prepare(&mut self, given: Given) -> bool {
        let Self { shape, vectors, values, scratch, .. } = self;
        T::prepare(self.simd, Prepare { shape: *shape, given, vectors, values, scratch })
    }

    /// Decomposes `held` prepared matrices. `first` is the index of the first one in its batch.
    fn decompose(&mut self, wanted: Wanted, first: usize, held: usize) -> Result<(), Error> {
        let Self { shape, vectors, values, scratch, .. } = self;
        let kernel = Decompose { shape: *shape, wanted, vectors, values, scratch };
        if !T::decompose(self.simd, kernel) {
            // Start of the first scratch vector.
            let unconverged = self.n() * self.shape.width;
            let lane = (0..held).find(|lane| self.values.numbers()[unconverged + lane] != T::ZERO);
            return Err(Error::EigenvaluesNotConverged {
                matrix: first + lane.unwrap_or(0),
                sweeps: sweeps(self.n()),
            });
        }
        let overflows = |lane: &usize| (0..self.n()).any(|i| !self.value(i, *lane).is_finite());
        match (0..held).find(overflows) {
            None => Ok(()),
            Some(lane) => Err(Error::TooLarge { operation: "an eigenvalue", matrix: first + lane }),
        }
    }

    /// Returns eigenvalue `i` of the matrix in `lane`.
    #[inline(always)]
    pub(crate) fn value(&self, i: usize, lane: usize) -> T {
        self.values.numbers()[i * self.shape.width + lane]
    }

    /// Writes the eigenvectors of the matrix in `lane` as the columns of a row-major matrix, in the
    /// given order.
    pub(crate) fn vectors_in_order(&self, lane: usize, order: &[usize], out: &mut [T]) {
        let (n, numbers) = (self.n(), self.vectors.numbers());
        for (row, entries) in out.chunks_exact_mut(n).enumerate() {
            for (entry, &column) in entries.iter_mut().zip(order) {
                let (row, column) = if self.shape.in_lanes() { (row, column) } else { (column, row) };
                *entry = numbers[self.shape.place(row * n + column, lane)];
            }
        }
    }

    /// Returns the eigenvectors of matrices in lanes, one hardware vector after the other, and the
    /// eigenvalues, as vectors.
    #[inline(always)]
    pub(crate) fn vectors_and_values<V: Lanes<Scalar = T>>(&mut self) -> (&[V::Vector], &[V]) {
        let n = self.n();
        (&self.vectors.vectors::<V::Vector>()[..V::VECTORS * n * n], &self.values.vectors::<V>()[..n])
    }

    /// Returns the transposed eigenvectors of a matrix in rows.
    #[inline(always)]
    pub(crate) fn transposed_vectors(&self) -> &[T] {
        &self.vectors.numbers()[..self.n() * self.n()]
    }
}

/// Rows of scratch beside a matrix: column indices, `q` and `1/h` of the reduction.
const ROWS_OF_SCRATCH: usize = 3;

/// Copies matrices into the layout of a chunk. Lanes without a matrix get the identity.
pub(crate) fn pack<T: Real>(simd: Simd, shape: Shape, matrices: &[T], target: &mut [T]) {
    let size = shape.n * shape.n;
    let count = matrices.len() / size;
    arrange::put(simd, (shape, Form::Full), (0, count), (matrices, size), target);
    fill_up(shape, count, target);
}

/// Fills lanes without a matrix with the identity.
fn fill_up<T: Real>(shape: Shape, held: usize, target: &mut [T]) {
    for lane in held..shape.width {
        for entry in 0..shape.n * shape.n {
            target[shape.place(entry, lane)] = if entry % (shape.n + 1) == 0 { T::ONE } else { T::ZERO };
        }
    }
}

fn sweeps(n: usize) -> usize {
    tolerance::SWEEPS_PER_EIGENVALUE * n
}

/// The total number of lanes, and that of a hardware vector.
struct Widths;

impl<T: Real> Kernel<T> for Widths {
    type Output = (usize, usize);
    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(self) -> (usize, usize) {
        (V::WIDTH, V::Vector::WIDTH)
    }
}

/// Runs `work` of a kernel with the lanes in use according to its [`Shape`]: one, those of a
/// hardware vector, or all of `V`. The second parameter is the hardware vector for lanes along
/// rows.
macro_rules! on_lanes_in_use {
    ($kernel:ident, $output:ty) => {
        impl<T: Real> Kernel<T> for $kernel<'_, T> {
            type Output = $output;
            #[inline(always)]
            fn run<V: Lanes<Scalar = T>>(self) -> $output {
                match self.shape.width {
                    1 => self.work::<Array<T, 1>, V::Vector>(),
                    width if width == V::Vector::WIDTH => self.work::<V::Vector, V::Vector>(),
                    _ => self.work::<V, V::Vector>(),
                }
            }
        }
    };
}
pub(crate) use on_lanes_in_use;

/// Decomposes the prepared matrices. Returns whether all converged. If not, the first row of
/// scratch is nonzero in the lanes that did not.
pub struct Decompose<'a, T: Real> {
    shape: Shape,
    wanted: Wanted,
    vectors: &'a mut Buffer<T>,
    values: &'a mut Buffer<T>,
    scratch: &'a mut Buffer<T>,
}

on_lanes_in_use!(Decompose, bool);

impl<T: Real> Decompose<'_, T> {
    /// Runs with lanes `V` across matrices and lanes `P` along rows.
    #[inline(always)]
    fn work<V: Lanes<Scalar = T>, P: Lanes<Scalar = T>>(self) -> bool {
        if self.shape.in_lanes() { self.in_lanes::<V>() } else { self.in_rows::<P>() }
    }

    /// Decomposes one matrix per lane. Reduction and rotations process one hardware vector after
    /// the other. The QL iteration processes all at once, because it waits for the divider.
    #[inline(always)]
    fn in_lanes<V: Lanes<Scalar = T>>(self) -> bool {
        let (n, wanted) = (self.shape.n, self.wanted);
        let z = &mut self.vectors.vectors::<V::Vector>()[..V::VECTORS * n * n];
        let (unscale, numbers) = (unscale::<V>(n, self.values), self.values.numbers_mut());
        for (part, z) in z.chunks_exact_mut(n * n).enumerate() {
            let (d, rest) = self.scratch.vectors::<V::Vector>().split_at_mut(n);
            let (e, scratch) = rest.split_at_mut(n);
            tridiagonal::tridiagonalise(n, z, d, e, scratch, wanted);
            for i in 0..n {
                d[i].store(&mut numbers[i * V::WIDTH + part * V::Vector::WIDTH..]);
                e[i].store(&mut numbers[(n + i) * V::WIDTH + part * V::Vector::WIDTH..]);
            }
        }
        let converged = diagonalise::<V>(n, unscale, self.values, &mut InLanes { n, wanted, z });
        // A rotation by the identity may turn -0 into +0. Whether a lane gets one depends on its
        // neighbours. Adding zero makes every zero positive.
        for entry in z {
            *entry = *entry + V::Vector::zero();
        }
        converged
    }

    /// Decomposes one matrix, with lanes along its rows.
    #[inline(always)]
    fn in_rows<P: Lanes<Scalar = T>>(self) -> bool {
        let (n, wanted) = (self.shape.n, self.wanted);
        let stride = n.next_multiple_of(P::WIDTH);
        let unscale = unscale::<Array<T, 1>>(n, self.values);
        let (z, rest) = self.scratch.numbers_mut().split_at_mut(n * stride);
        let (indices, rest) = rest.split_at_mut(stride);
        let (q, inverse_h) = rest.split_at_mut(stride);
        let a = &mut self.vectors.numbers_mut()[..n * stride];
        let (d, e) = self.values.numbers_mut().split_at_mut(n);
        rows::tridiagonalise::<P>(n, stride, a, inverse_h, e, indices, q);
        for i in 0..n {
            d[i] = a[i * stride + i];
        }
        if wanted == Wanted::Everything {
            rows::accumulate::<P>(n, stride, a, inverse_h, z);
            transpose::<P>((n, n), (&*z, stride), (&mut *a, stride));
        }
        let lanes_along_rows = PhantomData::<P>;
        let eigenvectors = &mut InRows { wanted, stride, transposed: &mut *a, lanes_along_rows };
        let converged = diagonalise(n, unscale, self.values, eigenvectors);
        // Make every zero positive, as in lanes, and remove the padding.
        for j in (0..n * stride).step_by(P::WIDTH) {
            (P::load(&a[j..]) + P::zero()).store(&mut a[j..]);
        }
        for i in 1..n {
            a.copy_within(i * stride..i * stride + n, i * n);
        }
        converged
    }
}

/// Eigenvectors in lanes, one hardware vector after the other.
struct InLanes<'a, P> {
    n: usize,
    wanted: Wanted,
    z: &'a mut [P],
}

impl<V: Lanes> Rotate<V> for InLanes<'_, V::Vector> {
    #[inline(always)]
    fn rotate(&mut self, rotations: &Rotations<'_, V>) {
        if self.wanted == Wanted::Everything {
            for (part, z) in self.z.chunks_exact_mut(self.n * self.n).enumerate() {
                rotations.apply(part, z);
            }
        }
    }
}

/// The transposed eigenvectors of one matrix, in padded rows.
struct InRows<'a, P: Lanes> {
    wanted: Wanted,
    stride: usize,
    transposed: &'a mut [P::Scalar],
    lanes_along_rows: PhantomData<P>,
}

impl<P: Lanes> Rotate<Array<P::Scalar, 1>> for InRows<'_, P> {
    #[inline(always)]
    fn rotate(&mut self, rotations: &Rotations<'_, Array<P::Scalar, 1>>) {
        if self.wanted == Wanted::Everything {
            rotations.apply_to_rows::<P>(self.stride, self.transposed);
        }
    }
}

/// Returns the inverse of the scale of the matrices, in two factors.
#[inline(always)]
fn unscale<V: Lanes>(n: usize, values: &mut Buffer<V::Scalar>) -> [V; 2] {
    let vectors = values.vectors::<V>();
    [vectors[n], vectors[n + 1]]
}

/// Runs the QL iteration on the diagonals and off-diagonals. Scales the eigenvalues back and marks
/// the lanes that did not converge. Returns whether all converged.
#[inline(always)]
fn diagonalise<V: Lanes>(
    n: usize,
    unscale: [V; 2],
    values: &mut Buffer<V::Scalar>,
    eigenvectors: &mut impl Rotate<V>,
) -> bool {
    let (d, rest) = values.vectors::<V>().split_at_mut(n);
    let (e, scratch) = rest.split_at_mut(n);
    let unconverged = ql::diagonalise(d, e, Rotations::new(n, scratch), sweeps(n), eigenvectors);
    for value in d {
        *value = *value * unscale[0] * unscale[1] + V::zero();
    }
    let Some(mask) = unconverged else { return true };
    e[0] = V::select(mask, V::one(), V::zero());
    false
}

/// Checks that a slice is a batch of `n x n` matrices and returns their number.
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
/// [`Error::NotFinite`] or [`Error::NotSymmetric`] for the first invalid matrix.
///
/// # Panics
/// If the range exceeds the batch.
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
