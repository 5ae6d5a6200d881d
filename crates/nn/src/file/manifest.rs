//! What a model file says about its model.

use serde::{Deserialize, Serialize};

use crate::eegnet::EegNetConfig;
use crate::spdnet::SpdNetConfig;
use crate::{Error, check};

/// What one needs to know to use a model on new data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The network and its shape.
    pub network: Network,
    /// The unit of the data that the matrices were made from, such as `uV`; `1` for data without one (recentred covariances).
    pub unit: String,
    /// What was done to trials before the network got them, in this order, such as `euclidean` (an alignment) and `z-score`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub treatment: Vec<String>,
    /// The names of the classes, in the order of the logits.
    pub classes: Vec<String>,
    /// The names of the channels, in the order of the rows.
    pub channels: Vec<String>,
    /// The version of fedspd that trained it.
    pub fedspd: String,
}

/// A network and its shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
#[non_exhaustive]
pub enum Network {
    /// An SPDnet.
    SpdNet(SpdNetConfig),
    /// An EEGNet.
    EegNet(EegNetConfig),
}

impl Manifest {
    /// The manifest of an SPDnet trained by this version.
    ///
    /// # Errors
    /// [`Error::Config`] if the names do not fit the network.
    pub fn spdnet(
        config: SpdNetConfig,
        unit: &str,
        classes: Vec<String>,
        channels: Vec<String>,
    ) -> Result<Self, Error> {
        Self::new(Network::SpdNet(config), unit, classes, channels)
    }

    /// The manifest of an EEGNet trained by this version.
    ///
    /// # Errors
    /// [`Error::Config`] if the names do not fit the network.
    pub fn eegnet(
        config: EegNetConfig,
        unit: &str,
        classes: Vec<String>,
        channels: Vec<String>,
    ) -> Result<Self, Error> {
        Self::new(Network::EegNet(config), unit, classes, channels)
    }

    fn new(network: Network, unit: &str, classes: Vec<String>, channels: Vec<String>) -> Result<Self, Error> {
        let (unit, fedspd) = (unit.to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        let manifest = Self { network, unit, treatment: Vec::new(), classes, channels, fedspd };
        manifest.check()?;
        Ok(manifest)
    }

    /// The same for trials that were treated like this.
    #[must_use]
    pub fn treated(self, treatment: Vec<String>) -> Self {
        Self { treatment, ..self }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        let (classes, channels) = match &self.network {
            Network::SpdNet(config) => {
                config.check()?;
                (config.classes, config.first())
            }
            Network::EegNet(config) => {
                config.check()?;
                (config.classes, config.channels)
            }
        };
        check("classes", self.classes.len(), self.classes.len() == classes, || format!("{classes} names"))?;
        check("channels", self.channels.len(), self.channels.len() == channels, || {
            format!("{channels} names")
        })?;
        check("unit", &self.unit, !self.unit.is_empty(), || "a unit, or 1".into())
    }
}
