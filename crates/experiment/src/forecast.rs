//! What a run would do, without doing it.

use std::time::{Duration, Instant};

use fedspd_federated::{LocalTraining, Shard, Worker};
use fedspd_manifold::Real;
use fedspd_nn::{Model, Purpose, Seed};
use fedspd_run::SeedShards;

use crate::config::{Mode, Precision};
use crate::data::Content;
use crate::design::Design;
use crate::experiment::{Experiment, SpdData};
use crate::{Error, network};

/// What a run would do.
pub struct Forecast {
    /// Who would have what, with the first seed.
    pub shards: SeedShards,
    /// Rounds of each seed, at most.
    pub rounds: u32,
    /// Clients that take part in a round.
    pub participants: usize,
    /// Trained numbers.
    pub parameters: usize,
    /// Numbers that are sent.
    pub shared: usize,
    /// Bytes sent to clients and back in a round, together.
    pub bytes_per_round: u64,
    /// Bytes of the trials, as they are loaded and as the network reads them.
    pub data_bytes: u64,
    /// Bytes of what clients keep from round to round (local parameters, carried moments), which grow with their number.
    pub state_bytes: u64,
    /// Bytes of replies that wait for the end of a round, where an average needs all of them at once.
    pub reply_bytes: u64,
    /// Seconds of all seeds, from the time of one client's epoch.
    pub seconds: f64,
}

impl Forecast {
    /// Looks ahead.
    ///
    /// # Errors
    /// Those of setting up the run, and of an epoch.
    pub fn new(experiment: &Experiment) -> Result<Self, Error> {
        let config = &experiment.config;
        let seed = config.run.seeds.as_slice().first().copied().unwrap_or(0);
        let design = experiment.design(seed)?;
        let (parameters, shared, local) = experiment.parameter_counts()?;
        let double = config.model.resolved_precision() == Precision::F64;
        let epoch = match (&experiment.dataset.content, double) {
            (Content::Covariances(_), true) => {
                let SpdData { net, examples, .. } = experiment.spd_examples::<f64>(&design, false)?;
                timed(experiment, &net, &examples, &design)?
            }
            (Content::Covariances(_), false) => {
                let SpdData { net, examples, .. } = experiment.spd_examples::<f32>(&design, false)?;
                timed(experiment, &net, &examples, &design)?
            }
            (Content::Trials(_), true) => {
                let (net, examples, _) = experiment.eeg_examples::<f64>(&design)?;
                timed(experiment, &net, &examples, &design)?
            }
            (Content::Trials(_), false) => {
                let (net, examples, _) = experiment.eeg_examples::<f32>(&design)?;
                timed(experiment, &net, &examples, &design)?
            }
        };
        let kept = network::server(config).aggregation.kept_numbers(&experiment.wire()?);
        let width = if double { 8 } else { 4 };
        let clients = design.clients.len();
        let federated = config.mode == Mode::Federated;
        let participation = network::server(config).participation;
        let participants = match config.mode {
            Mode::Federated => fedspd_federated::participants(Seed(seed), 0, clients, participation).len(),
            Mode::Centralised => 1,
            Mode::Local => clients,
        };
        let numbers: usize = match &experiment.dataset.content {
            Content::Covariances(covariances) => covariances.matrices().len(),
            Content::Trials(trials) => trials.len() * trials.length() * trials.about.channels.len(),
        };
        let carried = if network::local_epochs(config).carry_state { 2 * parameters } else { 0 };
        let holders = if config.mode == Mode::Centralised { 1 } else { clients };
        let trials: usize = design.shards.iter().map(|shard| shard.train.len()).sum();
        let share = if federated { participants as f64 / clients as f64 } else { 1.0 };
        let epochs = if federated { config.federated.epochs_local.default as f64 } else { 1.0 };
        let rounds = network::rounds(config);
        let seeds = config.run.seeds.as_slice().len() as f64;
        // A prediction is about a third of a training step. Validation and test are of all clients.
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
            shards: design.counts(experiment.dataset.about(), seed),
            rounds,
            participants,
            parameters,
            shared,
            bytes_per_round: if federated { (2 * participants * shared * width) as u64 } else { 0 },
            data_bytes: (numbers * (8 + width)) as u64,
            state_bytes: (holders * (local + carried) * 8) as u64,
            reply_bytes: (participants * kept * 8) as u64,
            seconds: work * f64::from(rounds) * seeds,
        })
    }
}

/// The time of a trial in an epoch: the first client's, after a first epoch that warms up.
fn timed<T: Real, M: Model<T>>(
    experiment: &Experiment,
    model: &M,
    examples: &M::Examples,
    design: &Design,
) -> Result<Duration, Error> {
    let config = &experiment.config;
    let mut worker = Worker::new(model, config.train.batch, 1)?;
    let start = model.initial(Seed(0))?;
    let empty = Shard { train: vec![0], validation: Vec::new(), test: Vec::new() };
    let trials = &design.shards.first().unwrap_or(&empty).train;
    let optimiser = network::local_epochs(config).optimiser;
    let mut train = |epochs| -> Result<Duration, Error> {
        let mut training = worker.training(&start, examples, trials, Seed(0).stream(Purpose::Shuffle));
        let begin = Instant::now();
        training.epochs(optimiser, None, epochs, config.train.lr, &mut |_, _| Ok(()))?;
        Ok(begin.elapsed())
    };
    train(1)?;
    Ok(train(2)? / (2 * trials.len() as u32))
}
