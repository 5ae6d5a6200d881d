//! Runs: all seeds and folds of an experiment, in a folder that can be resumed after any interruption.

use std::path::Path;

use fedspd_eeg::prepare::Progress;
use fedspd_manifold::Real;
use fedspd_nn::Architecture;
use fedspd_nn::file::encode;
use fedspd_run::{Engine, Event, ResultTable, RunFolder, Shards, Stage, Status, Unit};

use super::chosen::Chosen;
use super::experiment::{Experiment, in_pool};
use super::network::Visitor;
use super::seed::SeedRun;
use crate::config::Config;
use crate::data::{read_stored, same, stored};
use crate::record::{
    Checkpoint, CohortState, Recorder, RunFacts, UnitResults, pooled, run_manifest, saved_config, table,
};
use crate::split::facts;
use crate::{Ended, Error, Observer};

/// Trains with the single seed, without a run folder. Returns the bytes of the model file that a
/// run would save, or none if it was interrupted.
///
/// # Errors
/// Faults in training; [`Error::NoModel`] if clients train alone or there are several seeds.
pub fn fit(experiment: &Experiment, observer: &mut (dyn Observer + Send)) -> Result<Option<Vec<u8>>, Error> {
    let &[seed] = experiment.config.run.seeds.as_slice() else {
        return Err(no_model("several seeds give several models"));
    };
    if experiment.folds()?.is_some() {
        return Err(no_model("several folds give several models; choose one with `split.fold`"));
    }
    if experiment.config.split.refit {
        return Err(no_model("a model without a run folder trains once; set `split.refit = false`"));
    }
    in_pool(experiment.threads(), || experiment.with_network(Fit { experiment, seed, observer }))
}

fn no_model(reason: &str) -> Error {
    Error::NoModel { path: "the model".into(), reason: reason.into() }
}

struct Fit<'a> {
    experiment: &'a Experiment,
    seed: u64,
    observer: &'a mut (dyn Observer + Send),
}

impl Visitor for Fit<'_> {
    type Output = Option<Vec<u8>>;

    fn visit<T: Real, N: Architecture<T>>(self, network: N) -> Result<Option<Vec<u8>>, Error> {
        let outcome = SeedRun::new(self.experiment, &network, Unit::of_seed(self.seed), None, false)?
            .run(None, self.observer)?;
        match (outcome.model, outcome.ended) {
            (_, Ended::Interrupted { .. }) => Ok(None),
            (Some(model), Ended::Finished) => {
                Ok(Some(encode(Path::new("the model"), &model.manifest, &model.parameters)?))
            }
            (None, Ended::Finished) => Err(no_model("clients that train alone have no common model")),
        }
    }
}

/// Begins a run in a new folder.
///
/// # Errors
/// [`Error::Exists`] if the folder already holds a run; [`fedspd_run::Error::InUse`] if another
/// process uses it; faults of the folder and in training.
pub fn run(
    experiment: &Experiment,
    name: &str,
    folder: &Path,
    observer: &mut (dyn Observer + Send),
) -> Result<(ResultTable, Ended), Error> {
    let recorder = new_run(experiment, name, folder, observer)?;
    go_on(experiment, recorder, observer)
}

/// Begins a run in a new folder with a custom network.
///
/// # Errors
/// As [`run`].
pub fn run_network<T: Real, N: Architecture<T>>(
    experiment: &Experiment,
    network: N,
    name: &str,
    folder: &Path,
    observer: &mut (dyn Observer + Send),
) -> Result<(ResultTable, Ended), Error> {
    let recorder = new_run(experiment, name, folder, observer)?;
    in_pool(experiment.threads(), || AllUnits { experiment, recorder, observer }.visit(network))
}

/// Creates the folder of a run. Its first events are the notes about the data.
fn new_run(
    experiment: &Experiment,
    name: &str,
    folder: &Path,
    observer: &mut (dyn Observer + Send),
) -> Result<Recorder, Error> {
    if let Ok(existing) = RunFolder::open(folder) {
        existing.lock()?;
        return Err(Error::Exists { path: folder.to_owned() });
    }
    let (config, about) = (&experiment.config, experiment.dataset.about());
    let copies = &experiment.dataset.copies;
    let (mut trials, mut seeds) = (facts::of_trials(about), Vec::new());
    (trials.copied_pairs, trials.copied_trials) = (copies.pairs.len(), copies.trials);
    // Both stages of a fold share its split.
    for unit in experiment.units()?.into_iter().filter(|unit| unit.stage != Some(Stage::Choose)) {
        let design = experiment.design(unit)?;
        trials = facts::with_split(trials, about, &design);
        seeds.push(design.counts(experiment.config.mode, about, unit));
    }
    let shards = Shards { classes: about.classes.clone(), seeds };
    let facts = RunFacts {
        dataset: experiment.dataset.name.clone(),
        data_sha256: Some(experiment.dataset.sha256()),
        unit: about.unit.clone(),
        classes: about.classes.clone(),
        channels: about.channels.clone(),
        subjects: about.subjects().into_iter().map(str::to_owned).collect(),
        excluded: experiment.dataset.excluded.clone(),
        alignment: experiment.alignment(),
        transductive: experiment.is_transductive(),
        held_out: experiment.held_out_note(),
        facts: Some(trials),
        parameters: experiment.parameter_counts()?.0,
        threads: experiment.threads(),
        preparation: stored(&experiment.preparation())?,
    };
    let manifest = run_manifest(config, name, facts)?;
    let notes = &experiment.dataset.notes;
    let recorder = Recorder::create(folder, config, manifest, &shards, notes, |_| Ok(()))?;
    for note in notes {
        observer.warning(note);
    }
    Ok(recorder)
}

/// A run that can resume from its checkpoints.
pub struct Resumable {
    /// The experiment.
    pub experiment: Experiment,
    recorder: Recorder,
}

impl Resumable {
    /// Opens a run. `change` may change settings that do not affect results.
    ///
    /// # Errors
    /// Faults of the folder; [`fedspd_run::Error::InUse`] if another process uses it;
    /// [`Error::OtherEngine`] for a run over Flower; [`Error::ConfigChanged`],
    /// [`Error::DataChanged`].
    pub fn open(
        folder: &Path,
        change: impl FnOnce(&mut Config),
        progress: &impl Progress,
    ) -> Result<Self, Error> {
        let mut recorder = Recorder::open(folder, Engine::Process)?;
        let mut config = saved_config(recorder.folder())?;
        if config.is_former_split(&recorder.manifest.config_hash) {
            return Err(Error::FormerSplit { path: folder.to_owned() });
        }
        if config.hash() != recorder.manifest.config_hash {
            return Err(Error::ConfigChanged { path: recorder.folder().config() });
        }
        change(&mut config);
        let experiment = Experiment::new(config, progress)?;
        if let Some(preparation) = &recorder.manifest.preparation {
            let began = read_stored(preparation, &recorder.folder().manifest())?;
            same(&began, "the run at its start", &experiment.preparation(), &experiment.dataset.name)?;
        }
        let found = experiment.dataset.sha256();
        if let Some(expected) = &recorder.manifest.data_sha256
            && *expected != found
        {
            return Err(Error::DataChanged { expected: expected.clone(), found });
        }
        recorder.keep_notes(experiment.dataset.notes.len());
        Ok(Self { experiment, recorder })
    }

    /// Returns the largest number of remaining rounds.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] for an unusable checkpoint.
    pub fn rounds_left(&mut self) -> Result<usize, Error> {
        let rounds = self.experiment.rounds() as usize;
        self.experiment.units()?.into_iter().try_fold(0, |left, unit| {
            let checkpoint: Option<Checkpoint<Vec<CohortState>>> = self.recorder.checkpoint(unit)?;
            let done = checkpoint.map_or(0, |at| if at.done { rounds } else { at.history.len() });
            Ok(left + rounds.saturating_sub(done))
        })
    }

    /// Resumes the run. Completed seeds and folds do not change.
    ///
    /// # Errors
    /// Faults in training.
    pub fn go_on(self, observer: &mut (dyn Observer + Send)) -> Result<(ResultTable, Ended), Error> {
        go_on(&self.experiment, self.recorder, observer)
    }
}

fn go_on(
    experiment: &Experiment,
    recorder: Recorder,
    observer: &mut (dyn Observer + Send),
) -> Result<(ResultTable, Ended), Error> {
    in_pool(experiment.threads(), || experiment.with_network(AllUnits { experiment, recorder, observer }))
}

/// Trains all seeds and folds of an experiment, each from its checkpoint if it has one.
struct AllUnits<'a> {
    experiment: &'a Experiment,
    recorder: Recorder,
    observer: &'a mut (dyn Observer + Send),
}

impl AllUnits<'_> {
    fn train<T: Real, N: Architecture<T>>(
        &mut self,
        network: &N,
        done: &mut Vec<UnitResults>,
    ) -> Result<Ended, Error> {
        for unit in self.experiment.units()? {
            if let Some(Checkpoint { history, finals, done: true, .. }) =
                self.recorder.checkpoint::<Vec<CohortState>>(unit)?
            {
                done.push(UnitResults { unit, rounds: history, finals });
                continue;
            }
            let chosen = done.last().filter(|_| unit.stage == Some(Stage::Fit)).map(Chosen::of);
            let run = SeedRun::new(self.experiment, network, unit, chosen, true)?;
            let outcome = run.run(Some(&mut self.recorder), self.observer)?;
            done.push(outcome.results);
            if outcome.ended != Ended::Finished {
                return Ok(outcome.ended);
            }
            // Readers of the folder see the results of every completed seed and fold.
            self.recorder.write_results(&self.table(done)?)?;
        }
        Ok(Ended::Finished)
    }

    fn table(&self, done: &[UnitResults]) -> Result<ResultTable, Error> {
        let Experiment { config, dataset } = self.experiment;
        let pooled = pooled(&dataset.about().classes, self.experiment.folds()?, done)?;
        Ok(table(config, &dataset.name, &self.experiment.alignment(), done.iter().chain(&pooled)))
    }
}

impl Visitor for AllUnits<'_> {
    type Output = (ResultTable, Ended);

    fn visit<T: Real, N: Architecture<T>>(mut self, network: N) -> Result<(ResultTable, Ended), Error> {
        self.recorder.begin()?;
        let mut done = Vec::new();
        let trained = self.train(&network, &mut done);
        let ended = match trained {
            Ok(ended) => ended,
            Err(error) => {
                // The first error is the one to report.
                let _ = self.recorder.end(Status::Failed);
                return Err(error);
            }
        };
        let results = self.table(&done)?;
        match ended {
            Ended::Finished => self.recorder.finish(&results)?,
            Ended::Interrupted { unit, round } => {
                self.recorder.write_results(&results)?;
                self.recorder.end(Status::Interrupted)?;
                self.recorder.event(&Event::Interrupted { unit, round })?;
            }
        }
        Ok((results, ended))
    }
}
