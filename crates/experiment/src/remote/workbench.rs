//! The work of a site, whatever its network.

use fedspd_federated::{Client, ClientState, Message, Order, PartSpec, Shard, Wire, Worker};
use fedspd_manifold::Real;
use fedspd_nn::{Evaluation, Model, ParamSet, Seed};

use super::site::Assignment;
use crate::config::Config;
use crate::runner::in_pool;
use crate::{Error, network};

/// What a site can do, whatever its network.
pub(super) trait Work: Send + Sync {
    /// Looks for what would make training futile.
    fn check(&self) -> Result<Option<String>, Error>;

    /// The reply to a message, and what is to be kept if it counts.
    fn train(&self, task: &Assignment, state: &ClientState) -> Result<(Message, ClientState), Error>;

    /// What the model makes of some trials; nothing of none.
    fn evaluate(
        &self,
        model: &Message,
        state: &ClientState,
        trials: &[usize],
    ) -> Result<Option<Evaluation>, Error>;
}

pub(super) struct Workbench<T: Real, M: Model<T>> {
    pub(super) model: M,
    pub(super) examples: M::Examples,
    pub(super) shard: Shard,
    pub(super) config: Config,
    pub(super) seed: Seed,
    pub(super) number: u32,
    pub(super) threads: usize,
}

impl<T: Real, M: Model<T> + Send> Work for Workbench<T, M>
where
    M::Examples: Send,
{
    fn check(&self) -> Result<Option<String>, Error> {
        let parameters = self.model.initial(self.seed)?;
        self.with_worker(|worker| Ok(worker.trainer.check(&parameters, &self.examples, &self.shard.train)?))
    }

    fn train(&self, task: &Assignment, state: &ClientState) -> Result<(Message, ClientState), Error> {
        let Self { examples, shard, config, seed, number, .. } = self;
        let wire = Wire::new(self.model.layout().clone());
        let method = network::method::<T>(config, &wire)?.client;
        let parameters = self.received(&wire, &method.parts(task.exchange.number).down, &task.message)?;
        let client = Client {
            examples,
            trials: &shard.train,
            method: &*method,
            wire: &wire,
            seed: *seed,
            number: *number,
        };
        let order = Order {
            exchange: task.exchange,
            epochs: task.epochs,
            learning_rate: task.learning_rate,
            parameters: &parameters,
            message: &task.message,
        };
        let failed = |reason| Error::SiteFailed { round: task.exchange.round, reason };
        self.with_worker(|worker| client.reply(&order, state, worker).map_err(failed))
    }

    fn evaluate(
        &self,
        model: &Message,
        state: &ClientState,
        trials: &[usize],
    ) -> Result<Option<Evaluation>, Error> {
        if trials.is_empty() {
            return Ok(None);
        }
        let wire = Wire::new(self.model.layout().clone());
        let parameters = self.received(&wire, &wire.specs::<T>(), model)?;
        let parameters = wire.with_local(&parameters, &state.local);
        self.with_worker(|worker| Ok(Some(worker.trainer.evaluate(&parameters, &self.examples, trials)?)))
    }
}

impl<T: Real, M: Model<T> + Send> Workbench<T, M>
where
    M::Examples: Send,
{
    /// The parameters of a message, in which local ones are as they were initialised.
    fn received(&self, wire: &Wire, declared: &[PartSpec], message: &Message) -> Result<ParamSet<T>, Error> {
        message.check(declared).map_err(|fault| Error::Message { fault: fault.to_string() })?;
        let mut parameters = self.model.initial(self.seed)?;
        wire.receive(&mut parameters, message);
        Ok(parameters)
    }

    /// Works with a worker that all threads of this machine share.
    fn with_worker<R: Send>(
        &self,
        work: impl FnOnce(&mut Worker<'_, T, M>) -> Result<R, Error> + Send,
    ) -> Result<R, Error> {
        let (batch, threads) = (self.config.train.batch, self.threads);
        in_pool(threads, || work(&mut Worker::new(&self.model, batch, threads)?))
    }
}
