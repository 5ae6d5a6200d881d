//! What the network of a seed looks at, in numbers that figures are drawn from: statistics of trials and of weights, never EEG.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{Error, json};

/// What the network of a seed looks at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Portrait {
    /// One for each window and band, in the order of the network's inputs.
    pub inputs: Vec<InputPortrait>,
    /// The training trials as the last layer sees them.
    pub plane: Plane,
}

/// What becomes of one window and band.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputPortrait {
    /// The window and the band, such as `0 to 3 s, 8 to 32 Hz`.
    pub name: String,
    /// Where the columns of each BiMap listen, the most relevant one first; empty without a BiMap.
    pub columns: Vec<Pattern>,
    /// For each class, in the order of the manifest, where the direction listens that speaks most for it or against it.
    pub classes: Vec<Pattern>,
    /// The eigenvalues of the covariances as they come in.
    pub spectrum: Spectrum,
    /// Their eigenvalues after the last BiMap, before any is raised to the threshold; the same without a BiMap.
    pub mapped: Spectrum,
    /// The floor of eigenvalues.
    pub epsilon: f64,
    /// The share of eigenvalues below it.
    pub clamped: f64,
}

/// The activity on the scalp that goes with a spatial filter.
///
/// A filter says how channels are combined, not where a source is; its pattern does (Haufe et al. 2014, "On the interpretation of weight vectors of
/// linear models in multivariate neuroimaging"). With the mean covariance `C`, those of columns `W` that are listened to together are
/// `C W (W^T C W)^-1`, that of a single direction `w` is `C w` up to its scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pattern {
    /// How much the last layer makes of it, as a share of the largest in its list; for a class negative if its power speaks against the class.
    pub weight: f64,
    /// A number for each channel in the order of the manifest; the largest in size is 1.
    pub channels: Vec<f64>,
}

/// How the eigenvalues of many matrices are spread: quantiles for each place in ascending order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spectrum {
    /// A twentieth of the matrices are below.
    pub low: Vec<f64>,
    /// Half of them are below.
    pub median: Vec<f64>,
    /// A twentieth are above.
    pub high: Vec<f64>,
}

/// Trials in the plane of the first two principal components of their features (the logarithms of the mapped covariances).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plane {
    /// The shares of the variance of the two components.
    pub explained: [f64; 2],
    /// Where the trials are.
    pub points: Vec<[f64; 2]>,
    /// Their classes, by place in the manifest.
    pub classes: Vec<usize>,
}

impl Portrait {
    /// Reads a portrait.
    ///
    /// # Errors
    /// When the file cannot be read or is no portrait.
    pub fn read(path: &Path) -> Result<Self, Error> {
        json::read(path)
    }

    /// Writes it as a whole.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        json::write(path, self)
    }
}
