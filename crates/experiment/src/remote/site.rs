//! A client on a machine of its own.

use std::path::{Path, PathBuf};

use fedspd_eeg::prepare::Progress;
use fedspd_federated::{Exchange, Message, Shard};
use fedspd_manifold::Real;
use fedspd_nn::{Architecture, InputShape, Seed};
use fedspd_run::counted;

use super::cache::{Cache, InputNumbers, PreparedTrials};
use super::identity::Identity;
use super::introduction::{Counts, Facts, Introduction};
use super::open;
use super::policy::{Approval, SentScores, SitePolicy};
use super::scores::{SiteScores, SplitScores};
use super::site_config::{PLACE, site_config};
use super::state::SiteStates;
use super::studies::{Studies, StudyHash};
use super::worker::{NewWorker, SiteWork};
use crate::config::Config;
use crate::data::{Content, check_asked};
use crate::evaluate::confusion;
use crate::split::Design;
use crate::train::{Experiment, Inputs, Visitor, in_pool, settings, threads, with_network};
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
    terms: Terms,
}

/// What the study may ask for in a message.
struct Terms {
    epochs: u32,
    rounds: u32,
    learning_rate: f64,
    scores: SentScores,
}

/// Most exchanges in a round.
const MOST_EXCHANGES: u32 = 16;

impl Terms {
    fn new(config: &Config, policy: &SitePolicy) -> Self {
        let work = settings::server(config).work;
        Self {
            epochs: work.exceptions.get(&policy.name).copied().unwrap_or(work.epochs),
            rounds: settings::rounds(config),
            learning_rate: config.train.lr,
            scores: policy.scores,
        }
    }

    /// Checks that a task asks for nothing but the study.
    fn check(&self, task: &SiteTask) -> Result<(), Error> {
        let SiteTask { exchange, epochs, learning_rate, .. } = task;
        let fault = if *epochs != self.epochs {
            format!("it asks for {}, but the study has {}", counted(epochs, "epoch"), self.epochs)
        } else if exchange.round >= self.rounds {
            format!("it asks for round {}, but the study has {}", u64::from(exchange.round) + 1, self.rounds)
        } else if exchange.number >= MOST_EXCHANGES {
            format!("it asks for exchange {} of a round", u64::from(exchange.number) + 1)
        } else if !(*learning_rate >= 0.0 && *learning_rate <= self.learning_rate) {
            format!("its learning rate is {learning_rate}, but that of the study is {}", self.learning_rate)
        } else {
            return Ok(());
        };
        Err(Error::Message { fault })
    }
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
    /// Opens a site for a study that asks for it, with the text of its configuration. The study is
    /// stored before anything else, so that a person at the site can look at it.
    ///
    /// # Errors
    /// [`Error::PolicyRefuses`], [`Error::NotListed`] or [`Error::NotApproved`] before any data are
    /// opened; faults in loading, splitting and aligning.
    pub fn asked(
        policy: &SitePolicy,
        state: &Path,
        config: &str,
        progress: &impl Progress,
        observer: &mut (dyn Observer + Send),
    ) -> Result<Self, Error> {
        let study = Studies::new(state).ask(config)?;
        Self::of_study(policy, state, &study, progress, observer)
    }

    /// Opens a site for a message of a run. Its study must have asked before.
    ///
    /// # Errors
    /// As [`Site::asked`]; [`Error::UnknownStudy`]; [`Error::Message`] if the run belongs to another
    /// study.
    pub fn of_run(
        policy: &SitePolicy,
        state: &Path,
        study: &StudyHash,
        run: &Identity,
        progress: &impl Progress,
        observer: &mut (dyn Observer + Send),
    ) -> Result<Self, Error> {
        let site = Self::of_study(policy, state, study, progress, observer)?;
        Studies::new(state).bind(run, study)?;
        Ok(site)
    }

    fn of_study(
        policy: &SitePolicy,
        state: &Path,
        study: &StudyHash,
        progress: &impl Progress,
        observer: &mut (dyn Observer + Send),
    ) -> Result<Self, Error> {
        let studies = Studies::new(state);
        let text = studies.read(study)?;
        let asked = Config::parse(&text, PLACE, &[])?;
        if !policy.studies.is_empty() && !policy.studies.contains(&study.to_string()) {
            return Err(Error::NotListed { study: study.to_string() });
        }
        policy.allows(&asked)?;
        if policy.approval == Approval::Manual && !studies.is_approved(study) {
            return Err(Error::NotApproved { study: study.to_string() });
        }
        let config = site_config(&text, &policy.changes()?)?;
        let site = Self::open(&config, policy, state, progress, observer)?;
        policy.allows_trials(&site.counts)?;
        // What a study says about filters and windows must be what the site has.
        check_asked(&asked, &site.facts.preparation, &policy.name)?;
        Ok(site)
    }

    /// Opens a site. It prepares its trials, or takes them from the cache in its state folder.
    fn open(
        config: &Config,
        policy: &SitePolicy,
        state: &Path,
        progress: &impl Progress,
        observer: &mut (dyn Observer + Send),
    ) -> Result<Self, Error> {
        let (name, number) = (&*policy.name, policy.number);
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
        let (name, state, terms) = (name.to_owned(), state.to_owned(), Terms::new(config, policy));
        Ok(Self { name, number, seed, facts, counts, shard, labels, work, state, terms })
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
        self.terms.check(task)?;
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
        let SentScores { validation, test } = self.terms.scores;
        let (validated, tested) = (validated && validation, tested && test);
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
    let counted =
        design.counts(config.mode, about, seed.into()).clients.into_iter().next().ok_or(Error::Nothing)?;
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
