//! Covariances of trials.

use super::{Cause, Extent, Quality};
use crate::{About, Error};

/// One or several covariances for each trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Covariances {
    /// Classes, channels and origins.
    pub about: About,
    /// The name of each matrix of a trial, such as `8-32 Hz, 0-3 s`.
    pub inputs: Vec<String>,
    /// Trial by trial, input by input.
    matrices: Vec<f64>,
}

impl Covariances {
    /// Creates covariances from matrices in the order trial by trial, input by input.
    ///
    /// # Errors
    /// [`Error::Length`] if the number of entries does not match the origins, [`Error::Label`] for
    /// a label beyond the classes.
    pub fn new(about: About, inputs: Vec<String>, matrices: Vec<f64>) -> Result<Self, Error> {
        let size = inputs.len() * about.channels.len().pow(2);
        let trials = matrices.len().checked_div(size).unwrap_or(0);
        if trials * size != matrices.len() {
            let expected = about.origins.len() * size;
            return Err(Error::Length {
                what: "entries of all covariances",
                expected,
                found: matrices.len(),
            });
        }
        about.check(trials)?;
        Ok(Self { about, inputs, matrices })
    }

    /// The number of trials.
    pub fn len(&self) -> usize {
        self.about.origins.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All matrices: trial by trial, input by input.
    pub fn matrices(&self) -> &[f64] {
        &self.matrices
    }

    pub(super) fn matrices_mut(&mut self) -> &mut [f64] {
        &mut self.matrices
    }

    /// Returns the matrices, and drops everything else.
    pub fn into_matrices(self) -> Vec<f64> {
        self.matrices
    }

    /// The range of a matrix within all entries.
    pub(super) fn range(&self, trial: usize, input: usize) -> std::ops::Range<usize> {
        let size = self.about.channels.len().pow(2);
        let start = (trial * self.inputs.len() + input) * size;
        start..start + size
    }

    /// The matrix of a trial and input.
    pub fn matrix(&self, trial: usize, input: usize) -> &[f64] {
        &self.matrices[self.range(trial, input)]
    }

    /// Measures the quality of all matrices, in their order.
    ///
    /// # Errors
    /// [`Error::Geometry`] if a matrix is not symmetric.
    pub fn quality(&self) -> Result<Vec<Quality>, Error> {
        Quality::of(self.about.channels.len(), &self.matrices)
    }

    /// The name of a matrix in errors: its trial, and its input if there are several.
    pub(super) fn place(&self, trial: usize, input: usize) -> String {
        let name = self.about.name(trial);
        if self.inputs.len() == 1 { name } else { format!("{name}, {}", self.inputs[input]) }
    }

    /// Checks that every matrix is positive definite. `extents` holds the extent of each input; it
    /// is empty if unknown.
    ///
    /// # Errors
    /// For the first that is not: [`Error::NotFiniteCovariance`] with the trial, the input and the
    /// channels, or [`Error::Deficient`] with the trial, the input, the rank, the smallest
    /// eigenvalue and the likely cause.
    pub fn check(&self, qualities: &[Quality], extents: &[Extent]) -> Result<(), Error> {
        let n = self.about.channels.len();
        let Some(first) = qualities.iter().position(|quality| !quality.is_fit(n)) else { return Ok(()) };
        let (trial, input) = (first / self.inputs.len(), first % self.inputs.len());
        let (place, matrix, channels) =
            (self.place(trial, input), self.matrix(trial, input), &self.about.channels);
        if let Some(entry) = matrix.iter().position(|entry| !entry.is_finite()) {
            let channels = [entry / n, entry % n].map(|channel| channels[channel].clone());
            return Err(Error::NotFiniteCovariance { place, channels, value: matrix[entry] });
        }
        let Quality { rank, smallest, .. } = qualities[first];
        let cause = Box::new(Cause::find(channels, matrix, extents.get(input).copied()));
        Err(Error::Deficient { place, rank, channels: n, smallest, cause })
    }
}
