//! The networks, and how to build one from settings, a model file and the shape of the data.
//!
//! A new network is a folder in this crate with its [`Model`] and its [`Architecture`], and a
//! variant of [`ModelKind`] and of [`Network`]. Code that trains or evaluates matches the kind in
//! one place.

use fedspd_manifold::{Real, Vectorisation};
use serde::{Deserialize, Serialize};

use crate::eegnet::FedBn;
use crate::file::Network;
use crate::{Error, Model};

/// Default dropout of EEGNet: the value of its authors for several subjects.
const EEGNET_DROPOUT: f64 = 0.25;

/// A network that can be built from settings and saved to a file.
pub trait Architecture<T: Real>: Model<T> + Send + Sized + 'static {
    /// The kind of its input data.
    const READS: Input;

    /// Builds the network for data of a shape.
    ///
    /// # Errors
    /// [`Error::Config`] for an invalid network.
    fn build(settings: &ModelSettings, shape: &InputShape) -> Result<Self, Error>;

    /// Builds the network of a model file. Returns `None` if the file holds another kind of
    /// network.
    ///
    /// # Errors
    /// As [`Architecture::build`].
    fn restore(network: &Network) -> Result<Option<Self>, Error>;

    /// Describes the network for a model file.
    fn describe(&self) -> Network;

    /// Builds labelled trials from numbers, one trial after the other. A trial has its matrices, or
    /// its samples with all channels each.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Label`], and faults of single trials.
    fn trials(shape: &InputShape, numbers: Vec<T>, labels: Vec<usize>) -> Result<Self::Trials, Error>;
}

/// Implements [`Architecture`] for each precision of a network, by its methods `configured` and
/// `labelled`.
macro_rules! implement_architecture {
    ($network:ident, $variant:ident, $reads:ident, $trials:ident: $($real:ty),*) => {$(
        impl crate::Architecture<$real> for $network<$real> {
            const READS: crate::Input = crate::Input::$reads;

            fn build(
                settings: &crate::ModelSettings,
                shape: &crate::InputShape,
            ) -> Result<Self, crate::Error> {
                Self::new(Self::configured(settings, shape))
            }

            fn restore(network: &crate::file::Network) -> Result<Option<Self>, crate::Error> {
                let crate::file::Network::$variant(config) = network else { return Ok(None) };
                Self::new(config.clone()).map(Some)
            }

            fn describe(&self) -> crate::file::Network {
                crate::file::Network::$variant(self.config.clone())
            }

            fn trials(
                shape: &crate::InputShape,
                numbers: Vec<$real>,
                labels: Vec<usize>,
            ) -> Result<$trials<$real>, crate::Error> {
                Self::labelled(shape, numbers, labels)
            }
        }
    )*};
}

pub(crate) use implement_architecture;

/// The kind of input data of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// One or more covariance matrices per trial.
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

/// Type of the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ModelKind {
    /// SPDnet on covariances.
    #[default]
    Spdnet,
    /// EEGNet on raw trials.
    Eegnet,
}

impl ModelKind {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Spdnet, Self::Eegnet];

    /// Returns the name in settings and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Spdnet => "spdnet",
            Self::Eegnet => "eegnet",
        }
    }

    /// Its name in prose.
    pub fn title(self) -> &'static str {
        match self {
            Self::Spdnet => "SPDnet",
            Self::Eegnet => "EEGNet",
        }
    }

    /// The kind of its input data.
    pub fn reads(self) -> Input {
        match self {
            Self::Spdnet => Input::Covariances,
            Self::Eegnet => Input::Samples,
        }
    }

    /// Whether [`Model::calibrate`] has statistics to fit to a new subject.
    pub fn has_statistics(self) -> bool {
        match self {
            Self::Spdnet => false,
            Self::Eegnet => true,
        }
    }

    /// The default precision.
    fn precision(self) -> Precision {
        match self {
            Self::Spdnet => Precision::F64,
            Self::Eegnet => Precision::F32,
        }
    }

    /// The default dropout.
    fn dropout(self) -> f64 {
        match self {
            Self::Spdnet => 0.0,
            Self::Eegnet => EEGNET_DROPOUT,
        }
    }
}

/// Floating-point precision of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// Double precision.
    F64,
    /// Single precision.
    F32,
}

impl Precision {
    /// Bytes of a number.
    pub fn bytes(self) -> usize {
        match self {
            Self::F64 => size_of::<f64>(),
            Self::F32 => size_of::<f32>(),
        }
    }
}

/// Network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ModelSettings {
    /// Type of the network.
    pub kind: ModelKind,
    /// SPDnet: matrix size after each BiMap, never increasing. Empty: no BiMap.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 1, max = 1024))))]
    pub dims: Vec<usize>,
    /// SPDnet: smallest eigenvalue after ReEig, in the unit of the covariances.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub epsilon: f64,
    /// SPDnet: vectorisation of matrices for the last layer.
    #[serde(with = "Head")]
    #[cfg_attr(feature = "schema", schemars(with = "Head"))]
    pub head: Vectorisation,
    /// Floating-point precision. Default: f64 for SPDnet, f32 for EEGNet.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Precision"))]
    pub precision: Option<Precision>,
    /// EEGNet: parts of batch normalisation that never leave a client.
    pub fedbn: FedBn,
    /// Dropout probability in training. Default: 0 for SPDnet, 0.25 for EEGNet.
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
    /// The precision, or the default of the network.
    pub fn resolved_precision(&self) -> Precision {
        self.precision.unwrap_or(self.kind.precision())
    }

    /// The dropout probability, or the default of the network.
    pub fn resolved_dropout(&self) -> f64 {
        self.dropout.unwrap_or(self.kind.dropout())
    }
}

// Settings spell a `Vectorisation` with hyphens, model files with underscores.
/// Vectorisation of a symmetric matrix.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", remote = "Vectorisation")]
enum Head {
    /// All entries, as in the paper.
    Vec,
    /// Lower triangle, row by row.
    Vech,
    /// Lower triangle with off-diagonal entries times the square root of 2, which keeps norms.
    IsometricVech,
}
