//! Labelled trials in the form that a network reads.

use super::{ClampReport, SpdNetConfig};
use crate::Error;

/// Trials as input of a network: matrices, or their logarithms if the network has no blocks.
#[derive(Clone, Debug)]
pub struct Examples<T> {
    pub(super) content: Content<T>,
    pub(super) labels: Vec<usize>,
    /// The required properties of the network.
    pub(super) fits: Fit,
    /// Comparison of the eigenvalues with the threshold, if it does not depend on parameters.
    pub(super) clamped: Option<ClampReport>,
}

/// Properties that examples and a network must share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fit {
    /// Matrices are `size x size`.
    pub(super) size: usize,
    pub(super) inputs: usize,
    pub(super) classes: usize,
    /// The threshold of the logarithms, if they are precomputed.
    pub(super) logarithms: Option<f64>,
}

impl Fit {
    pub(super) fn of(config: &SpdNetConfig) -> Self {
        let logarithms = (config.blocks() == 0).then_some(config.threshold);
        Self { size: config.first(), inputs: config.inputs, classes: config.classes, logarithms }
    }

    /// Checks that `network` can read examples made for `self`.
    pub(super) fn check(&self, network: &Self) -> Result<(), Error> {
        let facts = [
            ("matrix size", network.size, self.size),
            ("matrices per trial", network.inputs, self.inputs),
            ("classes", network.classes, self.classes),
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
        Err(Error::Mismatch { what: "input", expected, found })
    }
}

#[derive(Clone, Debug)]
pub(super) enum Content<T> {
    /// Matrices, grouped by trial.
    Matrices(Vec<T>),
    /// For each trial, the triangles of the logarithms of all its matrices.
    Logarithms(Vec<T>),
}

impl<T> Examples<T> {
    /// Returns the number of trials.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Returns whether there are no trials.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Returns the class of each trial.
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }
}
