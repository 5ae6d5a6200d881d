//! Federated methods.
//!
//! | method | client | server |
//! |---|---|---|
//! | [`fedavg`] | epochs on its own trials | the average of the replies |
//! | [`fedprox`] | the same with a proximal term | the same |
//!
//! A method is one file with two halves. Both declare the parts of every exchange. Every transport
//! carries these parts by name. The average of Stiefel matrices is a separate setting, the
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
use crate::{Error, Message, ParameterScopes, Parts, ServerConfig};

/// The position of an exchange in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Exchange {
    /// The round, counted from 0.
    pub round: u32,
    /// The exchange within the round, counted from 0. Most methods have one.
    pub number: u32,
}

/// The client half of a method. It is pure: it has no input or output, reads no clock and draws
/// random numbers only from its streams.
pub trait ClientMethod<T: Real>: Send + Sync {
    /// The parts of an exchange. Exchanges of a round count from 0.
    fn parts(&self, exchange: u32) -> Parts;

    /// Trains and returns the reply. `training` begins with the parameters of [`Task::start`].
    /// `memory` is empty before the first exchange. An exchange that counts keeps it for the next.
    ///
    /// # Errors
    /// Errors of training, such as [`NetworkError::Diverged`].
    fn reply(
        &self,
        task: &Task<'_, T>,
        memory: &mut Vec<f64>,
        training: &mut dyn LocalTraining<T>,
    ) -> Result<Message, NetworkError>;
}

/// The server half of a method.
///
/// Replies come in the order of the clients. A method that needs only sums stores no reply, so it
/// works with a secure sum.
pub trait ServerMethod<T: Real>: Send + Sync {
    /// The parts of an exchange. Exchanges of a round count from 0.
    fn parts(&self, exchange: u32) -> Parts;

    /// The message to all clients of an exchange.
    fn down(&self, exchange: u32, parameters: &ParamSet<T>) -> Message;

    /// Checks a reply before it counts. The server has already checked its parts against the
    /// declaration.
    ///
    /// # Errors
    /// The fault of the reply.
    fn check(&mut self, exchange: u32, reply: &Message) -> Result<(), Fault>;

    /// Adds the checked reply of the client with that index.
    ///
    /// # Errors
    /// [`Error::Average`] for a weight or a reply that cannot be averaged.
    fn add(
        &mut self,
        exchange: u32,
        client: usize,
        weight: f64,
        parameters: &ParamSet<T>,
        reply: &Message,
    ) -> Result<(), Error>;

    /// Closes an exchange in which at least one reply counted.
    ///
    /// # Errors
    /// [`Error::Average`] if an average does not exist.
    fn finish(&mut self, exchange: u32, parameters: &mut ParamSet<T>) -> Result<Merged, Error>;

    /// Its memory between rounds.
    fn memory(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Restores its memory between two rounds. Forgets the open round.
    ///
    /// # Errors
    /// [`Error::State`] if the memory has the wrong size.
    fn recall(&mut self, memory: &[f64]) -> Result<(), Error> {
        expect_numbers(memory, 0)
    }
}

/// The outcome of an exchange.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Merged {
    /// The outcome of its average.
    pub average: Aggregated,
    /// Further metrics of the method, by name.
    pub metrics: BTreeMap<String, f64>,
    /// Whether the round needs another exchange with the same clients.
    pub another: bool,
}

/// The two halves of a method.
pub struct Method<T: Real> {
    /// The client half.
    pub client: Box<dyn ClientMethod<T>>,
    /// The server half.
    pub server: Box<dyn ServerMethod<T>>,
}

/// Federated method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MethodName {
    /// Averages the models of the clients.
    #[default]
    Fedavg,
    /// FedAvg with a proximal term in the loss of the clients.
    Fedprox,
}

/// A method with its settings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum MethodConfig {
    /// The average of the replies.
    #[default]
    FedAvg,
    /// `fedavg` with a proximal term.
    FedProx {
        /// The weight of the term.
        mu: f64,
    },
}

impl MethodConfig {
    /// Builds both halves, for clients in the server's process and at sites.
    ///
    /// # Errors
    /// [`Error::Config`] for settings that are out of range or exclude each other.
    pub fn build<T: Real>(
        &self,
        local: LocalEpochs,
        server: &ServerConfig,
        scopes: &ParameterScopes,
    ) -> Result<Method<T>, Error> {
        let average = aggregator(server.aggregation, server.server_momentum, server.server_lr, scopes)?;
        match *self {
            Self::FedAvg => Ok(Method {
                client: Box::new(fedavg::Client::new(scopes, local)),
                server: Box::new(fedavg::Server::new(scopes, average)),
            }),
            Self::FedProx { mu } => {
                let valid = mu > 0.0 && mu.is_finite();
                check("mu", mu, valid, || "positive and finite".into())?;
                Ok(Method {
                    client: Box::new(fedprox::Client::new(scopes, local, mu)),
                    server: Box::new(fedavg::Server::new(scopes, average)),
                })
            }
        }
    }
}

/// Checks the length of a stored memory.
pub(crate) fn expect_numbers(memory: &[f64], expected: usize) -> Result<(), Error> {
    let (what, found) = ("memory values of the method", memory.len());
    if found == expected { Ok(()) } else { Err(Error::State { what, expected, found }) }
}
