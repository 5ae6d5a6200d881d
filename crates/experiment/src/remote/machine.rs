//! The server of either precision, with bytes where it has numbers.

use std::path::Path;

use fedspd_federated::{RoundReport, Server, ServerState, Update, Wire};
use fedspd_manifold::Real;
use fedspd_nn::Role;
use fedspd_nn::file::{Manifest, save};

use super::numbers::{from_bytes, to_bytes};
use super::site::Reply;
use crate::Error;

pub(super) trait Machine: Send + Sync {
    /// The round under way: who is asked, and how fast they train.
    fn plan(&self) -> Result<(u32, Vec<usize>, f64), Error>;

    /// What clients receive.
    fn sent(&self) -> Vec<u8>;

    /// Names and shapes of the parameters that travel, in their order.
    fn travelling(&self) -> Vec<(String, Vec<usize>)>;

    /// How many numbers are trained.
    fn trained(&self) -> usize;

    fn submit(&mut self, client: usize, reply: Result<Reply, String>) -> Result<(), Error>;

    fn close(&mut self) -> Result<RoundReport, Error>;

    fn advance(&mut self, validation_loss: f64) -> Result<(), Error>;

    fn state(&self) -> ServerState;

    fn restore(&mut self, state: &ServerState) -> Result<(), Error>;

    /// The largest distance of a Stiefel parameter from its manifold.
    fn feasibility_error(&self) -> Result<f64, Error>;

    fn save(&self, path: &Path, manifest: &Manifest) -> Result<(), fedspd_nn::Error>;
}

/// Names and shapes of the parameters that travel, in their order.
pub(super) fn travelling(wire: &Wire) -> Vec<(String, Vec<usize>)> {
    wire.parameters().map(|(parameter, _)| (parameter.name.clone(), parameter.shape.clone())).collect()
}

impl<T: Real> Machine for Server<T> {
    fn plan(&self) -> Result<(u32, Vec<usize>, f64), Error> {
        let plan = Server::plan(self)?;
        Ok((plan.round, plan.clients.to_vec(), plan.learning_rate))
    }

    fn sent(&self) -> Vec<u8> {
        let mut numbers = self.wire().shared(self.parameters());
        numbers.extend_from_slice(self.aggregator().attachment());
        to_bytes(&numbers)
    }

    fn travelling(&self) -> Vec<(String, Vec<usize>)> {
        travelling(self.wire())
    }

    fn trained(&self) -> usize {
        let parameters = self.wire().layout().parameters().iter();
        parameters.filter(|parameter| parameter.role == Role::Trained).map(|parameter| parameter.size()).sum()
    }

    fn submit(&mut self, client: usize, reply: Result<Reply, String>) -> Result<(), Error> {
        let update = reply.and_then(|Reply { parameters, trials, loss }| {
            Ok(Update { message: from_bytes(&parameters)?, trials, loss })
        });
        Ok(Server::submit(self, client, update)?)
    }

    fn close(&mut self) -> Result<RoundReport, Error> {
        Ok(Server::close(self)?)
    }

    fn advance(&mut self, validation_loss: f64) -> Result<(), Error> {
        Ok(Server::advance(self, validation_loss)?)
    }

    fn state(&self) -> ServerState {
        Server::state(self)
    }

    fn restore(&mut self, state: &ServerState) -> Result<(), Error> {
        Ok(Server::restore(self, state)?)
    }

    fn feasibility_error(&self) -> Result<f64, Error> {
        Ok(self.parameters().feasibility_error()?)
    }

    fn save(&self, path: &Path, manifest: &Manifest) -> Result<(), fedspd_nn::Error> {
        save(path, manifest, self.parameters())
    }
}
