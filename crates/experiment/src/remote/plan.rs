//! The plans of exchanges and evaluations.

use fedspd_federated::{Exchange, Message};

/// The plan of an exchange.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The exchange.
    pub exchange: Exchange,
    /// The learning rate of the clients.
    pub learning_rate: f64,
    /// The participating clients, in ascending order.
    pub clients: Vec<ClientPlan>,
    /// The message to all of them.
    pub message: Message,
}

/// The part of one client in an exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientPlan {
    /// Its index.
    pub client: usize,
    /// Its number of epochs.
    pub epochs: u32,
    /// The last exchange in which its reply counted.
    pub since: Option<Exchange>,
}

/// The evaluation of the new model by every site, once a round is closed.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluationPlan {
    /// The new model.
    pub message: Message,
    /// Whether the sites validate it.
    pub validated: bool,
    /// Whether the sites test it.
    pub tested: bool,
    /// The last exchange in which each site's reply counted.
    pub since: Vec<Option<Exchange>>,
}
