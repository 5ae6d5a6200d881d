//! `[align]`: alignment of subjects before training.

use fedspd_eeg::Alignment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Alignment of subjects before training.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Align {
    /// Alignment method. It moves the trials of each subject to a common centre.
    pub kind: AlignKind,
    /// Trials that the centre of a subject is computed from. Labels are never used.
    pub fit: AlignFit,
    /// Number of first trials that each held-out subject is calibrated on; the others are scored.
    /// Default: all trials for both.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize", range(min = 1))]
    pub calibration: Option<usize>,
    /// Whether the model file holds the mean centre of the training subjects, where
    /// `fedspd predict --align online` starts. It is a statistic of their data. Sites do not send it,
    /// so it is refused over Flower.
    pub population: bool,
}

/// Alignment method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AlignKind {
    /// No alignment, as in the paper.
    #[default]
    None,
    /// Whitens covariances by their Riemannian mean.
    Riemannian,
    /// Whitens covariances by their log-Euclidean mean.
    LogEuclidean,
    /// Whitens raw trials by the mean of their covariances.
    Euclidean,
}

/// Trials that the centre of a subject is computed from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AlignFit {
    /// Training trials of the subject.
    #[default]
    Train,
    /// All trials of the subject, including test trials without their labels.
    All,
}

impl From<Alignment> for AlignKind {
    fn from(alignment: Alignment) -> Self {
        match alignment {
            Alignment::Riemannian => Self::Riemannian,
            Alignment::LogEuclidean => Self::LogEuclidean,
            Alignment::Euclidean => Self::Euclidean,
        }
    }
}

impl AlignKind {
    /// Returns the alignment, or none for [`AlignKind::None`].
    pub fn alignment(self) -> Option<Alignment> {
        match self {
            Self::None => None,
            Self::Riemannian => Some(Alignment::Riemannian),
            Self::LogEuclidean => Some(Alignment::LogEuclidean),
            Self::Euclidean => Some(Alignment::Euclidean),
        }
    }
}
