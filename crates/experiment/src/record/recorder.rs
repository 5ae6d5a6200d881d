//! The writer of a run folder.

use std::path::Path;
use std::time::Instant;

use fedspd_run::{
    Engine, Event, EventLog, FolderLock, Interpretation, Manifest, ResultTable, RunFolder, Shards, Status,
    Unit, atomic, headline,
};

use super::checkpoint::{Checkpoint, CheckpointState};
use super::history::warn;
use super::sealed;
use crate::config::Config;
use crate::{Error, Observer};

/// Writes manifest, events, results, models and checkpoints of a run.
pub(crate) struct Recorder {
    folder: RunFolder,
    _lock: FolderLock,
    pub(crate) manifest: Manifest,
    log: EventLog,
    start: Instant,
}

impl Recorder {
    /// Begins a run in a new folder. `fill` adds further files.
    pub(crate) fn create(
        path: &Path,
        config: &Config,
        manifest: Manifest,
        shards: &Shards,
        fill: impl FnOnce(&RunFolder) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let (folder, lock) = RunFolder::create(path, |folder| {
            atomic::write(&folder.config(), config.to_toml().as_bytes())?;
            shards.write(&folder.shards())?;
            fill(folder)?;
            manifest.write(&folder.manifest())?;
            Ok::<(), Error>(())
        })?;
        let mut recorder = Self::new(folder, lock, manifest)?;
        recorder.event(&Event::Started)?;
        Ok(recorder)
    }

    /// Opens the folder of a run of this engine, to resume it.
    pub(crate) fn open(path: &Path, engine: Engine) -> Result<Self, Error> {
        let folder = RunFolder::open(path)?;
        let lock = folder.reopen()?;
        if folder.engine() != engine {
            return Err(Error::OtherEngine { path: path.to_owned(), engine: folder.engine() });
        }
        let manifest = Manifest::read(&folder.manifest())?;
        Self::new(folder, lock, manifest)
    }

    fn new(folder: RunFolder, lock: FolderLock, manifest: Manifest) -> Result<Self, Error> {
        let log = EventLog::open(folder.events())?;
        Ok(Self { folder, _lock: lock, manifest, log, start: Instant::now() })
    }

    pub(crate) fn folder(&self) -> &RunFolder {
        &self.folder
    }

    /// Sets the status to running and starts the clock.
    pub(crate) fn begin(&mut self) -> Result<(), Error> {
        self.start = Instant::now();
        self.manifest.status = Status::Running;
        Ok(self.manifest.write(&self.folder.manifest())?)
    }

    pub(crate) fn event(&mut self, event: &Event) -> Result<(), Error> {
        Ok(self.log.append(event)?)
    }

    /// Removes the events of rounds after the checkpoint of a unit: these rounds run again.
    pub(crate) fn truncate_after(&mut self, unit: Unit, round: u32) -> Result<(), Error> {
        Ok(self.log.truncate_after(unit, round)?)
    }

    /// Reads the checkpoint of a unit; none if the unit has not begun.
    pub(crate) fn checkpoint<S: CheckpointState>(&self, unit: Unit) -> Result<Option<Checkpoint<S>>, Error> {
        Checkpoint::read(&self.folder.checkpoint(unit), &self.manifest.config_hash)
    }

    /// Whether the checkpoint of a unit holds a state of this type.
    pub(crate) fn has_checkpoint<S: CheckpointState>(&self, unit: Unit) -> bool {
        sealed::begins_with(&self.folder.checkpoint(unit), S::MAGIC)
    }

    /// Writes the checkpoint of a unit, after the events that led to it.
    pub(crate) fn save<S: CheckpointState>(
        &mut self,
        unit: Unit,
        checkpoint: &Checkpoint<S>,
    ) -> Result<(), Error> {
        self.log.sync()?;
        checkpoint.write(&self.folder.checkpoint(unit))
    }

    /// Writes the model of a unit. If the file could not be loaded again, it warns instead.
    pub(crate) fn save_model(
        &mut self,
        unit: Unit,
        encode: impl FnOnce(&Path) -> Result<Vec<u8>, fedspd_nn::Error>,
        observer: &mut (dyn Observer + Send),
    ) -> Result<(), Error> {
        let path = self.folder.model(unit);
        match encode(&path) {
            Ok(bytes) => Ok(atomic::write(&path, &bytes)?),
            Err(fedspd_nn::Error::Model { fault, .. }) => {
                warn(Some(self), observer, &format!("the model of {unit} is not saved: {fault}"))
            }
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn save_interpretation(&self, unit: Unit, content: &Interpretation) -> Result<(), Error> {
        Ok(content.write(&self.folder.interpretation(unit))?)
    }

    pub(crate) fn write_results(&self, results: &ResultTable) -> Result<(), Error> {
        Ok(results.write(&self.folder.results())?)
    }

    /// Writes the results and the summary of all seeds, and sets the status to done.
    pub(crate) fn finish(&mut self, results: &ResultTable) -> Result<(), Error> {
        self.write_results(results)?;
        headline(results).write(&self.folder.summary())?;
        self.end(Status::Done)?;
        self.event(&Event::Finished)
    }

    /// Writes the status of the run, its time and its memory to the manifest.
    pub(crate) fn end(&mut self, status: Status) -> Result<(), Error> {
        let before = self.manifest.wall_seconds.unwrap_or(0.0);
        self.manifest.wall_seconds = Some(before + self.start.elapsed().as_secs_f64());
        self.start = Instant::now();
        self.manifest.peak_memory_bytes = peak_memory();
        self.manifest.status = status;
        Ok(self.manifest.write(&self.folder.manifest())?)
    }
}

/// Reads the configuration of a run.
pub(crate) fn saved_config(folder: &RunFolder) -> Result<Config, Error> {
    let path = folder.config();
    let text = std::fs::read_to_string(&path)
        .map_err(|source| fedspd_run::Error::File { path: path.clone(), source })?;
    Ok(Config::parse(&text, &path.display().to_string(), &[])?)
}

/// Returns the peak memory of this process, if the system reports it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}
