//! The work of a site, for any network.

use fedspd_federated::{Client, ClientState, Message, ParameterScopes, PartSpec, Shard, Task, Worker};
use fedspd_manifold::Real;
use fedspd_nn::{Architecture, Evaluation, InputShape, ParamSet, Seed};

use super::cache::PreparedTrials;
use super::site::SiteTask;
use crate::Error;
use crate::config::Config;
use crate::train::{Visitor, in_pool, settings};

/// The work of a site, for any network.
pub(super) trait SiteWork: Send + Sync {
    /// Checks for faults that would make training useless. Returns a warning about suspicious data.
    fn check(&self) -> Result<Option<String>, Error>;

    /// Returns the reply to a message, and the site's state if the reply counts.
    fn train(&self, task: &SiteTask, state: &ClientState) -> Result<(Message, ClientState), Error>;

    /// Evaluates a model on some trials. Returns none without trials.
    fn evaluate(
        &self,
        model: &Message,
        state: &ClientState,
        trials: &[usize],
    ) -> Result<Option<Evaluation>, Error>;
}

/// Prepares the examples of a network for the trials of a site.
pub(super) struct NewWorker<'a> {
    pub(super) config: &'a Config,
    pub(super) shape: InputShape,
    pub(super) trials: PreparedTrials,
    pub(super) seed: Seed,
    pub(super) number: u32,
    pub(super) threads: usize,
}

impl Visitor for NewWorker<'_> {
    type Output = Box<dyn SiteWork>;

    fn visit<T: Real, N: Architecture<T>>(self, network: N) -> Result<Box<dyn SiteWork>, Error> {
        let PreparedTrials { shard, labels, numbers, .. } = self.trials;
        let examples = in_pool(self.threads, || {
            Ok(network.prepare(N::trials(&self.shape, numbers.into_vec(), labels)?)?)
        })?;
        let (config, seed, number, threads) = (self.config.clone(), self.seed, self.number, self.threads);
        Ok(Box::new(SiteWorker { network, examples, shard, config, seed, number, threads }))
    }
}

struct SiteWorker<T: Real, N: Architecture<T>> {
    network: N,
    examples: N::Examples,
    shard: Shard,
    config: Config,
    seed: Seed,
    number: u32,
    threads: usize,
}

impl<T: Real, N: Architecture<T>> SiteWork for SiteWorker<T, N> {
    fn check(&self) -> Result<Option<String>, Error> {
        let parameters = self.network.initial(self.seed)?;
        self.with_worker(|worker| Ok(worker.trainer.check(&parameters, &self.examples, &self.shard.train)?))
    }

    fn train(&self, task: &SiteTask, state: &ClientState) -> Result<(Message, ClientState), Error> {
        let Self { examples, shard, config, seed, number, .. } = self;
        let scopes = ParameterScopes::new(self.network.layout().clone());
        let method = settings::method::<T>(config, &scopes)?.client;
        let parameters = self.received(&scopes, &method.parts(task.exchange.number).down, &task.message)?;
        let client = Client {
            examples,
            trials: &shard.train,
            method: &*method,
            scopes: &scopes,
            seed: *seed,
            number: *number,
        };
        let work = Task {
            exchange: task.exchange,
            epochs: task.epochs,
            learning_rate: task.learning_rate,
            start: &parameters,
            message: &task.message,
        };
        let failed = |reason| Error::SiteFailed { round: task.exchange.round, reason };
        self.with_worker(|worker| client.reply(&work, state, worker).map_err(failed))
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
        let scopes = ParameterScopes::new(self.network.layout().clone());
        let parameters = self.received(&scopes, &scopes.specs::<T>(), model)?;
        let parameters = scopes.with_local(&parameters, &state.local);
        self.with_worker(|worker| Ok(Some(worker.trainer.evaluate(&parameters, &self.examples, trials)?)))
    }
}

impl<T: Real, N: Architecture<T>> SiteWorker<T, N> {
    /// Returns the parameters of a message. Local ones have their initial values.
    fn received(
        &self,
        scopes: &ParameterScopes,
        declared: &[PartSpec],
        message: &Message,
    ) -> Result<ParamSet<T>, Error> {
        message.check(declared).map_err(|fault| Error::Message { fault: fault.to_string() })?;
        let mut parameters = self.network.initial(self.seed)?;
        scopes.receive(&mut parameters, message);
        Ok(parameters)
    }

    /// Runs work with one worker. All threads share its batches.
    fn with_worker<R: Send>(
        &self,
        work: impl FnOnce(&mut Worker<'_, T, N>) -> Result<R, Error> + Send,
    ) -> Result<R, Error> {
        let (batch, threads) = (self.config.train.batch, self.threads);
        in_pool(threads, || work(&mut Worker::new(&self.network, batch, threads)?))
    }
}
