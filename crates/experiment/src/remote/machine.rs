//! The server of either precision.

use std::path::Path;

use fedspd_federated::{Dropped, Exchange, Message, RoundReport, Server, ServerState};
use fedspd_manifold::Real;
use fedspd_nn::Role;
use fedspd_nn::file::{Manifest, save};

use crate::Error;

pub(super) trait Machine: Send + Sync {
    /// The exchange under way: who is asked, their learning rate, and the message to them.
    fn plan(&self) -> Result<(Exchange, Vec<usize>, f64, Message), Error>;

    /// The model, for evaluation.
    fn model(&self) -> Message;

    /// How many numbers are trained.
    fn trained(&self) -> usize;

    fn submit(&mut self, client: usize, reply: Result<Message, String>) -> Result<(), Error>;

    fn close(&mut self) -> Result<Option<RoundReport>, Error>;

    /// Who failed so far in the round under way.
    fn dropped(&self) -> &[Dropped];

    fn advance(&mut self, validation_loss: f64) -> Result<(), Error>;

    fn state(&self) -> ServerState;

    fn restore(&mut self, state: &ServerState) -> Result<(), Error>;

    /// The largest distance of a Stiefel parameter from its manifold.
    fn feasibility_error(&self) -> Result<f64, Error>;

    fn save(&self, path: &Path, manifest: &Manifest) -> Result<(), fedspd_nn::Error>;
}

impl<T: Real> Machine for Server<T> {
    fn plan(&self) -> Result<(Exchange, Vec<usize>, f64, Message), Error> {
        let plan = Server::plan(self)?;
        Ok((plan.exchange, plan.clients.to_vec(), plan.learning_rate, plan.message))
    }

    fn model(&self) -> Message {
        self.wire().message(self.parameters())
    }

    fn trained(&self) -> usize {
        let parameters = self.wire().layout().parameters().iter();
        parameters.filter(|parameter| parameter.role == Role::Trained).map(|parameter| parameter.size()).sum()
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

    fn save(&self, path: &Path, manifest: &Manifest) -> Result<(), fedspd_nn::Error> {
        save(path, manifest, self.parameters())
    }
}
