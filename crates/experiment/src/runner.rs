//! Runs: all seeds of an experiment, in a folder that survives anything.

use std::path::Path;
use std::time::Instant;

use fedspd_eeg::prepare::Progress;
use fedspd_manifold::simd::Simd;
use fedspd_run::{
    Event, FolderLock, Manifest, ResultTable, RunFolder, SCHEMA_VERSION, Shards, Status, atomic, headline,
};

use crate::checkpoint::{Checkpoint, CourseState};
use crate::config::Config;
use crate::experiment::Experiment;
use crate::results::{model_name, weights_name};
use crate::seed_run::SeedRun;
use crate::store::Store;
use crate::{Ended, Error, Observer};

/// Runs all seeds of an experiment and gives the results, without a folder.
///
/// # Errors
/// Whatever happens in training.
pub fn in_memory(
    experiment: &Experiment,
    observer: &mut (dyn Observer + Send),
) -> Result<ResultTable, Error> {
    in_pool(experiment.threads(), || {
        let mut seeds = Vec::new();
        for &seed in experiment.config.run.seeds.as_slice() {
            let (run, ended) = experiment.run_seed(seed, None, observer)?;
            seeds.push((seed, run));
            if ended != Ended::Finished {
                break;
            }
        }
        Ok(experiment.table(&seeds))
    })
}

/// Trains with the one seed and gives the bytes of the model file that a run would save, without a folder; none if it was interrupted.
///
/// # Errors
/// Whatever happens in training; [`Error::NoModel`] where clients train alone.
pub fn fit(experiment: &Experiment, observer: &mut (dyn Observer + Send)) -> Result<Option<Vec<u8>>, Error> {
    let reason = |reason: &str| Error::NoModel { path: "the model".into(), reason: reason.into() };
    let &[seed] = experiment.config.run.seeds.as_slice() else {
        return Err(reason("several seeds give several models"));
    };
    let (run, ended) = in_pool(experiment.threads(), || experiment.run_seed(seed, None, observer))?;
    match (run.model, ended) {
        (_, Ended::Interrupted { .. }) => Ok(None),
        (Some(model), Ended::Finished) => Ok(Some(model?)),
        (None, Ended::Finished) => Err(reason("clients that train alone have no common model")),
    }
}

/// Begins a run in a new folder.
///
/// # Errors
/// [`Error::Exists`] if there is a run already; [`fedspd_run::Error::InUse`] if another process is at it; faults of the folder; whatever happens in training.
pub fn run(
    experiment: &Experiment,
    name: &str,
    folder: &Path,
    observer: &mut (dyn Observer + Send),
) -> Result<(ResultTable, Ended), Error> {
    if let Ok(existing) = RunFolder::open(folder) {
        existing.lock()?;
        return Err(Error::Exists { path: folder.to_owned() });
    }
    let about = experiment.dataset.about();
    let seeds = experiment.config.run.seeds.as_slice();
    let shards = seeds.iter().map(|&seed| Ok(experiment.design(seed)?.counts(about, seed)));
    let shards = Shards { classes: about.classes.clone(), seeds: shards.collect::<Result<_, Error>>()? };
    let manifest = manifest(experiment, name)?;
    let (folder, _lock) = RunFolder::create(folder, |folder| {
        atomic::write(&folder.config(), experiment.config.to_toml().as_bytes())?;
        shards.write(&folder.shards())?;
        manifest.write(&folder.manifest())?;
        Ok::<(), Error>(())
    })?;
    let mut store = Store::open(&folder, &manifest.config_hash)?;
    store.event(&Event::Started)?;
    go_on(experiment, &folder, manifest, store, observer)
}

/// A run that can go on from its checkpoints.
pub struct Resumable {
    /// What is run.
    pub experiment: Experiment,
    folder: RunFolder,
    _lock: FolderLock,
    manifest: Manifest,
}

impl Resumable {
    /// Opens a run. The configuration may be changed in what has no say in results.
    ///
    /// # Errors
    /// Faults of the folder, [`fedspd_run::Error::InUse`] if another process is at it; [`Error::ConfigChanged`], [`Error::DataChanged`].
    pub fn open(
        folder: &Path,
        change: impl FnOnce(&mut Config),
        progress: &impl Progress,
    ) -> Result<Self, Error> {
        let folder = RunFolder::open(folder)?;
        let lock = folder.lock()?;
        let manifest = Manifest::read(&folder.manifest())?;
        let mut config = saved_config(&folder)?;
        if config.hash() != manifest.config_hash {
            return Err(Error::ConfigChanged { path: folder.config() });
        }
        change(&mut config);
        let experiment = Experiment::new(config, progress)?;
        let found = experiment.dataset.sha256();
        if let Some(expected) = &manifest.data_sha256
            && *expected != found
        {
            return Err(Error::DataChanged { expected: expected.clone(), found });
        }
        Ok(Self { experiment, folder, _lock: lock, manifest })
    }

    /// How many rounds are left, at most.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] if one cannot be used.
    pub fn rounds_left(&self) -> Result<usize, Error> {
        let (rounds, hash) = (self.experiment.rounds() as usize, &self.manifest.config_hash);
        self.experiment.config.run.seeds.as_slice().iter().try_fold(0, |left, &seed| {
            let checkpoint = Checkpoint::<Vec<CourseState>>::read(&self.folder.checkpoint(seed), hash)?;
            let done = checkpoint.map_or(0, |at| if at.done { rounds } else { at.history.len() });
            Ok(left + rounds.saturating_sub(done))
        })
    }

    /// Goes on; seeds that are done are left alone.
    ///
    /// # Errors
    /// Whatever happens in training.
    pub fn go_on(self, observer: &mut (dyn Observer + Send)) -> Result<(ResultTable, Ended), Error> {
        let store = Store::open(&self.folder, &self.manifest.config_hash)?;
        go_on(&self.experiment, &self.folder, self.manifest, store, observer)
    }
}

/// The configuration that a run was begun with.
pub(crate) fn saved_config(folder: &RunFolder) -> Result<Config, Error> {
    let path = folder.config();
    let text = std::fs::read_to_string(&path)
        .map_err(|source| fedspd_run::Error::File { path: path.clone(), source })?;
    Ok(Config::parse(&text, &path.display().to_string(), &[])?)
}

fn go_on(
    experiment: &Experiment,
    folder: &RunFolder,
    mut manifest: Manifest,
    mut store: Store,
    observer: &mut (dyn Observer + Send),
) -> Result<(ResultTable, Ended), Error> {
    let start = Instant::now();
    let before = manifest.wall_seconds.unwrap_or(0.0);
    manifest.status = Status::Running;
    manifest.write(&folder.manifest())?;
    let mut seeds: Vec<(u64, SeedRun)> = Vec::new();
    let trained = in_pool(experiment.threads(), || {
        for &seed in experiment.config.run.seeds.as_slice() {
            let (run, ended) = experiment.run_seed(seed, Some(&mut store), observer)?;
            seeds.push((seed, run));
            if ended != Ended::Finished {
                return Ok(ended);
            }
            // A reader of the folder sees every seed as soon as it is done.
            experiment.table(&seeds).write(&folder.results())?;
        }
        Ok(Ended::Finished)
    });
    manifest.status = match &trained {
        Ok(Ended::Finished) => Status::Done,
        Ok(Ended::Interrupted { .. }) => Status::Interrupted,
        Err(_) => Status::Failed,
    };
    manifest.wall_seconds = Some(before + start.elapsed().as_secs_f64());
    manifest.peak_memory_bytes = peak_memory();
    manifest.write(&folder.manifest())?;
    let ended = trained?;
    let results = experiment.table(&seeds);
    results.write(&folder.results())?;
    if ended == Ended::Finished {
        headline(&results).write(&folder.summary())?;
    }
    store.event(&match ended {
        Ended::Finished => Event::Finished,
        Ended::Interrupted { seed, round } => Event::Interrupted { seed, round },
    })?;
    Ok((results, ended))
}

/// Within a pool of as many threads as the run may use.
pub(crate) fn in_pool<R: Send>(
    threads: usize,
    work: impl FnOnce() -> Result<R, Error> + Send,
) -> Result<R, Error> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Error::Threads { threads, reason: error.to_string() })?.install(work)
}

fn manifest(experiment: &Experiment, name: &str) -> Result<Manifest, Error> {
    let (config, about) = (&experiment.config, experiment.dataset.about());
    let cpu = Simd::detect().map_err(fedspd_nn::Error::from)?;
    Ok(Manifest {
        schema: SCHEMA_VERSION,
        fedspd_version: env!("CARGO_PKG_VERSION").to_owned(),
        name: name.to_owned(),
        config_hash: experiment.config_hash(),
        seeds: config.run.seeds.as_slice().to_vec(),
        dataset: experiment.dataset.name.clone(),
        data_sha256: Some(experiment.dataset.sha256()),
        unit: about.unit.clone(),
        classes: about.classes.clone(),
        channels: about.channels.clone(),
        subjects: about.subjects().into_iter().map(str::to_owned).collect(),
        excluded: experiment.dataset.excluded.clone(),
        alignment: experiment.alignment().to_owned(),
        transductive: experiment.is_transductive(),
        held_out: experiment.held_out_note(),
        weights: weights_name(config.federated.weights).to_owned(),
        model: model_name(config.model.kind).to_owned(),
        parameters: experiment.parameter_counts()?.0 as u64,
        cpu_path: cpu.name().to_owned(),
        threads: experiment.threads(),
        wall_seconds: None,
        peak_memory_bytes: None,
        status: Status::Running,
    })
}

/// The most memory that this process has used so far, where the system says.
pub(crate) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}
