//! `[train]`: how a client trains.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a client trains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Train {
    /// The optimiser.
    pub optimizer: OptimiserKind,
    /// The first learning rate.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub lr: f64,
    /// Trials of a batch.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub batch: usize,
    /// Epochs of the modes centralised and local.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub epochs: usize,
    /// How the learning rate changes, round by round or epoch by epoch.
    pub scheduler: SchedulerKind,
    /// Plateau: steps without a smaller validation loss that are tolerated.
    pub patience: usize,
    /// Plateau: what the learning rate is multiplied by.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub factor: f64,
    /// Cosine: the share of the first learning rate that is left at the end.
    #[schemars(range(min = 0, max = 1))]
    pub final_share: f64,
    /// Centralised and local: epochs without a better validation macro-F1 before it ends; 0 never ends early.
    pub early_stop: usize,
}

/// The optimiser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OptimiserKind {
    /// Adam; on Stiefel matrices through the tangent space, as in the paper.
    #[default]
    Adam,
    /// Adam with moments that are transported along the manifold.
    RiemannianAdam,
    /// Stochastic gradient descent along the manifold.
    RiemannianSgd,
    /// The landing method, which approaches the manifold without retractions.
    Landing,
}

/// How the learning rate changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulerKind {
    /// It is multiplied by a factor when the validation loss has stopped falling.
    #[default]
    Plateau,
    /// It falls along half a cosine wave.
    Cosine,
    /// It stays.
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
