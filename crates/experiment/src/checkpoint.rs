//! What a run needs to go on, in one file for each seed: written whole after a round, so that a kill loses one round at most.

use std::path::Path;

use fedspd_federated::{ClientState, ServerState};
use fedspd_nn::schedule::EarlyStopping;
use fedspd_run::atomic;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Error;
use crate::scores::Score;

/// Where training is, as a checkpoint keeps it.
pub(crate) trait Resting: Serialize + DeserializeOwned {
    /// What the file begins with.
    const MAGIC: &[u8; 16];
}

/// All clients in this process.
impl Resting for Vec<CourseState> {
    const MAGIC: &[u8; 16] = b"fedspd-ckpt-v1\n\0";
}

/// Where a seed is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Checkpoint<S> {
    /// Of the configuration, so that no other run goes on from it.
    pub(crate) config_hash: String,
    pub(crate) state: S,
    /// One for each round so far.
    pub(crate) history: Vec<Past>,
    /// The scores of the model that the seed ends with; nothing before its end.
    pub(crate) finals: Vec<Score>,
    pub(crate) done: bool,
}

/// Where a course is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CourseState {
    pub(crate) kept: Kept,
    pub(crate) stopping: Option<EarlyStopping<Kept>>,
    pub(crate) active: bool,
}

/// A model with all that belongs to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) server: ServerState,
    pub(crate) clients: Vec<ClientState>,
}

/// A round that is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Past {
    /// Counted from 1.
    pub(crate) round: u32,
    pub(crate) scores: Vec<Score>,
}

impl<S: Resting> Checkpoint<S> {
    pub(crate) fn write(&self, path: &Path) -> Result<(), Error> {
        let content = postcard::to_allocvec(self)
            .map_err(|error| Error::Checkpoint { path: path.to_owned(), fault: error.to_string() })?;
        let mut bytes = S::MAGIC.to_vec();
        bytes.extend(Sha256::digest(&content));
        bytes.extend(content);
        Ok(atomic::write(path, &bytes)?)
    }

    /// The checkpoint of a seed; none if it has not begun.
    pub(crate) fn read(path: &Path, config_hash: &str) -> Result<Option<Self>, Error> {
        let fault = |fault: &str| Error::Checkpoint { path: path.to_owned(), fault: fault.to_owned() };
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(fault(&error.to_string())),
        };
        let rest = bytes.strip_prefix(S::MAGIC).ok_or_else(|| fault("not a checkpoint of this version"))?;
        let (sum, content) = rest.split_at_checked(32).ok_or_else(|| fault("cut off"))?;
        if sum != Sha256::digest(content).as_slice() {
            return Err(fault("damaged: its checksum does not fit"));
        }
        let checkpoint: Self = postcard::from_bytes(content).map_err(|error| fault(&error.to_string()))?;
        if checkpoint.config_hash != config_hash {
            return Err(fault("of another configuration"));
        }
        Ok(Some(checkpoint))
    }
}
