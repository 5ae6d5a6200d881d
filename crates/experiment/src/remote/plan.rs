//! What the server of sites asks for.

use fedspd_federated::{Exchange, Message};

/// What an exchange asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Which exchange.
    pub exchange: Exchange,
    /// The learning rate of the clients.
    pub learning_rate: f64,
    /// Who is asked, in ascending order.
    pub clients: Vec<Asked>,
    /// The message to all of them.
    pub message: Message,
}

/// One who is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// By number.
    pub client: usize,
    /// How many epochs it trains.
    pub epochs: u32,
    /// The last exchange in which its reply counted.
    pub since: Option<Exchange>,
}

/// What is asked of every site once a round is closed.
#[derive(Clone, Debug, PartialEq)]
pub struct Examination {
    /// The new model.
    pub message: Message,
    /// Whether it is validated.
    pub validated: bool,
    /// Whether it is tested.
    pub tested: bool,
    /// Of each site, the last exchange in which its reply counted.
    pub since: Vec<Option<Exchange>>,
}
