//! Checkpoints: one file per unit, written atomically, so that a killed process loses only the
//! rounds since the last one.

use std::path::Path;

use fedspd_federated::{ClientState, ServerState};
use fedspd_nn::schedule::EarlyStopping;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::sealed::{self, Magic};
use crate::Error;
use crate::evaluate::Score;

/// The state of training that a checkpoint stores.
pub(crate) trait CheckpointState: Serialize + DeserializeOwned {
    /// The first bytes of the file.
    const MAGIC: &Magic;
}

/// All clients in this process.
impl CheckpointState for Vec<CohortState> {
    const MAGIC: &Magic = b"fedspd-ckpt-v1\n\0";
}

/// The progress of a unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Checkpoint<S> {
    /// Hash of the configuration, so that no other run resumes from it.
    pub(crate) config_hash: String,
    pub(crate) state: S,
    /// The rounds so far.
    pub(crate) history: Vec<PastRound>,
    /// The scores of the final model; empty before the end.
    pub(crate) finals: Vec<Score>,
    pub(crate) done: bool,
}

/// The state of a cohort.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CohortState {
    pub(crate) model: ModelState,
    pub(crate) stopping: Option<EarlyStopping<ModelState>>,
    pub(crate) active: bool,
}

/// A model: the state of its server and of its clients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ModelState {
    pub(crate) server: ServerState,
    pub(crate) clients: Vec<ClientState>,
}

/// A completed round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PastRound {
    /// Counted from 1.
    pub(crate) round: u32,
    pub(crate) scores: Vec<Score>,
}

impl<S: CheckpointState> Checkpoint<S> {
    pub(crate) fn write(&self, path: &Path) -> Result<(), Error> {
        sealed::write(path, S::MAGIC, self)
    }

    /// Reads the checkpoint of a unit; none if the unit has not begun.
    pub(crate) fn read(path: &Path, config_hash: &str) -> Result<Option<Self>, Error> {
        let checkpoint: Option<Self> = sealed::read(path, S::MAGIC)?;
        if checkpoint.as_ref().is_some_and(|checkpoint| checkpoint.config_hash != config_hash) {
            let fault = "belongs to another configuration".to_owned();
            return Err(Error::Checkpoint { path: path.to_owned(), fault });
        }
        Ok(checkpoint)
    }
}
