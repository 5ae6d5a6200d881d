//! `[model]`: the network.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::conflict::Conflict;

/// The dropout of EEGNet where none is given, that of its authors for several subjects.
const EEGNET_DROPOUT: f64 = 0.25;

/// The network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// The network.
    pub kind: ModelKind,
    /// SPDnet: sizes after each BiMap, never increasing; no BiMap if empty.
    #[schemars(inner(range(min = 1, max = 1024)))]
    pub dims: Vec<usize>,
    /// SPDnet: the floor of eigenvalues in ReEig, in the unit of the covariances.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub epsilon: f64,
    /// SPDnet: how a matrix becomes the vector that the last layer takes.
    pub head: Head,
    /// The numbers of the network; f64 for SPDnet and f32 for EEGNet if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Precision")]
    pub precision: Option<Precision>,
    /// EEGNet: which parts of batch normalisation never leave a client.
    pub fedbn: FedBn,
    /// The probability that a number is dropped in training; 0 for SPDnet and 0.25 for EEGNet if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", extend("minimum" = 0, "exclusiveMaximum" = 1))]
    pub dropout: Option<f64>,
    /// EEGNet: whether each channel of a trial is scaled to mean 0 and variance 1.
    pub z_score: bool,
}

/// The network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ModelKind {
    /// SPDnet, on covariances.
    #[default]
    Spdnet,
    /// EEGNet, on raw trials.
    Eegnet,
}

/// How a matrix becomes a vector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Head {
    /// All entries, as in the paper.
    #[default]
    Vec,
    /// The upper triangle.
    Vech,
    /// The upper triangle with off-diagonal entries times the square root of 2: lengths are kept.
    IsometricVech,
}

/// The numbers of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// Double precision.
    F64,
    /// Single precision.
    F32,
}

/// Which parts of batch normalisation never leave a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FedBn {
    /// Statistics, scales and shifts.
    #[default]
    All,
    /// Statistics alone.
    Statistics,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            kind: ModelKind::default(),
            dims: vec![18],
            epsilon: 1e-2,
            head: Head::default(),
            precision: None,
            fedbn: FedBn::default(),
            dropout: None,
            z_score: true,
        }
    }
}

impl Model {
    /// The numbers of the network.
    pub fn resolved_precision(&self) -> Precision {
        self.precision.unwrap_or(match self.kind {
            ModelKind::Spdnet => Precision::F64,
            ModelKind::Eegnet => Precision::F32,
        })
    }

    /// The probability that a number is dropped in training.
    pub fn resolved_dropout(&self) -> f64 {
        self.dropout.unwrap_or(match self.kind {
            ModelKind::Spdnet => 0.0,
            ModelKind::Eegnet => EEGNET_DROPOUT,
        })
    }

    pub(crate) fn check(&self) -> Result<(), Conflict> {
        let wider = self.dims.windows(2).position(|pair| pair[0] < pair[1]);
        let Some(index) = wider else { return Ok(()) };
        let found = format!("`model.dims` goes from {} to {}", self.dims[index], self.dims[index + 1]);
        let at = (index + 1).to_string();
        let rule = "sizes must never increase: a BiMap with orthonormal columns cannot widen";
        Err(Conflict::new(&["model", "dims", &at], found, rule))
    }
}
