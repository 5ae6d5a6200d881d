//! A small federation.

use fedspd_federated::{
    Federation, LocalEpochs, Member, Message, Method, MethodConfig, ParameterScopes, Part, Server,
    ServerConfig, Shard, Worker,
};
use fedspd_manifold::Real;
use fedspd_nn::{
    Examples, Model, OptimiserConfig, ParamSet, Seed, SpdNet, SpdNetConfig, SpdTrials, SyntheticTask,
};

/// Clients with common examples. The trials of a client are consecutive.
pub(crate) struct Clients<T: Real = f64> {
    pub(crate) net: SpdNet<T>,
    pub(crate) examples: Examples<T>,
    pub(crate) shards: Vec<Shard>,
}

impl Clients {
    /// Clients of a task, in double precision.
    pub(crate) fn new(task: SyntheticTask, config: SpdNetConfig, clients: u32) -> Self {
        Self::of(task, config, clients)
    }

    /// The small federation in double precision.
    pub(crate) fn small() -> Self {
        Self::of_small_task()
    }
}

impl<T: Real> Clients<T>
where
    SpdNet<T>: Model<T, Trials = SpdTrials<T>, Examples = Examples<T>>,
{
    /// Clients of a task. Of ten trials seven are for training, one for validation and two for
    /// test.
    fn of(task: SyntheticTask, config: SpdNetConfig, clients: u32) -> Self {
        let net = SpdNet::new(config).unwrap();
        let (n, classes) = (net.config().dimensions[0], net.config().classes);
        let (mut matrices, mut labels, mut shards) = (Vec::new(), Vec::new(), Vec::new());
        for client in 0..clients {
            let trials: SpdTrials<T> = task.client(Seed(0), client).unwrap();
            let places = labels.len()..labels.len() + trials.labels().len();
            matrices.extend_from_slice(trials.matrices());
            labels.extend_from_slice(trials.labels());
            let part = |tenths: std::ops::Range<usize>| {
                places
                    .clone()
                    .filter(|place| tenths.contains(&((place - places.start) / classes % 10)))
                    .collect()
            };
            shards.push(Shard { train: part(0..7), validation: part(7..8), test: part(8..10) });
        }
        let examples = net.prepare(SpdTrials::new(n, 1, classes, matrices, labels).unwrap()).unwrap();
        Self { net, examples, shards }
    }

    /// Four clients of 60 trials of 6 x 6 matrices in three classes, with a shift between clients.
    pub(crate) fn of_small_task() -> Self {
        let task = SyntheticTask::new(6, 3).trials(60).shift(0.3);
        Self::of(task, SpdNetConfig::new(vec![6, 4], 3), 4)
    }

    pub(crate) fn members(&self) -> Vec<Member> {
        let member = |(client, shard): (usize, &Shard)| Member {
            name: format!("client {}", client + 1),
            trials: shard.train.len(),
        };
        self.shards.iter().enumerate().map(member).collect()
    }

    pub(crate) fn scopes(&self) -> ParameterScopes {
        ParameterScopes::new(self.net.layout().clone())
    }

    pub(crate) fn server(&self, config: ServerConfig) -> Server<T> {
        let server = fedavg(&config, &self.scopes()).server;
        Server::new(config, self.members(), self.net.initial(Seed(0)).unwrap(), server, Seed(0)).unwrap()
    }

    pub(crate) fn federation(
        &self,
        config: ServerConfig,
        local: LocalEpochs,
    ) -> Federation<'_, T, SpdNet<T>> {
        let method = MethodConfig::FedAvg.build(local, &config, &self.scopes()).unwrap();
        self.federation_by(config, method)
    }

    /// A federation with a custom method.
    pub(crate) fn federation_by(
        &self,
        config: ServerConfig,
        method: Method<T>,
    ) -> Federation<'_, T, SpdNet<T>> {
        let initial = self.net.initial(Seed(0)).unwrap();
        let server = Server::new(config, self.members(), initial, method.server, Seed(0)).unwrap();
        let numbers = (0..self.shards.len() as u32).collect();
        Federation::new(&self.examples, &self.shards, numbers, method.client, server, Seed(0)).unwrap()
    }

    pub(crate) fn workers(&self, count: usize) -> Vec<Worker<'_, T, SpdNet<T>>> {
        (0..count).map(|_| Worker::new(&self.net, 16, 1).unwrap()).collect()
    }

    /// The values of the parameters after some rounds.
    pub(crate) fn train(
        &self,
        config: ServerConfig,
        local: LocalEpochs,
        rounds: u32,
        workers: usize,
    ) -> Vec<T> {
        let mut federation = self.federation(config, local);
        let mut workers = self.workers(workers);
        for _ in 0..rounds {
            federation.round(&mut workers, true).unwrap();
        }
        federation.server().parameters().values().to_vec()
    }
}

/// Both halves of `fedavg`.
pub(crate) fn fedavg<T: Real>(config: &ServerConfig, scopes: &ParameterScopes) -> Method<T> {
    MethodConfig::FedAvg.build(adam(), config, scopes).unwrap()
}

/// A reply with these parameters and a loss.
pub(crate) fn reply<T: Real>(scopes: &ParameterScopes, parameters: &ParamSet<T>, loss: f64) -> Message {
    let mut message = scopes.message(parameters);
    message.push(Part::loss(loss));
    message
}

pub(crate) fn adam() -> LocalEpochs {
    LocalEpochs::new(OptimiserConfig::default())
}

pub(crate) fn fast() -> ServerConfig {
    ServerConfig { learning_rate: 1e-2, ..ServerConfig::default() }
}

pub(crate) fn gap(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}
