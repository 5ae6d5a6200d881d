//! The server of either precision.

use fedspd_federated::{Dropped, Exchange, Message, RoundReport, Server, ServerState};
use fedspd_manifold::Real;
use fedspd_nn::file::Manifest;

use crate::record::Recorder;
use crate::{Error, Observer};

pub(super) trait AnyServer: Send + Sync {
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

    /// The largest distance of a parameter from its manifold.
    fn feasibility_error(&self) -> Result<f64, Error>;

    /// Writes the model to the run folder.
    fn save(
        &self,
        recorder: &mut Recorder,
        seed: u64,
        manifest: &Manifest,
        observer: &mut (dyn Observer + Send),
    ) -> Result<(), Error>;
}

impl<T: Real> AnyServer for Server<T> {
    fn plan(&self) -> Result<(Exchange, Vec<usize>, f64, Message), Error> {
        let plan = Server::plan(self)?;
        Ok((plan.exchange, plan.clients.to_vec(), plan.learning_rate, plan.message))
    }

    fn model(&self) -> Message {
        self.wire().message(self.parameters())
    }

    fn trained(&self) -> usize {
        self.wire().layout().trained_size()
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

    fn save(
        &self,
        recorder: &mut Recorder,
        seed: u64,
        manifest: &Manifest,
        observer: &mut (dyn Observer + Send),
    ) -> Result<(), Error> {
        recorder.save_model(seed, manifest, self.parameters(), observer)
    }
}
