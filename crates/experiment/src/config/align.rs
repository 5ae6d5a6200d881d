//! `[align]`: what takes differences between subjects away before training.

use fedspd_eeg::Alignment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What takes differences between subjects away before training.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Align {
    /// How the trials of each subject are moved to a common centre.
    pub kind: AlignKind,
    /// Which trials of a subject give its centre; labels are never looked at.
    pub fit: AlignFit,
    /// How many first trials of a held-out subject give its centre; all of them if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize", range(min = 1))]
    pub calibration: Option<usize>,
}

/// How the trials of each subject are moved to a common centre.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AlignKind {
    /// Not at all, as in the paper.
    #[default]
    None,
    /// Covariances are whitened by their Riemannian mean.
    Riemannian,
    /// Covariances are whitened by their log-Euclidean mean.
    LogEuclidean,
    /// Raw trials are whitened by the mean of their covariances.
    Euclidean,
}

/// Which trials of a subject give its centre.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AlignFit {
    /// Those it trains with.
    #[default]
    Train,
    /// All, which needs no label but does need the trials.
    All,
}

impl AlignKind {
    /// The alignment that it asks for, if any.
    pub fn alignment(self) -> Option<Alignment> {
        match self {
            Self::None => None,
            Self::Riemannian => Some(Alignment::Riemannian),
            Self::LogEuclidean => Some(Alignment::LogEuclidean),
            Self::Euclidean => Some(Alignment::Euclidean),
        }
    }
}
