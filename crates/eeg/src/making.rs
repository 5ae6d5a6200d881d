//! How data were made.

use std::fmt;

use fedspd_manifold::SpdMetric;

/// How trials or covariances were made, as far as it is known: files of other programs need not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Making {
    /// How covariances were estimated, as [`Estimator`](crate::Estimator) is written.
    pub estimator: Option<String>,
    /// How each subject was aligned; nothing if it was not, or if nobody says.
    pub align: Option<Alignment>,
    /// Whether every channel of every trial was scaled to mean 0 and deviation 1.
    pub z_score: bool,
    /// Bands of the filter, such as `8-32 Hz`.
    pub bands: Vec<String>,
    /// Windows after the event, such as `0-3 s`.
    pub windows: Vec<String>,
}

/// What each subject's data were aligned to, so that later stages do not align them again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alignment {
    /// The affine-invariant mean of its covariances.
    Riemannian,
    /// The log-Euclidean mean of its covariances.
    LogEuclidean,
    /// The mean of `X X^T` of its trials.
    Euclidean,
}

impl Alignment {
    /// Every one there is.
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
