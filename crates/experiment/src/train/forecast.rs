//! The forecast of a run: clients, sizes, memory and time, without training.

use std::time::{Duration, Instant};

use fedspd_federated::{LocalTraining, Shard, Worker};
use fedspd_manifold::Real;
use fedspd_nn::{Architecture, Purpose, Seed};
use fedspd_run::{SeedShards, Unit};

use super::experiment::{Experiment, in_pool};
use super::network::Visitor;
use super::settings;
use crate::Error;
use crate::config::Mode;
use crate::data::Content;
use crate::split::Design;

/// The forecast of a run.
pub struct Forecast {
    /// The clients and their trials, with the first seed and fold.
    pub shards: SeedShards,
    /// Number of folds that are trained one after the other.
    pub folds: usize,
    /// Largest number of rounds of each seed and fold.
    pub rounds: u32,
    /// Clients that train in a round.
    pub participants: usize,
    /// Trained parameters.
    pub parameters: usize,
    /// Shared parameters, which are sent.
    pub shared: usize,
    /// Bytes sent to clients and back in a round, together.
    pub bytes_per_round: u64,
    /// Bytes of the trials, both as loaded and as the network reads them.
    pub data_bytes: u64,
    /// Bytes of the states of all clients: local parameters and carried moments.
    pub state_bytes: u64,
    /// Bytes of replies that are kept until the end of a round, if an average needs all at once.
    pub reply_bytes: u64,
    /// Seconds of all seeds, estimated from the time of one client's epoch.
    pub seconds: f64,
}

impl Forecast {
    /// Computes the forecast. Trains a few epochs of one client to measure the time.
    ///
    /// # Errors
    /// Faults of the setup and of training.
    pub fn new(experiment: &Experiment) -> Result<Self, Error> {
        let config = &experiment.config;
        let units = experiment.units()?;
        let unit = units.first().copied().unwrap_or(Unit::of_seed(0));
        let (seed, design) = (unit.seed, experiment.design(unit)?);
        let (parameters, shared, local) = experiment.parameter_counts()?;
        let epoch = in_pool(experiment.threads(), || {
            experiment.with_network(TimedEpoch { experiment, design: &design })
        })?;
        let kept = settings::server(config).aggregation.kept_numbers(&experiment.scopes()?);
        let width = config.model.resolved_precision().bytes();
        // Clients without training trials in this fold do not take part.
        let clients = design.shards.iter().filter(|shard| !shard.train.is_empty()).count();
        let federated = config.mode == Mode::Federated;
        let participation = settings::server(config).participation;
        let participants = match config.mode {
            Mode::Federated => fedspd_federated::participants(Seed(seed), 0, clients, participation).len(),
            Mode::Centralised => 1,
            Mode::Local => clients,
        };
        let numbers: usize = match &experiment.dataset.content {
            Content::Covariances(covariances) => covariances.matrices().len(),
            Content::Trials(trials) => trials.len() * trials.length() * trials.about.channels.len(),
        };
        let carried = if settings::local_epochs(config).carry_state { 2 * parameters } else { 0 };
        let holders = if config.mode == Mode::Centralised { 1 } else { clients };
        let trials: usize = design.shards.iter().map(|shard| shard.train.len()).sum();
        let share = if federated { participants as f64 / clients as f64 } else { 1.0 };
        let epochs = if federated { config.federated.epochs_local.default as f64 } else { 1.0 };
        let rounds = settings::rounds(config);
        // A prediction takes about a third of a training step. All clients validate and test.
        let validated: usize = design.shards.iter().map(|shard| shard.validation.len()).sum();
        let tested: usize = design.shards.iter().map(|shard| shard.test.len()).sum();
        let (validated, tested) = (
            validated as f64 / config.run.validate_every as f64,
            tested as f64 / config.run.eval_every as f64,
        );
        let predicted = (validated + tested) / 3.0;
        let worked = trials as f64 * share * epochs + predicted;
        let work = epoch.as_secs_f64() * worked / experiment.threads() as f64;
        Ok(Self {
            shards: design.counts(experiment.config.mode, experiment.dataset.about(), unit),
            folds: experiment.folds()?.unwrap_or(1),
            rounds,
            participants,
            parameters,
            shared,
            bytes_per_round: if federated { (2 * participants * shared * width) as u64 } else { 0 },
            data_bytes: (numbers * (8 + width)) as u64,
            state_bytes: (holders * (local + carried) * 8) as u64,
            reply_bytes: (participants * kept * 8) as u64,
            seconds: work * f64::from(rounds) * units.len() as f64,
        })
    }
}

/// Measures the time per trial and epoch of the first client, after one warm-up epoch.
struct TimedEpoch<'a> {
    experiment: &'a Experiment,
    design: &'a Design,
}

impl Visitor for TimedEpoch<'_> {
    type Output = Duration;

    fn visit<T: Real, N: Architecture<T>>(self, network: N) -> Result<Duration, Error> {
        let (experiment, config) = (self.experiment, &self.experiment.config);
        let examples = experiment.examples(&network, experiment.inputs(self.design, false)?.numbers)?;
        let mut worker = Worker::new(&network, config.train.batch, 1)?;
        let start = network.initial(Seed(0))?;
        let empty = Shard { train: vec![0], validation: Vec::new(), test: Vec::new() };
        let training = self.design.shards.iter().find(|shard| !shard.train.is_empty());
        let trials = &training.unwrap_or(&empty).train;
        let optimiser = settings::local_epochs(config).optimiser;
        let mut train = |epochs| -> Result<Duration, Error> {
            let mut training = worker.training(&start, &examples, trials, Seed(0).stream(Purpose::Shuffle));
            let begin = Instant::now();
            training.epochs(optimiser, None, epochs, config.train.lr, &mut |_, _| Ok(()))?;
            Ok(begin.elapsed())
        };
        train(1)?;
        Ok(train(2)? / (2 * trials.len() as u32))
    }
}
