//! A client on a machine of its own.

use std::path::{Path, PathBuf};

use fedspd_eeg::prepare::Progress;
use fedspd_federated::{Exchange, Message, Shard};
use fedspd_manifold::Real;
use fedspd_nn::{Architecture, InputShape, Seed};

use super::cache::{Cache, InputNumbers, PreparedTrials};
use super::identity::Identity;
use super::introduction::{Counts, Facts, Introduction};
use super::open;
use super::scores::{SiteScores, SplitScores};
use super::state::SiteStates;
use super::worker::{NewWorker, SiteWork};
use crate::config::Config;
use crate::data::Content;
use crate::evaluate::confusion;
use crate::split::Design;
use crate::train::{Experiment, Inputs, Visitor, in_pool, threads, with_network};
use crate::{Error, Observer};

/// A client with its own trials. It keeps its state between rounds on its own disk.
pub struct Site {
    name: String,
    number: u32,
    seed: u64,
    facts: Facts,
    counts: Counts,
    shard: Shard,
    labels: Vec<usize>,
    work: Box<dyn SiteWork>,
    state: PathBuf,
}

/// The task of a site in an exchange.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteTask {
    /// The run.
    pub run: Identity,
    /// The exchange.
    pub exchange: Exchange,
    /// Epochs to train.
    pub epochs: u32,
    /// The learning rate.
    pub learning_rate: f64,
    /// The last exchange in which this site's reply counted. The site continues from its state
    /// after that exchange.
    pub since: Option<Exchange>,
    /// The message of the server.
    pub message: Message,
}

impl Site {
    /// Opens a site. It prepares its trials, or takes them from the cache in its state folder.
    /// `config` is the result of [`site_config`](super::site_config).
    ///
    /// # Errors
    /// Faults in loading, splitting and aligning.
    pub fn open(
        config: &Config,
        name: &str,
        number: u32,
        state: &Path,
        progress: &impl Progress,
        observer: &mut (dyn Observer + Send),
    ) -> Result<Self, Error> {
        config.check()?;
        open::check_split(config)?;
        let &[seed] = config.run.seeds.as_slice() else {
            return Err(Error::Remote {
                fault: "needs one seed",
                found: format!("`run.seeds` is {:?}", config.run.seeds),
            });
        };
        let trials = Cache::new(state)
            .get_or_prepare(config, number, observer, || prepare(config, name, number, seed, progress))?;
        let PreparedTrials { facts, counts, shard, labels, .. } = &trials;
        let (facts, counts, shard, labels) = (facts.clone(), counts.clone(), shard.clone(), labels.clone());
        let shape = facts.shape();
        let (seed_of_run, threads) = (Seed(seed), threads(config));
        let worker = NewWorker { config, shape, trials, seed: seed_of_run, number, threads };
        let work = with_network(&config.model, &shape, worker)?;
        let (name, state) = (name.to_owned(), state.to_owned());
        Ok(Self { name, number, seed, facts, counts, shard, labels, work, state })
    }

    /// Returns the introduction of the site to the server.
    ///
    /// # Errors
    /// If no information is left in its trials to train on.
    pub fn introduce(&self) -> Result<Introduction, Error> {
        Ok(Introduction {
            name: self.name.clone(),
            number: self.number,
            fedspd: env!("CARGO_PKG_VERSION").to_owned(),
            seed: self.seed,
            facts: self.facts.clone(),
            trials: self.counts.clone(),
            warning: self.work.check()?,
        })
    }

    /// Trains and returns the reply to the server. It writes the site's new state to disk first.
    ///
    /// # Errors
    /// [`Error::SiteFailed`] if training fails; [`Error::SiteState`] if the requested state is
    /// missing; [`Error::Message`].
    pub fn train(&self, task: &SiteTask) -> Result<Message, Error> {
        let states = SiteStates::new(&self.state, &task.run, self.number);
        let (reply, state) = self.work.train(task, &states.read(task.since)?)?;
        states.write(task.exchange, state)?;
        Ok(reply)
    }

    /// Evaluates a model on the site's trials, with the site's own local parameters.
    ///
    /// # Errors
    /// As [`Site::train`].
    pub fn evaluate(
        &self,
        run: &Identity,
        model: &Message,
        since: Option<Exchange>,
        validated: bool,
        tested: bool,
    ) -> Result<Message, Error> {
        let state = SiteStates::new(&self.state, run, self.number).read(since)?;
        let scores = |trials: &[usize]| -> Result<Option<SplitScores>, Error> {
            let Some(evaluation) = self.work.evaluate(model, &state, trials)? else { return Ok(None) };
            let confusion =
                confusion(self.facts.preparation.classes.len(), &self.labels, trials, &evaluation)?;
            Ok(Some(SplitScores { loss: evaluation.loss, confusion }))
        };
        let validation = if validated { scores(&self.shard.validation)? } else { None };
        let test = if tested { scores(&self.shard.test)? } else { None };
        Ok(SiteScores { validation, test }.message())
    }
}

/// Loads, splits, aligns and scales the trials of a site.
fn prepare(
    config: &Config,
    name: &str,
    number: u32,
    seed: u64,
    progress: &impl Progress,
) -> Result<PreparedTrials, Error> {
    let experiment = Experiment::new(config.clone(), progress)?;
    let about = experiment.dataset.about();
    let design = Design::of_site(config, about, seed, name, number)?;
    let numbers = in_pool(threads(config), || {
        experiment.with_network(Numbers { experiment: &experiment, design: &design })
    })?;
    let shard = design.shards.first().cloned().ok_or(Error::Nothing)?;
    let counted = design.counts(about, seed.into()).clients.into_iter().next().ok_or(Error::Nothing)?;
    let InputShape { inputs, .. } = experiment.dataset.content.shape();
    let samples = match &experiment.dataset.content {
        Content::Covariances(_) => None,
        Content::Trials(trials) => Some(trials.length()),
    };
    Ok(PreparedTrials {
        facts: Facts {
            preparation: experiment.preparation(),
            inputs,
            samples,
            unit: about.unit.clone(),
            alignment: experiment.alignment(),
            transductive: experiment.is_transductive(),
        },
        counts: Counts { train: counted.train, validation: counted.val, test: counted.test },
        shard,
        labels: about.labels(),
        numbers,
    })
}

/// Aligns and scales trials in the precision of the network.
struct Numbers<'a> {
    experiment: &'a Experiment,
    design: &'a Design,
}

impl Visitor for Numbers<'_> {
    type Output = InputNumbers;

    fn visit<T: Real, N: Architecture<T>>(self, _: N) -> Result<InputNumbers, Error> {
        let Inputs { numbers, .. } = self.experiment.inputs::<T>(self.design, false)?;
        Ok(InputNumbers::new(numbers))
    }
}
