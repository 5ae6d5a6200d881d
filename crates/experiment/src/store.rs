//! What a run writes while it goes on.

use std::path::PathBuf;

use fedspd_run::{Event, EventLog, RunFolder};

use crate::checkpoint::{Checkpoint, Resting};
use crate::{Error, sealed};

/// The growing files of a run folder.
pub(crate) struct Store {
    folder: RunFolder,
    config_hash: String,
    log: EventLog,
}

impl Store {
    pub(crate) fn open(folder: &RunFolder, config_hash: &str) -> Result<Self, Error> {
        let log = EventLog::open(folder.events())?;
        Ok(Self { folder: folder.clone(), config_hash: config_hash.to_owned(), log })
    }

    /// Of the configuration of the run.
    pub(crate) fn config_hash(&self) -> &str {
        &self.config_hash
    }

    /// Where a seed is; none if it has not begun.
    pub(crate) fn checkpoint<S: Resting>(&self, seed: u64) -> Result<Option<Checkpoint<S>>, Error> {
        Checkpoint::read(&self.folder.checkpoint(seed), &self.config_hash)
    }

    /// Whether the checkpoint of a seed is of this kind.
    pub(crate) fn holds<S: Resting>(&self, seed: u64) -> bool {
        sealed::begins_with(&self.folder.checkpoint(seed), S::MAGIC)
    }

    /// Forgets the rounds of a seed that come after its checkpoint: they will be played again.
    pub(crate) fn go_on_from(&mut self, seed: u64, round: u32) -> Result<(), Error> {
        Ok(self.log.truncate_after(seed, round)?)
    }

    pub(crate) fn event(&mut self, event: &Event) -> Result<(), Error> {
        Ok(self.log.append(event)?)
    }

    /// Writes the checkpoint of a seed, after the events that led to it.
    pub(crate) fn save<S: Resting>(&mut self, seed: u64, checkpoint: &Checkpoint<S>) -> Result<(), Error> {
        self.log.sync()?;
        checkpoint.write(&self.folder.checkpoint(seed))
    }

    pub(crate) fn portrait(&self, seed: u64) -> PathBuf {
        self.folder.portrait(seed)
    }

    pub(crate) fn model(&self, seed: u64) -> PathBuf {
        self.folder.model(seed)
    }
}
