//! How a round went.

use std::collections::BTreeMap;

use fedspd_run::LayerReport;

/// How a round went, seen from the server.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundReport {
    /// Counted from 0.
    pub round: u32,
    /// That of the clients.
    pub learning_rate: f64,
    /// Who was asked.
    pub participants: Vec<usize>,
    /// Who did not count, and why.
    pub dropped: Vec<Dropped>,
    /// The mean of the clients' losses in their last epoch; none if nobody sent one.
    pub train_loss: Option<f64>,
    /// The average of each Stiefel parameter; nothing if nobody counted.
    pub layers: Vec<LayerReport>,
    /// Whether a mean had lost its rank, so that `rl-avg` took its place.
    pub fallback: bool,
    /// Further numbers that the method reports, by name.
    pub metrics: BTreeMap<String, f64>,
    /// Bytes of all replies that counted.
    pub bytes_up: u64,
    /// Bytes sent to all who were asked.
    pub bytes_down: u64,
}

impl RoundReport {
    /// Whether nobody counted, so that the parameters stayed as they were.
    pub fn is_empty(&self) -> bool {
        self.dropped.len() == self.participants.len()
    }
}

/// A client whose reply did not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Which.
    pub client: usize,
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: String,
}
