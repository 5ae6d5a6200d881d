//! The server of either precision.

use std::path::Path;

use fedspd_federated::{Dropped, Exchange, Message, RoundReport, Server, ServerState};
use fedspd_manifold::Real;
use fedspd_nn::file::{Manifest, encode};

use crate::Error;

pub(super) trait AnyServer: Send + Sync {
    /// Returns the current exchange, its clients, their learning rate and the message to them.
    fn plan(&self) -> Result<(Exchange, Vec<usize>, f64, Message), Error>;

    /// Returns the model, for evaluation.
    fn model(&self) -> Message;

    /// Returns the number of trained parameters.
    fn trained(&self) -> usize;

    fn submit(&mut self, client: usize, reply: Result<Message, String>) -> Result<(), Error>;

    fn close(&mut self) -> Result<Option<RoundReport>, Error>;

    /// Returns the clients that have failed in the current round.
    fn dropped(&self) -> &[Dropped];

    fn advance(&mut self, validation_loss: f64) -> Result<(), Error>;

    fn state(&self) -> ServerState;

    fn restore(&mut self, state: &ServerState) -> Result<(), Error>;

    /// Returns the largest distance of a parameter from its manifold.
    fn feasibility_error(&self) -> Result<f64, Error>;

    /// Returns the bytes of the model file.
    fn encode(&self, path: &Path, manifest: &Manifest) -> Result<Vec<u8>, fedspd_nn::Error>;
}

impl<T: Real> AnyServer for Server<T> {
    fn plan(&self) -> Result<(Exchange, Vec<usize>, f64, Message), Error> {
        let plan = Server::plan(self)?;
        Ok((plan.exchange, plan.clients.to_vec(), plan.learning_rate, plan.message))
    }

    fn model(&self) -> Message {
        self.scopes().message(self.parameters())
    }

    fn trained(&self) -> usize {
        self.scopes().layout().trained_size()
    }

    fn submit(&mut self, client: usize, reply: Result<Message, String>) -> Result<(), Error> {
        Ok(Server::submit(self, client, reply)?)
    }

    fn close(&mut self) -> Result<Option<RoundReport>, Error> {
        Ok(Server::close(self)?)
    }

    fn dropped(&self) -> &[Dropped] {
        Server::dropped(self)
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

    fn encode(&self, path: &Path, manifest: &Manifest) -> Result<Vec<u8>, fedspd_nn::Error> {
        encode(path, manifest, self.parameters())
    }
}
