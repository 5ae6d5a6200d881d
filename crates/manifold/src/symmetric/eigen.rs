//! The batched eigensolver.

use super::chunk::{Chunk, Wanted, check_batch};
use crate::error::check_length;
use crate::simd::Simd;
use crate::{Error, Real};

/// Eigendecomposition `A = U diag(l) U^T` of batches of symmetric matrices of one size, with
/// scratch memory.
///
/// Each matrix occupies one vector lane, so a batch of at least [`SymmetricEigen::lanes`] matrices
/// runs at full speed. Nothing is allocated after construction. The result for a matrix does not
/// depend on the other matrices, its index in the batch, or the instruction set.
///
/// Accuracy: `|A - U diag(l) U^T|` and `|U^T U - I|` are a few `n` epsilons relative to `|A|`. The
/// error of an eigenvalue is relative to the largest one, as with every dense eigensolver.
///
/// ```
/// # fn main() -> Result<(), fedspd_manifold::Error> {
/// use fedspd_manifold::SymmetricEigen;
///
/// let mut eigen = SymmetricEigen::<f64>::new(2)?;
/// let (mut values, mut vectors) = ([0.0; 2], [0.0; 4]);
/// eigen.decompose(&[2.0, 1.0, 1.0, 2.0], &mut values, &mut vectors)?;
/// assert!((values[0] - 1.0).abs() < 1e-15 && (values[1] - 3.0).abs() < 1e-15);
/// # Ok(())
/// # }
/// ```
pub struct SymmetricEigen<T: Real> {
    chunk: Chunk<T>,
    order: Vec<usize>,
}

impl<T: Real> SymmetricEigen<T> {
    /// Creates a solver for `n x n` matrices on the instruction set of [`Simd::detect`].
    ///
    /// # Errors
    /// [`Error::Zero`] for `n = 0`, [`Error::SimdUnavailable`] if the requested instruction set is
    /// unavailable.
    pub fn new(n: usize) -> Result<Self, Error> {
        Self::with_simd(n, Simd::detect()?)
    }

    /// Creates a solver on a given instruction set.
    ///
    /// # Errors
    /// [`Error::Zero`] for `n = 0`.
    pub fn with_simd(n: usize, simd: Simd) -> Result<Self, Error> {
        Ok(Self { chunk: Chunk::new(n, simd)?, order: Vec::with_capacity(n) })
    }

    /// Returns the size of the matrices.
    pub fn n(&self) -> usize {
        self.chunk.n()
    }

    /// Returns the number of matrices decomposed at once.
    pub fn lanes(&self) -> usize {
        self.chunk.lanes()
    }

    /// Decomposes a batch.
    ///
    /// `matrices` holds contiguous matrices. `values` receives the eigenvalues of each in ascending
    /// order. `vectors` receives the eigenvectors of each as the columns of a row-major matrix.
    /// Rounding differences between `a_ij` and `a_ji` are averaged.
    ///
    /// # Errors
    /// [`Error::NotABatch`] or [`Error::Length`] for slices of the wrong length,
    /// [`Error::NotFinite`], [`Error::NotSymmetric`], and [`Error::EigenvaluesNotConverged`] (not
    /// seen on any finite matrix).
    pub fn decompose(&mut self, matrices: &[T], values: &mut [T], vectors: &mut [T]) -> Result<(), Error> {
        let n = self.chunk.n();
        let count = check_batch(n, matrices)?;
        check_length("eigenvalues", values.len(), count * n)?;
        check_length("eigenvectors", vectors.len(), count * n * n)?;
        for first in (0..count).step_by(self.chunk.lanes()) {
            let held = self.chunk.load(Wanted::Everything, matrices, first)?;
            for lane in 0..held {
                let matrix = first + lane;
                self.sort(lane);
                let Self { chunk, order } = self;
                for (value, &column) in values[matrix * n..].iter_mut().zip(order.iter()) {
                    *value = chunk.value(column, lane);
                }
                chunk.vectors_in_order(lane, order, &mut vectors[matrix * n * n..(matrix + 1) * n * n]);
            }
        }
        Ok(())
    }

    /// Computes only the eigenvalues, with the same bits as [`SymmetricEigen::decompose`], at about
    /// half its cost.
    ///
    /// # Errors
    /// As [`SymmetricEigen::decompose`].
    pub fn eigenvalues(&mut self, matrices: &[T], values: &mut [T]) -> Result<(), Error> {
        let n = self.chunk.n();
        let count = check_batch(n, matrices)?;
        check_length("eigenvalues", values.len(), count * n)?;
        for first in (0..count).step_by(self.chunk.lanes()) {
            let held = self.chunk.load(Wanted::Values, matrices, first)?;
            for lane in 0..held {
                self.sort(lane);
                for (value, &place) in values[(first + lane) * n..].iter_mut().zip(&self.order) {
                    *value = self.chunk.value(place, lane);
                }
            }
        }
        Ok(())
    }

    /// Writes the indices of the eigenvalues of a lane to `order`, in ascending order of the
    /// values.
    fn sort(&mut self, lane: usize) {
        let Self { chunk, order } = self;
        order.clear();
        order.extend(0..chunk.n());
        // Insertion sort: stable, in place, and n is small.
        for i in 1..chunk.n() {
            let mut j = i;
            while j > 0 && chunk.value(order[j], lane) < chunk.value(order[j - 1], lane) {
                order.swap(j, j - 1);
                j -= 1;
            }
        }
    }
}
