//! The manifest of a model file.

use serde::{Deserialize, Serialize};

use crate::eegnet::EegNetConfig;
use crate::spdnet::SpdNetConfig;
use crate::{Error, ModelKind, check};

/// Description of a model, as needed to use it on new data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The network and its shape.
    pub network: Network,
    /// The unit of the data behind the matrices, such as `uV`; `1` for dimensionless data
    /// (recentred covariances).
    pub unit: String,
    /// The preprocessing of trials in files of version 1, in order, such as `euclidean` (an
    /// alignment) and `z-score`. Later files have it in `preparation`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub treatment: Vec<String>,
    /// How trials became the input of the network. This crate stores it without reading it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preparation: Option<serde_json::Value>,
    /// The mean of the training subjects' alignment references, one matrix for each input: the
    /// start of the alignment of somebody new. It is stored as a tensor.
    #[serde(skip)]
    pub population: Option<Vec<f64>>,
    /// The names of the classes, in the order of the logits.
    pub classes: Vec<String>,
    /// The names of the channels, in the order of the rows.
    pub channels: Vec<String>,
    /// The version of fedspd that trained the model.
    pub fedspd: String,
}

/// A network and its shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Network {
    /// An SPDnet.
    SpdNet(SpdNetConfig),
    /// An EEGNet.
    EegNet(EegNetConfig),
}

impl Network {
    /// Returns the kind of network.
    pub fn kind(&self) -> ModelKind {
        match self {
            Self::SpdNet(_) => ModelKind::Spdnet,
            Self::EegNet(_) => ModelKind::Eegnet,
        }
    }

    /// Returns the array shape of a trial: `(n, n)`, `(inputs, n, n)` with several matrices per
    /// trial, or `(channels, samples)`.
    pub fn trial_shape(&self) -> Vec<usize> {
        match self {
            Self::SpdNet(config) if config.inputs == 1 => vec![config.first(); 2],
            Self::SpdNet(config) => vec![config.inputs, config.first(), config.first()],
            Self::EegNet(config) => vec![config.channels, config.samples],
        }
    }

    /// Returns the shape of the references of alignment: `(inputs, channels, channels)`.
    pub(super) fn references(&self) -> [usize; 3] {
        match self {
            Self::SpdNet(config) => [config.inputs, config.first(), config.first()],
            Self::EegNet(config) => [1, config.channels, config.channels],
        }
    }

    /// Checks its settings. Returns the numbers of classes and channels.
    fn check(&self) -> Result<(usize, usize), Error> {
        match self {
            Self::SpdNet(config) => config.check().map(|()| (config.classes, config.first())),
            Self::EegNet(config) => config.check().map(|()| (config.classes, config.channels)),
        }
    }
}

impl Manifest {
    /// Creates the manifest of a network trained by this version.
    ///
    /// # Errors
    /// [`Error::Config`] if the numbers of names do not match the network.
    pub fn new(
        network: Network,
        unit: &str,
        classes: Vec<String>,
        channels: Vec<String>,
    ) -> Result<Self, Error> {
        let (unit, fedspd) = (unit.to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        let (treatment, preparation, population) = (Vec::new(), None, None);
        let manifest = Self { network, unit, treatment, preparation, population, classes, channels, fedspd };
        manifest.check()?;
        Ok(manifest)
    }

    /// Sets the preparation of trials.
    #[must_use]
    pub fn prepared(self, preparation: serde_json::Value) -> Self {
        Self { preparation: Some(preparation), ..self }
    }

    /// Sets the start of the alignment of somebody new.
    #[must_use]
    pub fn starting_at(self, population: Option<Vec<f64>>) -> Self {
        Self { population, ..self }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        let (classes, channels) = self.network.check()?;
        check("classes", self.classes.len(), self.classes.len() == classes, || format!("{classes} names"))?;
        check("channels", self.channels.len(), self.channels.len() == channels, || {
            format!("{channels} names")
        })?;
        check("unit", &self.unit, !self.unit.is_empty(), || "a unit, or 1".into())
    }
}
