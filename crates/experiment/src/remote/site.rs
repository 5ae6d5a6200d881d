//! A client on a machine of its own.

use std::path::{Path, PathBuf};

use fedspd_eeg::prepare::Progress;
use fedspd_federated::{Exchange, Message, Shard};
use fedspd_manifold::Real;
use fedspd_nn::{EegExamples, EegNet, Examples, Model, RawTrials, Seed, SpdNet, SpdTrials};
use fedspd_run::Confusion;

use super::identity::Identity;
use super::introduction::{Counts, Facts, Introduction};
use super::keepsake::Keepsakes;
use super::verdict::{Verdict, Verdicts};
use super::workbench::{Work, Workbench};
use crate::Error;
use crate::config::{Config, Precision};
use crate::data::Content;
use crate::design::Design;
use crate::experiment::{Experiment, SpdData};

/// A client with its own trials, and what it keeps from round to round on its own disk.
pub struct Site {
    name: String,
    number: u32,
    experiment: Experiment,
    seed: u64,
    shard: Shard,
    counts: Counts,
    unit_read: String,
    work: Box<dyn Work>,
    state: PathBuf,
}

/// What an exchange asks of a site.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The run that it is part of.
    pub run: Identity,
    /// Which exchange.
    pub exchange: Exchange,
    /// How many epochs.
    pub epochs: u32,
    /// The learning rate.
    pub learning_rate: f64,
    /// The last exchange in which this site's reply counted: its state after that is what it begins with.
    pub since: Option<Exchange>,
    /// The message of the server.
    pub message: Message,
}

impl Site {
    /// Loads the data of a site. `config` is the run's, with this site's own data, as [`at_home`](super::at_home) makes it; `state` is where it keeps its states.
    ///
    /// # Errors
    /// Whatever happens in loading, splitting and aligning.
    pub fn open(
        config: Config,
        name: &str,
        number: u32,
        state: &Path,
        progress: &impl Progress,
    ) -> Result<Self, Error> {
        let &[seed] = config.run.seeds.as_slice() else {
            return Err(Error::Remote { fault: "has one seed", found: format!("{:?}", config.run.seeds) });
        };
        let experiment = Experiment::new(config, progress)?;
        let design = Design::of_site(&experiment.config, experiment.dataset.about(), seed, name, number)?;
        let precision = experiment.config.model.resolved_precision();
        let (work, unit_read) = match (&experiment.dataset.content, precision) {
            (Content::Covariances(_), Precision::F64) => spdnet::<f64>(&experiment, &design, seed, number)?,
            (Content::Covariances(_), Precision::F32) => spdnet::<f32>(&experiment, &design, seed, number)?,
            (Content::Trials(_), Precision::F64) => eegnet::<f64>(&experiment, &design, seed, number)?,
            (Content::Trials(_), Precision::F32) => eegnet::<f32>(&experiment, &design, seed, number)?,
        };
        let shard = only(&design)?;
        let counted = design.counts(experiment.dataset.about(), seed).clients.into_iter().next();
        let counted = counted.ok_or(Error::Nothing)?;
        let counts = Counts { train: counted.train, validation: counted.val, test: counted.test };
        Ok(Self {
            name: name.to_owned(),
            number,
            experiment,
            seed,
            shard,
            counts,
            unit_read,
            work,
            state: state.to_owned(),
        })
    }

    /// What the server must know of it.
    ///
    /// # Errors
    /// When training on its trials would be futile.
    pub fn introduce(&self) -> Result<Introduction, Error> {
        let (experiment, about) = (&self.experiment, self.experiment.dataset.about());
        let (inputs, samples) = match &experiment.dataset.content {
            Content::Covariances(covariances) => (covariances.inputs.len(), None),
            Content::Trials(trials) => (1, Some(trials.length())),
        };
        Ok(Introduction {
            name: self.name.clone(),
            number: self.number,
            fedspd: env!("CARGO_PKG_VERSION").to_owned(),
            seed: self.seed,
            facts: Facts {
                classes: about.classes.clone(),
                channels: about.channels.clone(),
                inputs,
                samples,
                sfreq: about.sfreq,
                unit: about.unit.clone(),
                unit_read: self.unit_read.clone(),
                treatment: experiment.treatment(),
                alignment: experiment.alignment().to_owned(),
                transductive: experiment.is_transductive(),
            },
            trials: self.counts.clone(),
            warning: self.work.check()?,
        })
    }

    /// The reply to a message of the server. What is to be kept is on the disk before it is given.
    ///
    /// # Errors
    /// [`Error::SiteFailed`] if training fails; [`Error::SiteState`] if the state that the server asks for is not there; [`Error::Message`].
    pub fn train(&self, task: &Assignment) -> Result<Message, Error> {
        let keepsakes = Keepsakes::new(&self.state, &task.run, self.number);
        let (reply, state) = self.work.train(task, &keepsakes.read(task.since)?)?;
        keepsakes.write(task.exchange, state)?;
        Ok(reply)
    }

    /// What a model makes of the site's trials, with the site's own local parameters.
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
        let state = Keepsakes::new(&self.state, run, self.number).read(since)?;
        let about = self.experiment.dataset.about();
        let verdict = |trials: &[usize]| -> Result<Option<Verdict>, Error> {
            let Some(evaluation) = self.work.evaluate(model, &state, trials)? else { return Ok(None) };
            let mut confusion = Confusion::new(about.classes.len());
            for (&trial, &predicted) in trials.iter().zip(&evaluation.predictions) {
                confusion.add(about.origins[trial].label, predicted)?;
            }
            Ok(Some(Verdict { loss: evaluation.loss, confusion }))
        };
        let validation = if validated { verdict(&self.shard.validation)? } else { None };
        let test = if tested { verdict(&self.shard.test)? } else { None };
        Ok(Verdicts { validation, test }.message())
    }
}

/// The one shard of a site.
fn only(design: &Design) -> Result<Shard, Error> {
    design.shards.first().cloned().ok_or(Error::Nothing)
}

type Ready = (Box<dyn Work>, String);

fn spdnet<T: Real>(experiment: &Experiment, design: &Design, seed: u64, number: u32) -> Result<Ready, Error>
where
    SpdNet<T>: Model<T, Trials = SpdTrials<T>, Examples = Examples<T>>,
{
    let SpdData { net, examples, unit, .. } = experiment.spd_examples::<T>(design, false)?;
    Ok((workbench(experiment, net, examples, only(design)?, seed, number), unit))
}

fn eegnet<T: Real>(experiment: &Experiment, design: &Design, seed: u64, number: u32) -> Result<Ready, Error>
where
    EegNet<T>: Model<T, Trials = RawTrials<T>, Examples = EegExamples<T>>,
{
    let (net, examples, unit) = experiment.eeg_examples::<T>(design)?;
    Ok((workbench(experiment, net, examples, only(design)?, seed, number), unit))
}

fn workbench<T: Real, M: Model<T> + Send + 'static>(
    experiment: &Experiment,
    model: M,
    examples: M::Examples,
    shard: Shard,
    seed: u64,
    number: u32,
) -> Box<dyn Work>
where
    M::Examples: Send,
{
    let (config, threads) = (experiment.config.clone(), experiment.threads());
    Box::new(Workbench { model, examples, shard, config, seed: Seed(seed), number, threads })
}
