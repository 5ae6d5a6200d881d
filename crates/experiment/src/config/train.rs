//! `[train]`: local training of a client.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Local training of a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Train {
    /// Optimiser.
    pub optimizer: OptimiserKind,
    /// Initial learning rate.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub lr: f64,
    /// Trials per batch.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub batch: usize,
    /// Centralised and local: largest number of epochs.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub epochs: usize,
    /// Learning-rate schedule, by round (federated) or by epoch (centralised and local).
    pub scheduler: SchedulerKind,
    /// Plateau: tolerated number of rounds or epochs without a smaller validation loss.
    pub patience: usize,
    /// Plateau: factor that multiplies the learning rate.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub factor: f64,
    /// Cosine: final learning rate as a share of the initial one.
    #[schemars(range(min = 0, max = 1))]
    pub final_share: f64,
    /// Centralised and local: number of epochs without a better validation macro-F1 after which
    /// training stops. 0: no early stopping.
    pub early_stop: usize,
}

/// Optimiser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OptimiserKind {
    /// Adam, on Stiefel matrices through the tangent space, as in the paper.
    #[default]
    Adam,
    /// Adam with moments transported along the manifold.
    RiemannianAdam,
    /// Stochastic gradient descent along the manifold.
    RiemannianSgd,
    /// Landing method, which approaches the manifold without retractions.
    Landing,
}

/// Learning-rate schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulerKind {
    /// Multiplies the learning rate by `factor` when the validation loss stops falling.
    #[default]
    Plateau,
    /// Lowers the learning rate along half a cosine wave.
    Cosine,
    /// Keeps the learning rate.
    Constant,
}

impl Default for Train {
    fn default() -> Self {
        Self {
            optimizer: OptimiserKind::default(),
            lr: 1e-3,
            batch: 64,
            epochs: 300,
            scheduler: SchedulerKind::default(),
            patience: 20,
            factor: 0.5,
            final_share: 0.05,
            early_stop: 75,
        }
    }
}

impl SchedulerKind {
    /// Returns the name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plateau => "plateau",
            Self::Cosine => "cosine",
            Self::Constant => "constant",
        }
    }
}
