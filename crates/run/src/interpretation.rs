//! Interpretation of a seed's network: statistics of trials and weights for figures, never EEG.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{Error, json};

/// Statistics that show how the network of a seed uses its inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interpretation {
    /// One for each window and band, in the order of the network's inputs.
    pub inputs: Vec<InputInterpretation>,
    /// The training trials as input of the last layer.
    pub plane: Plane,
}

/// Statistics of one window and band.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputInterpretation {
    /// The window and the band, such as `0 to 3 s, 8 to 32 Hz`.
    pub name: String,
    /// Scalp patterns of the columns of the BiMap weights, the most relevant one first; empty
    /// without a BiMap.
    pub columns: Vec<Pattern>,
    /// For each class, in the order of the manifest, the scalp pattern of the direction with the
    /// largest weight.
    pub classes: Vec<Pattern>,
    /// The eigenvalues of the input covariances.
    pub spectrum: Spectrum,
    /// Their eigenvalues after the last BiMap, before ReEig raises any; the input's without a
    /// BiMap.
    pub mapped: Spectrum,
    /// The floor of eigenvalues.
    pub epsilon: f64,
    /// The share of eigenvalues below it.
    pub clamped: f64,
}

/// The activity on the scalp that goes with a spatial filter.
///
/// A filter says how channels are combined, not where a source is; its pattern does (Haufe et al.
/// 2014, "On the interpretation of weight vectors of linear models in multivariate neuroimaging").
/// With the mean covariance `C`, the patterns of columns `W` that are used together are
/// `C W (W^T C W)^-1`. The pattern of a single direction `w` is `C w`, up to its scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pattern {
    /// Its weight in the last layer, as a share of the largest in its list. For a class it is
    /// negative if more power lowers the class score.
    pub weight: f64,
    /// A number for each channel, in the order of the manifest; the largest in absolute value is 1.
    pub channels: Vec<f64>,
}

/// Distribution of the eigenvalues of many matrices: quantiles for each eigenvalue, in ascending
/// order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spectrum {
    /// The 5% quantile over the matrices.
    pub low: Vec<f64>,
    /// The median.
    pub median: Vec<f64>,
    /// The 95% quantile.
    pub high: Vec<f64>,
}

/// Trials in the plane of the first two principal components of their features (the logarithms of
/// the mapped covariances).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plane {
    /// The shares of the variance that the two components explain.
    pub explained: [f64; 2],
    /// The positions of the trials.
    pub points: Vec<[f64; 2]>,
    /// Their classes, by index in the manifest.
    pub classes: Vec<usize>,
}

impl Interpretation {
    /// Reads an interpretation.
    ///
    /// # Errors
    /// When the file cannot be read or is not an interpretation.
    pub fn read(path: &Path) -> Result<Self, Error> {
        json::read(path)
    }

    /// Writes it atomically.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        json::write(path, self)
    }
}
