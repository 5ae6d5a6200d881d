//! Covariances of trials.

use super::{Cause, Quality};
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
    /// [`Error::Geometry`] if an entry is not finite.
    pub fn quality(&self) -> Result<Vec<Quality>, Error> {
        Quality::of(self.about.channels.len(), &self.matrices)
    }

    /// Checks that every matrix is positive definite.
    ///
    /// # Errors
    /// [`Error::Deficient`] with the trial, its rank and smallest eigenvalue and the likely cause, where `samples` is what each matrix was made from (if known).
    pub fn check(&self, qualities: &[Quality], samples: Option<usize>) -> Result<(), Error> {
        let n = self.about.channels.len();
        let Some(place) = qualities.iter().position(|quality| quality.rank < n) else { return Ok(()) };
        let (trial, input) = (place / self.inputs.len(), place % self.inputs.len());
        let Quality { rank, smallest, .. } = qualities[place];
        let cause =
            Cause::find(&self.about.channels, self.matrix(trial, input), samples.unwrap_or(usize::MAX));
        Err(Error::Deficient {
            place: self.about.name(trial),
            rank,
            channels: n,
            smallest,
            cause: Box::new(cause),
        })
    }
}
