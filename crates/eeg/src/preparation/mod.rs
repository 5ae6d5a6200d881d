//! The preparation of trials: how a trial became the input of a network.
//!
//! Prepared files, run folders and model files store a [`Preparation`]. It is compared wherever data
//! meet a model or other data, so that a model of 8-32 Hz never scores data of 1-40 Hz silently.

mod branch;
mod differences;
mod making;
mod recipe;

pub use branch::{Alignment, AlignmentFit, Branch, IIR};
pub use differences::Difference;
pub use making::Making;
pub use recipe::Recipe;

use serde::{Deserialize, Serialize};

use crate::About;

/// How trials became the input of a network. Every field is compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preparation {
    /// Whether inputs are covariances or samples.
    pub content: ContentKind,
    /// The names of the classes, in the order of the labels.
    pub classes: Vec<String>,
    /// The names of the channels, in the order of the rows.
    pub channels: Vec<String>,
    /// Samples per second, if known.
    pub sfreq: Option<f64>,
    /// The unit of the numbers.
    pub unit: String,
    /// The processing, input by input.
    pub making: Making,
}

/// The numbers of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContentKind {
    /// Covariance matrices.
    Covariances,
    /// Samples.
    Trials,
}

impl ContentKind {
    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Covariances => "covariances",
            Self::Trials => "trials",
        }
    }
}

impl Preparation {
    /// Returns the preparation of data with this metadata.
    pub fn of(content: ContentKind, about: &About) -> Self {
        Self {
            content,
            classes: about.classes.clone(),
            channels: about.channels.clone(),
            sfreq: Some(about.sfreq),
            unit: about.unit.clone(),
            making: about.making.clone(),
        }
    }
}
