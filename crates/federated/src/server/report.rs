//! The report of a round.

use std::collections::BTreeMap;

use fedspd_run::LayerReport;

/// The server's report of a round.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundReport {
    /// The round, counted from 0.
    pub round: u32,
    /// The learning rate of the clients.
    pub learning_rate: f64,
    /// The clients asked.
    pub participants: Vec<usize>,
    /// The clients that did not count, with reasons.
    pub dropped: Vec<Dropped>,
    /// The mean of the clients' losses in their last epoch; none if no client sent one.
    pub train_loss: Option<f64>,
    /// One report for each Stiefel parameter; empty if no reply counted.
    pub layers: Vec<LayerReport>,
    /// Whether `rl-avg` replaced an average because the mean lost its rank.
    pub fallback: bool,
    /// Further metrics of the method, by name.
    pub metrics: BTreeMap<String, f64>,
    /// Bytes of all replies that counted.
    pub bytes_up: u64,
    /// Bytes sent to all clients asked.
    pub bytes_down: u64,
}

impl RoundReport {
    /// Whether no reply counted, so that the parameters did not change.
    pub fn is_empty(&self) -> bool {
        self.dropped.len() == self.participants.len()
    }
}

/// A client whose reply did not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Its index.
    pub client: usize,
    /// Its name.
    pub name: String,
    /// The reason.
    pub reason: String,
}
