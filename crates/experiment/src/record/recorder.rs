//! The writer of a run folder.

use std::path::Path;
use std::time::Instant;

use fedspd_run::{
    Engine, Event, EventLog, FolderLock, Interpretation, Manifest, ResultTable, RunFolder, Shards, Status,
    Unit, atomic, headline,
};

use super::checkpoint::{self, Checkpoint, CheckpointState, Progress};
use super::history::warn;
use super::round_log::RoundLog;
use crate::config::Config;
use crate::{Error, Observer};

/// Writes manifest, events, results, models and checkpoints of a run.
pub(crate) struct Recorder {
    folder: RunFolder,
    _lock: FolderLock,
    pub(crate) manifest: Manifest,
    log: EventLog,
    /// The number of lasting events at the last checkpoint.
    stored_events: u64,
    /// The past rounds of the unit in training.
    rounds: Option<RoundLog>,
    start: Instant,
}

impl Recorder {
    /// Begins a run in a new folder. Its first events are the notes about its data. `fill` adds
    /// further files.
    pub(crate) fn create(
        path: &Path,
        config: &Config,
        manifest: Manifest,
        shards: &Shards,
        notes: &[String],
        fill: impl FnOnce(&RunFolder) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let (folder, lock) = RunFolder::create(path, |folder| {
            atomic::write(&folder.config(), config.to_toml().as_bytes())?;
            shards.write(&folder.shards())?;
            fill(folder)?;
            let mut log = EventLog::open(folder.events())?;
            log.append(&Event::Started)?;
            for note in notes {
                log.append(&Event::Warning { text: note.clone() })?;
            }
            log.sync()?;
            manifest.write(&folder.manifest())?;
            Ok::<(), Error>(())
        })?;
        let mut recorder = Self::new(folder, lock, manifest)?;
        recorder.keep_notes(notes.len());
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
        let mut recorder = Self {
            folder,
            _lock: lock,
            manifest,
            log,
            stored_events: 0,
            rounds: None,
            start: Instant::now(),
        };
        recorder.keep_notes(0);
        Ok(recorder)
    }

    /// Keeps the first events of the run: that it started, and the notes about its data. Everything
    /// after them can be repeated.
    pub(crate) fn keep_notes(&mut self, notes: usize) {
        self.stored_events = self.log.lasting().min(1 + notes as u64);
    }

    pub(crate) fn folder(&self) -> &RunFolder {
        &self.folder
    }

    /// Sets the status to running and starts the clock.
    pub(crate) fn begin(&mut self) -> Result<(), Error> {
        self.start = Instant::now();
        self.manifest.status = Status::Running;
        self.manifest.write(&self.folder.manifest())?;
        // A run that goes on is not finished.
        Ok(self.log.rewind(self.log.lasting())?)
    }

    pub(crate) fn event(&mut self, event: &Event) -> Result<(), Error> {
        Ok(self.log.append(event)?)
    }

    /// Removes the events after the last checkpoint: their rounds run again.
    pub(crate) fn rewind(&mut self) -> Result<(), Error> {
        Ok(self.log.rewind(self.stored_events)?)
    }

    /// Reads the checkpoint of a unit; none if the unit has not begun.
    pub(crate) fn checkpoint<S: CheckpointState>(
        &mut self,
        unit: Unit,
    ) -> Result<Option<Checkpoint<S>>, Error> {
        let checkpoint: Option<Checkpoint<S>> =
            checkpoint::read(&self.folder.checkpoint(unit), &self.manifest.config_hash)?;
        if let Some(checkpoint) = &checkpoint {
            let last = || checkpoint.history.last().map_or(0, |past| past.round);
            let events = checkpoint.events.map_or_else(|| self.log.lasting_until(unit, last()), Ok)?;
            self.stored_events = self.stored_events.max(events);
        }
        Ok(checkpoint)
    }

    /// Writes the checkpoint of a unit, after the events and the past rounds that led to it.
    pub(crate) fn save<S: CheckpointState>(
        &mut self,
        unit: Unit,
        progress: &Progress<'_, S>,
    ) -> Result<(), Error> {
        let path = self.folder.checkpoint(unit);
        self.log.sync()?;
        let rounds = match self.rounds.take().filter(|rounds| rounds.is_beside(&path)) {
            Some(mut rounds) => {
                rounds.append(progress.history)?;
                rounds
            }
            None => RoundLog::new(&path, progress.history)?,
        };
        let events = self.log.lasting();
        checkpoint::write(&path, &self.manifest.config_hash, progress, rounds.mark(), events)?;
        (self.stored_events, self.rounds) = (events, Some(rounds));
        Ok(())
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

    pub(crate) fn save_predictions(&self, unit: Unit, table: &str) -> Result<(), Error> {
        let path = self.folder.predictions(unit);
        // Runs of older versions have no such folder.
        path.parent().map_or(Ok(()), atomic::create_folder)?;
        Ok(atomic::write(&path, table.as_bytes())?)
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
        self.event(&Event::Finished)?;
        self.log.sync()?;
        // Last, because nothing of a run that is done is written again.
        self.end(Status::Done)
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
