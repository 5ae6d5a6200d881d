//! A network with a site's trials, ready to be trained: in either precision, and for either network, the same from outside.

use fedspd_federated::{ClientState, Desk, LocalEpochs, Order, Part, Sender, Shard, Wire, aggregator};
use fedspd_manifold::Real;
use fedspd_nn::{Evaluation, Model, ParamSet, Seed};

use super::machine::travelling;
use super::numbers::{from_bytes, to_bytes};
use super::site::{Assignment, Reply};
use crate::config::Config;
use crate::runner::in_pool;
use crate::{Error, network};

/// What a site can do, whatever its network.
pub(super) trait Work: Send + Sync {
    /// Names and shapes of the parameters that travel, in their order.
    fn travelling(&self) -> Vec<(String, Vec<usize>)>;

    /// Looks for what would make training futile.
    fn check(&self) -> Result<Option<String>, Error>;

    /// A round's work; what is to be kept beside the reply.
    fn train(&self, task: &Assignment, state: &ClientState) -> Result<(Reply, ClientState), Error>;

    /// What the model makes of some trials; nothing of none.
    fn evaluate(
        &self,
        parameters: &[u8],
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
    fn travelling(&self) -> Vec<(String, Vec<usize>)> {
        travelling(&Wire::new(self.model.layout().clone()))
    }

    fn check(&self) -> Result<Option<String>, Error> {
        let parameters = self.model.initial(self.seed)?;
        self.at_desk(|desk| Ok(desk.trainer.check(&parameters, &self.examples, &self.shard.train)?))
    }

    fn train(&self, task: &Assignment, state: &ClientState) -> Result<(Reply, ClientState), Error> {
        let Self { examples, shard, config, seed, number, .. } = self;
        let wire = Wire::new(self.model.layout().clone());
        let (parameters, attachment) = self.received(&wire, &task.parameters)?;
        let solver: LocalEpochs = network::solver(config);
        let part = Part {
            examples,
            trials: &shard.train,
            solver: &solver,
            wire: &wire,
            seed: *seed,
            number: *number,
        };
        let order = Order {
            round: task.round,
            epochs: task.epochs,
            learning_rate: task.learning_rate,
            parameters: &parameters,
            attachment: &attachment,
        };
        let failed = |reason| Error::SiteFailed { round: task.round, reason };
        let (trained, how, state) = self.at_desk(|desk| part.play(&order, state, desk).map_err(failed))?;
        let server = network::server(config);
        let sender = Sender { client: *number as usize, round: task.round };
        let message = aggregator::<T>(server.aggregation, server.server_momentum, server.server_lr, &wire)?
            .message(&wire, sender, &parameters, &trained, &how.extra)?;
        let reply = Reply { parameters: to_bytes(&message), trials: shard.train.len(), loss: how.loss };
        Ok((reply, state))
    }

    fn evaluate(
        &self,
        parameters: &[u8],
        state: &ClientState,
        trials: &[usize],
    ) -> Result<Option<Evaluation>, Error> {
        if trials.is_empty() {
            return Ok(None);
        }
        let wire = Wire::new(self.model.layout().clone());
        let (parameters, _) = self.received(&wire, parameters)?;
        let parameters = wire.with_local(&parameters, &state.local);
        self.at_desk(|desk| Ok(Some(desk.trainer.evaluate(&parameters, &self.examples, trials)?)))
    }
}

impl<T: Real, M: Model<T> + Send> Workbench<T, M>
where
    M::Examples: Send,
{
    /// The parameters that were sent, in which local ones are as they were initialised, and what was sent beside.
    fn received(&self, wire: &Wire, bytes: &[u8]) -> Result<(ParamSet<T>, Vec<T>), Error> {
        let mut numbers = from_bytes::<T>(bytes).map_err(|fault| Error::Message { fault })?;
        let (expected, found) = (wire.shared_size(), numbers.len());
        if found < expected {
            let fault = format!("it sent {found} numbers where {expected} were expected");
            return Err(Error::Message { fault });
        }
        let attachment = numbers.split_off(expected);
        let mut parameters = self.model.initial(self.seed)?;
        wire.put_shared(&mut parameters, &numbers);
        Ok((parameters, attachment))
    }

    /// Works at a desk that all threads of this machine share.
    fn at_desk<R: Send>(
        &self,
        work: impl FnOnce(&mut Desk<'_, T, M>) -> Result<R, Error> + Send,
    ) -> Result<R, Error> {
        let (batch, threads) = (self.config.train.batch, self.threads);
        in_pool(threads, || work(&mut Desk::new(&self.model, batch, threads)?))
    }
}
