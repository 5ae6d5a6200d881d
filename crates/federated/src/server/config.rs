//! The settings of a server.

use std::collections::BTreeMap;

use fedspd_nn::schedule::{Mode, ScheduleConfig};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::aggregate::Aggregation;
use crate::error::check;
use crate::sampling::participant_count;

/// The settings of a server. The defaults are those of the paper.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerConfig {
    /// The average of Stiefel matrices.
    pub aggregation: Aggregation,
    /// The share of the last server step that is kept; `rl-avg` only.
    pub server_momentum: f64,
    /// The factor of the server step; `rl-avg` only.
    pub server_lr: f64,
    /// The share of clients that take part in a round.
    pub participation: f64,
    /// The weights of the replies.
    pub weighting: Weighting,
    /// The local epochs of a client in a round.
    pub work: LocalWork,
    /// The initial learning rate.
    pub learning_rate: f64,
    /// The schedule of the learning rate.
    pub schedule: ScheduleConfig,
    /// The reaction to a failed client.
    pub on_client_failure: OnFailure,
    /// The number of replies that a round needs to close. With 0, a round without replies keeps the
    /// parameters.
    pub quorum: usize,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            aggregation: Aggregation::ProjAvg,
            server_momentum: 0.0,
            server_lr: 1.0,
            participation: 1.0,
            weighting: Weighting::Uniform,
            work: LocalWork::same(2),
            learning_rate: 1e-3,
            schedule: ScheduleConfig::Plateau { mode: Mode::Min, factor: 0.5, patience: 20 },
            on_client_failure: OnFailure::Stop,
            quorum: 0,
        }
    }
}

impl ServerConfig {
    pub(super) fn check(&self, members: &[Member]) -> Result<(), Error> {
        check("clients", members.len(), !members.is_empty(), || "at least 1".into())?;
        let share = self.participation > 0.0 && self.participation <= 1.0;
        check("participation", self.participation, share, || "above 0, at most 1".into())?;
        let asked = participant_count(members.len(), self.participation);
        check("quorum", self.quorum, self.quorum <= asked, || {
            format!("at most {asked}, the number of clients in a round")
        })?;
        let unknown =
            self.work.exceptions.keys().find(|name| members.iter().all(|member| member.name != **name));
        let unknown = unknown.map_or("", String::as_str);
        check("epochs_local", unknown, unknown.is_empty(), || {
            let names: Vec<&str> = members.iter().take(8).map(|member| &*member.name).collect();
            format!("a known client, such as {}", names.join(", "))
        })
    }
}

/// A client as the server knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name in reports and errors.
    pub name: String,
    /// Number of training trials.
    pub trials: usize,
}

/// Weights of replies in a mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Weighting {
    /// Equal weights, as in the paper.
    #[default]
    Uniform,
    /// Weights proportional to the numbers of training trials.
    ByTrials,
}

impl Weighting {
    /// Its name in settings and manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::ByTrials => "by-trials",
        }
    }
}

/// Reaction to a client that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    /// Stops the run with an error.
    #[default]
    Stop,
    /// Continues the round without the client, with a warning.
    Skip,
}

/// Number of epochs that each client trains in a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalWork {
    /// Epochs of all clients without an exception.
    pub epochs: u32,
    /// Epochs of single clients, by name.
    pub exceptions: BTreeMap<String, u32>,
}

impl LocalWork {
    /// The same number of epochs for all clients.
    pub fn same(epochs: u32) -> Self {
        Self { epochs, exceptions: BTreeMap::new() }
    }

    /// Epochs of a client.
    pub fn of(&self, member: &Member) -> u32 {
        self.exceptions.get(&member.name).copied().unwrap_or(self.epochs)
    }
}
