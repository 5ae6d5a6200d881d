//! The processing of data.

use std::fmt;

use fedspd_manifold::SpdMetric;

/// The processing of trials or covariances, as far as it is known. Files of other programs may
/// leave it out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Making {
    /// The covariance estimator, in the notation of [`Estimator`](crate::Estimator).
    pub estimator: Option<String>,
    /// The alignment of each subject; `None` if there was none or it is unknown.
    pub align: Option<Alignment>,
    /// Whether every channel of every trial was scaled to mean 0 and standard deviation 1.
    pub z_score: bool,
    /// Filter bands, such as `8-32 Hz`.
    pub bands: Vec<String>,
    /// Windows after the event, such as `0-3 s`.
    pub windows: Vec<String>,
}

/// The reference of each subject's alignment. It is recorded so that later stages do not align
/// again.
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
