//! One input of a network: the processing of a trial in one band and window.

use std::fmt;

use fedspd_manifold::SpdMetric;
use serde::{Deserialize, Serialize};

use crate::filter::Band;
use crate::prepare::window_name;

/// The filter of this crate, as preparations name it.
pub const IIR: &str = "Butterworth of order 4 per edge, forward and backward";

/// The processing of one input. An unknown entry is none: other programs may not tell it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Branch {
    /// The pass band.
    pub band: Option<Band>,
    /// The filter and its order.
    pub filter: Option<String>,
    /// The window in seconds after the event.
    pub window: Option<[f64; 2]>,
    /// The number of samples in the window.
    pub samples: Option<usize>,
    /// Whether the mean of each channel was removed.
    pub centred: Option<bool>,
    /// The covariance estimator, in the notation of [`Estimator`](crate::Estimator).
    pub estimator: Option<String>,
    /// Whether every channel of every trial was scaled to mean 0 and standard deviation 1.
    pub z_score: bool,
    /// The alignment of each subject; none if there was none.
    pub alignment: Option<Alignment>,
    /// The trials that the alignment was fitted on.
    pub fit: Option<AlignmentFit>,
}

impl Branch {
    /// Returns the band in words, if it is known.
    pub fn band_name(&self) -> Option<String> {
        self.band.map(|band| band.to_string())
    }

    /// Returns the window in words, if it is known.
    pub fn window_name(&self) -> Option<String> {
        self.window.map(window_name)
    }
}

/// The reference of each subject's alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Alignment {
    /// The affine-invariant mean of its covariances.
    Riemannian,
    /// The log-Euclidean mean of its covariances.
    LogEuclidean,
    /// The mean of `X X^T` of its trials.
    Euclidean,
}

impl Alignment {
    /// All alignments.
    pub const ALL: [Self; 3] = [Self::Riemannian, Self::LogEuclidean, Self::Euclidean];

    /// The name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Riemannian => "riemannian",
            Self::LogEuclidean => "log-euclidean",
            Self::Euclidean => "euclidean",
        }
    }
}

impl From<SpdMetric> for Alignment {
    fn from(metric: SpdMetric) -> Self {
        match metric {
            SpdMetric::AffineInvariant => Self::Riemannian,
            SpdMetric::LogEuclidean => Self::LogEuclidean,
        }
    }
}

impl fmt::Display for Alignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The trials that a subject's alignment was fitted on. Labels are never used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlignmentFit {
    /// Its training trials.
    Train,
    /// All its trials.
    All,
}

impl fmt::Display for AlignmentFit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Train => "training trials",
            Self::All => "all trials",
        })
    }
}
