//! Events of a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Unit, count, number};

/// One line of the log: a JSON object with its kind in `event`.
///
/// Events have no time, so that a resumed run has the same lines as an uninterrupted one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Event {
    /// The run begins.
    Started,
    /// A round ended.
    Round(Round),
    /// A warning for the user.
    Warning {
        /// Its text.
        text: String,
    },
    /// A unit resumes from its checkpoint.
    Resumed {
        /// The unit.
        #[serde(flatten)]
        unit: Unit,
        /// The last finished round.
        round: u32,
    },
    /// The run was asked to stop.
    Interrupted {
        /// The unit under way.
        #[serde(flatten)]
        unit: Unit,
        /// The last finished round.
        round: u32,
    },
    /// All seeds are done.
    Finished,
}

impl Event {
    /// Whether an uninterrupted run has this event before its end.
    pub(crate) fn is_lasting(&self) -> bool {
        match self {
            Self::Started | Self::Round(_) | Self::Warning { .. } => true,
            Self::Resumed { .. } | Self::Interrupted { .. } | Self::Finished => false,
        }
    }
}

/// A round of a unit, as seen by the server.
///
/// A number that is not finite is written as `null` and read as NaN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// The unit.
    #[serde(flatten)]
    pub unit: Unit,
    /// The round, counted from 1.
    pub round: u32,
    /// The learning rate of the clients.
    #[serde(with = "number")]
    pub learning_rate: f64,
    /// The clients that were asked to train, in client order.
    pub participants: Vec<String>,
    /// The clients whose reply was not used.
    pub dropped: Vec<DroppedClient>,
    /// The mean training loss of the participants.
    #[serde(with = "number")]
    pub train_loss: f64,
    /// The mean loss of the new model over the validation trials of all clients; NaN in rounds
    /// without validation.
    #[serde(with = "number")]
    pub validation_loss: f64,
    /// Its macro-F1 on the pooled validation trials, in rounds with validation.
    pub validation_f1: Option<f64>,
    /// Its macro-F1 on the pooled test trials, in rounds with a test.
    pub test_f1: Option<f64>,
    /// Bytes from the clients to the server.
    #[serde(deserialize_with = "count::one")]
    pub bytes_up: u64,
    /// Bytes from the server to the clients.
    #[serde(deserialize_with = "count::one")]
    pub bytes_down: u64,
    /// Diagnostics of the averages of the Stiefel parameters.
    pub layers: Vec<LayerReport>,
    /// Whether a mean lacked full rank, so that RLAvg was used instead.
    pub fallback: bool,
    /// Numbers that the method reports, by name; absent if there are none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, Metric>,
}

/// A number that a method reports.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Metric(#[serde(with = "number")] pub f64);

/// A client whose reply was not used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DroppedClient {
    /// The client.
    pub client: String,
    /// The reason.
    pub reason: String,
}

/// The average of one Stiefel parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayerReport {
    /// The parameter.
    pub name: String,
    /// The smallest singular value of the clients' mean: 1 when all agree, 0 when the mean lacks
    /// full rank.
    #[serde(with = "number")]
    pub consensus: f64,
    /// The mean distance of the clients from the model sent to them.
    #[serde(with = "number")]
    pub drift_mean: f64,
    /// The largest of these distances.
    #[serde(with = "number")]
    pub drift_max: f64,
    /// The distance between the results of ProjAvg and RLAvg.
    #[serde(with = "number")]
    pub proj_rl_distance: f64,
}
