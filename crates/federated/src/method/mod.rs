//! Federated methods.
//!
//! | method | client | server |
//! |---|---|---|
//! | [`fedavg`] | epochs on its own trials | the average of the replies |
//! | [`fedprox`] | the same with a pull towards the received model | the same |
//!
//! A method is one file with two halves. Both declare the parts of every exchange; whoever carries
//! messages carries these parts by name. How Stiefel matrices become one is a separate choice, the
//! [`Aggregation`](crate::Aggregation).

pub mod fedavg;
pub mod fedprox;
mod local_epochs;

use std::collections::BTreeMap;

use fedspd_manifold::Real;
use fedspd_nn::{Error as NetworkError, ParamSet};
use serde::{Deserialize, Serialize};

pub use local_epochs::LocalEpochs;

use crate::aggregate::{Aggregated, Fault, aggregator};
use crate::client::{LocalTraining, Task};
use crate::error::check;
use crate::{Error, Message, Parts, ServerConfig, Wire};

/// The place of an exchange in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Exchange {
    /// The round, counted from 0.
    pub round: u32,
    /// The exchange within the round, counted from 0. Most methods have one.
    pub number: u32,
}

/// The client's half of a method. It is pure: no input or output, no clock, no random numbers but
/// those of its streams.
pub trait ClientMethod<T: Real>: Send + Sync {
    /// The parts of an exchange of a round, counted from 0.
    fn parts(&self, exchange: u32) -> Parts;

    /// Trains, and returns the reply. The parameters of `training` are those of [`Task::start`]
    /// when it begins. `memory` is kept from one exchange that counts to the next; it is empty
    /// before the first.
    ///
    /// # Errors
    /// Whatever happens in training, such as [`NetworkError::Diverged`].
    fn reply(
        &self,
        task: &Task<'_, T>,
        memory: &mut Vec<f64>,
        training: &mut dyn LocalTraining<T>,
    ) -> Result<Message, NetworkError>;
}

/// The server's half of a method.
///
/// Replies come in the order of the clients. A method that needs sums alone stores no reply, so it
/// works behind a secure sum.
pub trait ServerMethod<T: Real>: Send + Sync {
    /// The parts of an exchange of a round, counted from 0.
    fn parts(&self, exchange: u32) -> Parts;

    /// The message to all clients of an exchange.
    fn down(&self, exchange: u32, parameters: &ParamSet<T>) -> Message;

    /// Checks a reply before it counts. Its parts are those that were declared.
    ///
    /// # Errors
    /// What is wrong with it.
    fn check(&mut self, exchange: u32, reply: &Message) -> Result<(), Fault>;

    /// Takes a reply that was checked, of the client with that index.
    ///
    /// # Errors
    /// [`Error::Average`] for a weight that cannot be used.
    fn add(
        &mut self,
        exchange: u32,
        client: usize,
        weight: f64,
        parameters: &ParamSet<T>,
        reply: &Message,
    ) -> Result<(), Error>;

    /// Ends an exchange in which at least one reply counted.
    ///
    /// # Errors
    /// [`Error::Average`] if an average does not exist.
    fn finish(&mut self, exchange: u32, parameters: &mut ParamSet<T>) -> Result<Merged, Error>;

    /// Its memory between rounds.
    fn memory(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Restores its memory between two rounds. It forgets the round under way.
    ///
    /// # Errors
    /// [`Error::State`] if it is another's.
    fn recall(&mut self, memory: &[f64]) -> Result<(), Error> {
        expect_numbers(memory, 0)
    }
}

/// The outcome of an exchange.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Merged {
    /// The outcome of its average.
    pub average: Aggregated,
    /// Further numbers that the method reports, by name.
    pub metrics: BTreeMap<String, f64>,
    /// Whether the round needs another exchange with the same clients.
    pub another: bool,
}

/// The two halves of a method.
pub struct Method<T: Real> {
    /// Of the client.
    pub client: Box<dyn ClientMethod<T>>,
    /// Of the server.
    pub server: Box<dyn ServerMethod<T>>,
}

/// Which method, as settings spell it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MethodName {
    /// The average of the replies.
    #[default]
    Fedavg,
    /// The same with a proximal term.
    Fedprox,
}

/// Which method, with its settings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum MethodConfig {
    /// The average of the replies.
    #[default]
    FedAvg,
    /// The same with a proximal term.
    FedProx {
        /// The weight of the term.
        mu: f64,
    },
}

impl MethodConfig {
    /// Builds both halves, for a client in the process of the server and for a site alike.
    ///
    /// # Errors
    /// [`Error::Config`] for settings that are out of range or exclude each other.
    pub fn build<T: Real>(
        &self,
        local: LocalEpochs,
        server: &ServerConfig,
        wire: &Wire,
    ) -> Result<Method<T>, Error> {
        let aggregator = aggregator(server.aggregation, server.server_momentum, server.server_lr, wire)?;
        let server = Box::new(fedavg::Server::new(wire, aggregator));
        let client: Box<dyn ClientMethod<T>> = match *self {
            Self::FedAvg => Box::new(fedavg::Client::new(wire, local)),
            Self::FedProx { mu } => {
                let valid = mu > 0.0 && mu.is_finite();
                check("mu", mu, valid, || "positive and finite".into())?;
                Box::new(fedprox::Client::new(wire, local, mu))
            }
        };
        Ok(Method { client, server })
    }
}

/// Checks how many numbers were remembered.
pub(crate) fn expect_numbers(memory: &[f64], expected: usize) -> Result<(), Error> {
    let (what, found) = ("numbers that the method remembers", memory.len());
    if found == expected { Ok(()) } else { Err(Error::State { what, expected, found }) }
}
