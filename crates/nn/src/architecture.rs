//! Which networks there are, and how one is built from settings, from a model file and for data.
//!
//! A new network is a folder in this crate with its [`Model`] and its [`Architecture`], and a variant
//! of [`ModelKind`] and of [`Network`]. Whoever trains or evaluates matches the kind in one place.

use fedspd_manifold::{Real, Vectorisation};
use serde::{Deserialize, Serialize};

use crate::eegnet::FedBn;
use crate::file::Network;
use crate::{Error, Model};

/// The dropout of EEGNet where none is given, that of its authors for several subjects.
const EEGNET_DROPOUT: f64 = 0.25;

/// A network that can be built from settings and saved to a file.
pub trait Architecture<T: Real>: Model<T> + Send + Sized + 'static {
    /// The kind of data that it reads.
    const READS: Input;

    /// Builds the network for data of a shape.
    ///
    /// # Errors
    /// [`Error::Config`] if there is no such network.
    fn build(settings: &ModelSettings, shape: &InputShape) -> Result<Self, Error>;

    /// Builds the network of a model file; none if the file holds another kind of network.
    ///
    /// # Errors
    /// As [`Architecture::build`].
    fn restore(network: &Network) -> Result<Option<Self>, Error>;

    /// The network as model files describe it.
    fn describe(&self) -> Network;

    /// Labelled trials from their numbers, one trial after the other: the matrices of a trial, or its
    /// samples with all channels each.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Label`], and faults of single trials.
    fn trials(shape: &InputShape, numbers: Vec<T>, labels: Vec<usize>) -> Result<Self::Trials, Error>;
}

/// The kind of data that a network reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// One or more covariance matrices of a trial.
    Covariances,
    /// The samples of a trial.
    Samples,
}

/// The shape of the trials of a dataset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InputShape {
    /// Channels of a trial.
    pub channels: usize,
    /// Matrices of a trial; 1 for data with samples.
    pub inputs: usize,
    /// Samples of a trial; 0 for covariances.
    pub samples: usize,
    /// Samples per second.
    pub sfreq: f64,
    /// The number of classes.
    pub classes: usize,
}

/// The network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ModelKind {
    /// SPDnet, on covariances.
    #[default]
    Spdnet,
    /// EEGNet, on raw trials.
    Eegnet,
}

impl ModelKind {
    /// Its name in settings and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Spdnet => "spdnet",
            Self::Eegnet => "eegnet",
        }
    }

    /// Its name in sentences.
    pub fn title(self) -> &'static str {
        match self {
            Self::Spdnet => "SPDnet",
            Self::Eegnet => "EEGNet",
        }
    }

    /// The kind of data that it reads.
    pub fn reads(self) -> Input {
        match self {
            Self::Spdnet => Input::Covariances,
            Self::Eegnet => Input::Samples,
        }
    }

    /// Whether [`Model::calibrate`] has statistics to fit to someone new.
    pub fn has_statistics(self) -> bool {
        match self {
            Self::Spdnet => false,
            Self::Eegnet => true,
        }
    }

    /// The precision where none is given.
    fn precision(self) -> Precision {
        match self {
            Self::Spdnet => Precision::F64,
            Self::Eegnet => Precision::F32,
        }
    }

    /// The dropout where none is given.
    fn dropout(self) -> f64 {
        match self {
            Self::Spdnet => 0.0,
            Self::Eegnet => EEGNET_DROPOUT,
        }
    }
}

/// The numbers of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// Double precision.
    F64,
    /// Single precision.
    F32,
}

/// The network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ModelSettings {
    /// The network.
    pub kind: ModelKind,
    /// SPDnet: sizes after each BiMap, never increasing; no BiMap if empty.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 1, max = 1024))))]
    pub dims: Vec<usize>,
    /// SPDnet: the floor of eigenvalues in ReEig, in the unit of the covariances.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub epsilon: f64,
    /// SPDnet: how a matrix becomes the vector that the last layer takes.
    #[serde(with = "Head")]
    #[cfg_attr(feature = "schema", schemars(with = "Head"))]
    pub head: Vectorisation,
    /// The numbers of the network; f64 for SPDnet and f32 for EEGNet if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Precision"))]
    pub precision: Option<Precision>,
    /// EEGNet: which parts of batch normalisation never leave a client.
    pub fedbn: FedBn,
    /// The probability that a number is dropped in training; 0 for SPDnet and 0.25 for EEGNet if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "f64", extend("minimum" = 0, "exclusiveMaximum" = 1)))]
    pub dropout: Option<f64>,
    /// EEGNet: whether each channel of a trial is scaled to mean 0 and variance 1.
    pub z_score: bool,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self {
            kind: ModelKind::default(),
            dims: vec![18],
            epsilon: 1e-2,
            head: Vectorisation::Vec,
            precision: None,
            fedbn: FedBn::default(),
            dropout: None,
            z_score: true,
        }
    }
}

impl ModelSettings {
    /// The numbers of the network.
    pub fn resolved_precision(&self) -> Precision {
        self.precision.unwrap_or(self.kind.precision())
    }

    /// The probability that a number is dropped in training.
    pub fn resolved_dropout(&self) -> f64 {
        self.dropout.unwrap_or(self.kind.dropout())
    }
}

// Settings spell a `Vectorisation` with hyphens, model files with underscores.
/// How a matrix becomes a vector.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", remote = "Vectorisation")]
enum Head {
    /// All entries, as in the paper.
    Vec,
    /// The upper triangle.
    Vech,
    /// The upper triangle with off-diagonal entries times the square root of 2: lengths are kept.
    IsometricVech,
}
