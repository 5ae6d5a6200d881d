//! Matrices too large for lanes: faer, one after the other, in f64, without threads.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Par, Spec, diag::DiagMut, mat::MatMut, mat::MatRef};

use crate::Error;

/// The eigensolver for one large matrix, with its memory.
pub(super) struct Large {
    n: usize,
    matrix: Vec<f64>,
    values: Vec<f64>,
    vectors: Vec<f64>,
    memory: MemBuffer,
}

impl Large {
    pub(super) fn new(n: usize) -> Self {
        let memory = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, Spec::default());
        Self {
            n,
            matrix: vec![0.0; n * n],
            values: vec![0.0; n],
            vectors: vec![0.0; n * n],
            memory: MemBuffer::new(memory),
        }
    }

    /// Decomposes the symmetric matrix whose entries `entry(i, j)` gives for `i >= j`.
    ///
    /// Returns the eigenvalues, ascending, and the eigenvectors as the columns of a row-major matrix.
    pub(super) fn decompose(
        &mut self,
        index: usize,
        entry: impl Fn(usize, usize) -> f64,
    ) -> Result<(&[f64], &[f64]), Error> {
        let n = self.n;
        for i in 0..n {
            for j in 0..=i {
                // The largest entry is near 1. Entries whose square underflows keep the iteration of faer from converging, and are nothing beside it.
                let value = if entry(i, j).abs() < 1e-140 { 0.0 } else { entry(i, j) };
                self.matrix[i * n + j] = value;
                self.matrix[j * n + i] = value;
            }
        }
        self_adjoint_evd(
            MatRef::from_row_major_slice(&self.matrix, n, n),
            DiagMut::from_slice_mut(&mut self.values),
            Some(MatMut::from_row_major_slice_mut(&mut self.vectors, n, n)),
            Par::Seq,
            MemStack::new(&mut self.memory),
            Spec::default(),
        )
        .map_err(|_| Error::EigenvaluesNotConverged {
            matrix: index,
            sweeps: crate::tolerance::SWEEPS_PER_EIGENVALUE * n,
        })?;
        Ok((&self.values, &self.vectors))
    }
}
