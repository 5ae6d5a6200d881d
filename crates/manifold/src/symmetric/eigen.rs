//! The batched eigensolver: matrices in, eigenvalues and eigenvectors out.

use super::chunk::{Chunk, Wanted, check_batch};
use crate::error::check_length;
use crate::simd::Simd;
use crate::{Error, Real};

/// Eigendecomposition `A = U diag(l) U^T` of batches of symmetric matrices of one size, with its scratch memory.
///
/// One matrix lives in one vector lane, so a batch of at least [`SymmetricEigen::lanes`] matrices runs at full speed.
/// Nothing is allocated after construction. The result for a matrix depends neither on its neighbours in the batch,
/// nor on its place, nor on the instruction set.
///
/// Accuracy: `|A - U diag(l) U^T|` and `|U^T U - I|` are a few `n` epsilons relative to `|A|`. The error of an eigenvalue is
/// relative to the largest one, as with every dense eigensolver.
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
    /// A solver for `n x n` matrices on the instruction set that [`Simd::detect`] gives.
    ///
    /// # Errors
    /// [`Error::Zero`] for `n = 0`, [`Error::SimdUnavailable`] if an unavailable instruction set is asked for.
    pub fn new(n: usize) -> Result<Self, Error> {
        Self::with_simd(n, Simd::detect()?)
    }

    /// A solver on a given instruction set.
    ///
    /// # Errors
    /// [`Error::Zero`] for `n = 0`.
    pub fn with_simd(n: usize, simd: Simd) -> Result<Self, Error> {
        Ok(Self { chunk: Chunk::new(n, simd)?, order: Vec::with_capacity(n) })
    }

    /// The size of the matrices.
    pub fn n(&self) -> usize {
        self.chunk.n()
    }

    /// How many matrices are decomposed at once.
    pub fn lanes(&self) -> usize {
        self.chunk.lanes()
    }

    /// Decomposes a batch.
    ///
    /// `matrices` holds the matrices one after the other, `values` gets the eigenvalues of each in ascending order,
    /// `vectors` the eigenvectors of each as the columns of a row-major matrix. Differences between `a_ij` and
    /// `a_ji` of the size of rounding are averaged.
    ///
    /// # Errors
    /// [`Error::NotABatch`] or [`Error::Length`] for slices that do not fit, [`Error::NotFinite`],
    /// [`Error::NotSymmetric`], and [`Error::EigenvaluesNotConverged`] (not seen on any finite matrix).
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

    /// The eigenvalues alone, with the bits that [`SymmetricEigen::decompose`] gives them, at about half its cost.
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

    /// Writes the places of the eigenvalues of a lane to `order`, ascending.
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
