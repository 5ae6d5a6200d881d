//! Labelled trials in the form that a network reads.

use super::{ClampReport, SpdNetConfig};
use crate::Error;

/// Trials as a network reads them: its matrices, or their logarithms where no block stands before them.
#[derive(Clone, Debug)]
pub struct Examples<T> {
    pub(super) content: Content<T>,
    pub(super) labels: Vec<usize>,
    /// What the network that reads them must be like.
    pub(super) fits: Fit,
    /// How the eigenvalues compare with the threshold, where no parameter has a say in that.
    pub(super) clamped: Option<ClampReport>,
}

/// What examples and a network must agree on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fit {
    /// Matrices are `size x size`.
    pub(super) size: usize,
    pub(super) inputs: usize,
    pub(super) classes: usize,
    /// The threshold of the logarithms, where they are taken already.
    pub(super) logarithms: Option<f64>,
}

impl Fit {
    pub(super) fn of(config: &SpdNetConfig) -> Self {
        let logarithms = (config.blocks() == 0).then_some(config.threshold);
        Self { size: config.first(), inputs: config.inputs, classes: config.classes, logarithms }
    }

    /// Checks that examples made for `self` can be read by `network`.
    pub(super) fn check(&self, network: &Self) -> Result<(), Error> {
        let facts = [
            ("matrices of size", network.size, self.size),
            ("a number of matrices per trial of", network.inputs, self.inputs),
            ("a number of classes of", network.classes, self.classes),
        ];
        for (what, expected, found) in facts {
            if expected != found {
                let (expected, found) = (expected.to_string(), found.to_string());
                return Err(Error::Mismatch { what, expected, found });
            }
        }
        if self.logarithms == network.logarithms {
            return Ok(());
        }
        let name = |threshold: Option<f64>| match threshold {
            None => "matrices".to_owned(),
            Some(threshold) => format!("logarithms with threshold {threshold:e}"),
        };
        let (expected, found) = (name(network.logarithms), name(self.logarithms));
        Err(Error::Mismatch { what: "examples that are", expected, found })
    }
}

#[derive(Clone, Debug)]
pub(super) enum Content<T> {
    /// Matrices, those of a trial together.
    Matrices(Vec<T>),
    /// For each trial, the triangles of the logarithms of all its matrices.
    Logarithms(Vec<T>),
}

impl<T> Examples<T> {
    /// The number of trials.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The class of each trial.
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }
}
