//! Covariances of trials.

use super::{Cause, Extent, Quality};
use crate::{About, Error};

/// One or several covariances for each trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Covariances {
    /// Classes, channels and origins.
    pub about: About,
    /// What each matrix of a trial is of, such as `8-32 Hz, 0-3 s`.
    pub inputs: Vec<String>,
    /// Trial after trial, input after input.
    matrices: Vec<f64>,
}

impl Covariances {
    /// Covariances, those of a trial together.
    ///
    /// # Errors
    /// [`Error::Length`] if the numbers do not fit the origins, [`Error::Label`] for a label beyond the classes.
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

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All matrices: trial after trial, input after input.
    pub fn matrices(&self) -> &[f64] {
        &self.matrices
    }

    pub(super) fn matrices_mut(&mut self) -> &mut [f64] {
        &mut self.matrices
    }

    /// The matrices alone.
    pub fn into_matrices(self) -> Vec<f64> {
        self.matrices
    }

    /// Where a matrix is among all numbers.
    pub(super) fn range(&self, trial: usize, input: usize) -> std::ops::Range<usize> {
        let size = self.about.channels.len().pow(2);
        let start = (trial * self.inputs.len() + input) * size;
        start..start + size
    }

    /// The matrix of a trial and input.
    pub fn matrix(&self, trial: usize, input: usize) -> &[f64] {
        &self.matrices[self.range(trial, input)]
    }

    /// What the spectra of all matrices say, in their order.
    ///
    /// # Errors
    /// [`Error::NotFiniteCovariance`] with the trial and input.
    pub fn quality(&self) -> Result<Vec<Quality>, Error> {
        let n = self.about.channels.len();
        if let Some(place) = self.matrices.iter().position(|entry| !entry.is_finite()) {
            let (matrix, entry) = (place / (n * n), place % (n * n));
            let (trial, input) = (matrix / self.inputs.len(), matrix % self.inputs.len());
            let channels = [entry / n, entry % n].map(|channel| self.about.channels[channel].clone());
            let (place, value) = (self.place(trial, input), self.matrices[place]);
            return Err(Error::NotFiniteCovariance { place, channels, value });
        }
        Quality::of(n, &self.matrices)
    }

    /// A matrix as an error names it: by its trial, and by its input if there are several.
    pub(super) fn place(&self, trial: usize, input: usize) -> String {
        let name = self.about.name(trial);
        if self.inputs.len() == 1 { name } else { format!("{name}, {}", self.inputs[input]) }
    }

    /// Checks that every matrix is positive definite.
    ///
    /// # Errors
    /// [`Error::Deficient`] with the trial and input, the rank, the smallest eigenvalue and the likely cause. `extents` says what the matrices of
    /// each input were made from; it is empty if nobody knows.
    pub fn check(&self, qualities: &[Quality], extents: &[Extent]) -> Result<(), Error> {
        let n = self.about.channels.len();
        let Some(place) = qualities.iter().position(|quality| quality.rank < n) else { return Ok(()) };
        let (trial, input) = (place / self.inputs.len(), place % self.inputs.len());
        let Quality { rank, smallest, .. } = qualities[place];
        let extent = extents.get(input).copied();
        let cause = Box::new(Cause::find(&self.about.channels, self.matrix(trial, input), extent));
        Err(Error::Deficient { place: self.place(trial, input), rank, channels: n, smallest, cause })
    }
}
