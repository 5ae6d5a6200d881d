//! Labelled trials of SPD matrices.

use fedspd_manifold::simd::Simd;
use fedspd_manifold::{Real, check_symmetric};

use crate::{Error, check};

/// Labelled trials, each with one or more symmetric `n x n` matrices.
#[derive(Clone, Debug, PartialEq)]
pub struct SpdTrials<T> {
    n: usize,
    inputs: usize,
    classes: usize,
    matrices: Vec<T>,
    labels: Vec<usize>,
}

impl<T: Real> SpdTrials<T> {
    /// Creates trials of `inputs` row-major `n x n` matrices each, all in one slice, with labels
    /// below `classes`.
    ///
    /// Rounding differences between `a_ij` and `a_ji` are averaged.
    ///
    /// # Errors
    /// [`Error::Length`] if the lengths do not match, [`Error::Label`], and [`Error::Trial`] if a
    /// matrix is not finite or not symmetric.
    pub fn new(
        n: usize,
        inputs: usize,
        classes: usize,
        mut matrices: Vec<T>,
        labels: Vec<usize>,
    ) -> Result<Self, Error> {
        check("the size of the matrices", n, n > 0, || "at least 1".into())?;
        check("inputs", inputs, inputs > 0, || "at least 1".into())?;
        let expected = [inputs, n, n].iter().fold(labels.len(), |size, &factor| size.saturating_mul(factor));
        let (what, found) = ("the matrices", matrices.len());
        if found != expected {
            return Err(Error::Length { what, expected, found });
        }
        if let Some((trial, &label)) = labels.iter().enumerate().find(|(_, label)| **label >= classes) {
            return Err(Error::Label { trial, label, classes });
        }
        let simd = Simd::detect()?;
        for (index, matrix) in matrices.chunks_exact_mut(n * n).enumerate() {
            check_symmetric(simd, n, matrix, 0..1).map_err(|source| Error::Trial {
                trial: index / inputs,
                input: index % inputs,
                source,
            })?;
            for i in 0..n {
                for j in 0..i {
                    let mean = matrix[i * n + j] * T::HALF + matrix[j * n + i] * T::HALF;
                    matrix[i * n + j] = mean;
                    matrix[j * n + i] = mean;
                }
            }
        }
        Ok(Self { n, inputs, classes, matrices, labels })
    }

    /// Returns the size of the matrices.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Returns the number of matrices per trial.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Returns the number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Returns the class of each trial.
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// Returns all matrices, trial by trial.
    pub fn matrices(&self) -> &[T] {
        &self.matrices
    }

    pub(super) fn into_parts(self) -> (Vec<T>, Vec<usize>) {
        (self.matrices, self.labels)
    }
}
