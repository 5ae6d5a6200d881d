//! The settings of a server.

use std::collections::BTreeMap;

use fedspd_nn::schedule::{Mode, ScheduleConfig};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::aggregate::Aggregation;
use crate::error::check;
use crate::sampling::participant_count;

/// The settings of a server; the paper's by default.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerConfig {
    /// How replies become parameters.
    pub aggregation: Aggregation,
    /// The share of the last step of the server that is kept; with `rl-avg`.
    pub server_momentum: f64,
    /// The factor of the step of the server; with `rl-avg`.
    pub server_lr: f64,
    /// The share of clients that take part in a round.
    pub participation: f64,
    /// How much each reply counts.
    pub weighting: Weighting,
    /// How much work a client does in a round.
    pub work: LocalWork,
    /// The first learning rate.
    pub learning_rate: f64,
    /// How it changes from round to round.
    pub schedule: ScheduleConfig,
    /// What happens when a client fails.
    pub on_client_failure: OnFailure,
    /// The smallest number of replies that count for a round to be closed. With a quorum of 0, a round
    /// without a reply leaves the parameters as they are.
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
            format!("at most as many as take part in a round, {asked}")
        })?;
        let unknown =
            self.work.exceptions.keys().find(|name| members.iter().all(|member| member.name != **name));
        let unknown = unknown.map_or("", String::as_str);
        check("epochs_local", unknown, unknown.is_empty(), || {
            let names: Vec<&str> = members.iter().take(8).map(|member| &*member.name).collect();
            format!("for clients that exist, such as {}", names.join(", "))
        })
    }
}

/// A client as the server knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// What it is called in messages.
    pub name: String,
    /// How many trials it trains on.
    pub trials: usize,
}

/// How much each reply counts in a mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Weighting {
    /// The same, as in the paper.
    #[default]
    Uniform,
    /// As many times as it has training trials.
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

/// What happens when a client fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    /// The run stops with an error.
    #[default]
    Stop,
    /// The round goes on without it, and says so.
    Skip,
}

/// How many epochs a client trains in a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalWork {
    /// Of everyone.
    pub epochs: u32,
    /// Except these, by name.
    pub exceptions: BTreeMap<String, u32>,
}

impl LocalWork {
    /// The same for everyone.
    pub fn same(epochs: u32) -> Self {
        Self { epochs, exceptions: BTreeMap::new() }
    }

    /// Those of a client.
    pub fn of(&self, member: &Member) -> u32 {
        self.exceptions.get(&member.name).copied().unwrap_or(self.epochs)
    }
}
