//! Checkpoints: one file per unit, written atomically, so that a killed process loses only the
//! rounds since the last one.
//!
//! The scores of past rounds are in a [`RoundLog`](super::round_log::RoundLog) beside it, so that
//! the size of a checkpoint does not grow with the rounds.

use std::path::Path;

use fedspd_federated::{ClientState, ServerState};
use fedspd_nn::schedule::EarlyStopping;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::round_log::{self, RoundsMark};
use super::sealed::{self, Magic};
use crate::Error;
use crate::evaluate::Score;

/// The state of training that a checkpoint stores.
pub(crate) trait CheckpointState: Serialize + DeserializeOwned {
    /// The first bytes of the file.
    const MAGIC: &Magic;

    /// Decodes a former format, which begins with other bytes; none if they are unknown.
    fn former(magic: &Magic, content: &[u8]) -> Option<postcard::Result<FormerCheckpoint<Self>>>;
}

/// All clients in this process.
impl CheckpointState for Vec<CohortState> {
    const MAGIC: &Magic = b"fedspd-ckpt-v2\n\0";

    fn former(magic: &Magic, content: &[u8]) -> Option<postcard::Result<FormerCheckpoint<Self>>> {
        (magic == b"fedspd-ckpt-v1\n\0").then(|| postcard::from_bytes(content))
    }
}

/// The progress of a unit, as it was read.
#[derive(Debug)]
pub(crate) struct Checkpoint<S> {
    pub(crate) state: S,
    /// The rounds so far.
    pub(crate) history: Vec<PastRound>,
    /// The number of lasting events in the log; a former format does not have it.
    pub(crate) events: Option<u64>,
    /// The scores of the final model; empty before the end.
    pub(crate) finals: Vec<Score>,
    pub(crate) done: bool,
}

/// The progress of a unit, to be stored.
pub(crate) struct Progress<'a, S> {
    pub(crate) state: S,
    /// The rounds so far.
    pub(crate) history: &'a [PastRound],
    /// The scores of the final model; empty before the end.
    pub(crate) finals: &'a [Score],
    pub(crate) done: bool,
}

/// The content of the file: `H` is the hash, `F` the scores.
#[derive(Serialize, Deserialize)]
struct Content<H, S, F> {
    /// Hash of the configuration, so that no other run resumes from it.
    config_hash: H,
    state: S,
    history: RoundsMark,
    events: u64,
    finals: F,
    done: bool,
}

/// The content of former files, with all past rounds.
#[derive(Serialize, Deserialize)]
pub(crate) struct FormerCheckpoint<S> {
    pub(crate) config_hash: String,
    pub(crate) state: S,
    pub(crate) history: Vec<PastRound>,
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

impl Checkpoint<Vec<CohortState>> {
    /// Checks that a damaged file does not name other cohorts or rounds. A cohort that has stopped
    /// early has fewer rounds.
    pub(crate) fn check(&self, cohorts: usize) -> Result<(), Error> {
        same("models", cohorts, self.state.len())?;
        let (rounds, states) = (self.history.len(), self.state.iter());
        let most = states.map(|cohort| cohort.model.server.round as usize).max().unwrap_or(0);
        same("rounds", rounds, most.max(rounds))
    }
}

/// Compares a count of a checkpoint with that of the run.
pub(crate) fn same(what: &'static str, expected: usize, found: usize) -> Result<(), Error> {
    if found == expected {
        return Ok(());
    }
    Err(fedspd_federated::Error::State { what, expected, found }.into())
}

/// Writes the checkpoint of a unit, whose past rounds and events are already stored.
pub(super) fn write<S: CheckpointState>(
    path: &Path,
    config_hash: &str,
    progress: &Progress<'_, S>,
    history: RoundsMark,
    events: u64,
) -> Result<(), Error> {
    let Progress { state, finals, done, .. } = progress;
    sealed::write(path, S::MAGIC, &Content { config_hash, state, history, events, finals, done: *done })
}

/// Reads the checkpoint of a unit; none if the unit has not begun.
pub(super) fn read<S: CheckpointState>(
    path: &Path,
    config_hash: &str,
) -> Result<Option<Checkpoint<S>>, Error> {
    let fault = |fault: String| Error::Checkpoint { path: path.to_owned(), fault };
    let Some((magic, content)) = sealed::open(path)? else { return Ok(None) };
    let of_this_run = |hash: &str| {
        if hash == config_hash { Ok(()) } else { Err(fault("belongs to another configuration".to_owned())) }
    };
    if magic == *S::MAGIC {
        let content: Content<String, S, Vec<Score>> =
            postcard::from_bytes(&content).map_err(|error| fault(error.to_string()))?;
        of_this_run(&content.config_hash)?;
        let Content { state, history, events, finals, done, .. } = content;
        let history = round_log::read(path, history)?;
        return Ok(Some(Checkpoint { state, history, events: Some(events), finals, done }));
    }
    let former = S::former(&magic, &content).ok_or_else(|| fault(sealed::UNKNOWN.to_owned()))?;
    let former = former.map_err(|error| fault(error.to_string()))?;
    of_this_run(&former.config_hash)?;
    let FormerCheckpoint { state, history, finals, done, .. } = former;
    Ok(Some(Checkpoint { state, history, events: None, finals, done }))
}

#[cfg(test)]
mod tests {
    use fedspd_nn::schedule::{Schedule, ScheduleConfig};

    use super::*;

    /// A damaged checkpoint could otherwise count rounds beyond the largest number.
    #[test]
    fn other_numbers_of_models_and_rounds_are_refused() {
        let schedule = Schedule::new(ScheduleConfig::Constant, 0.1).unwrap();
        let server = postcard::to_allocvec(&(3_u32, vec![1.5_f64], schedule, vec![2.5_f64])).unwrap();
        let server: ServerState = postcard::from_bytes(&server).unwrap();
        let model = ModelState { server, clients: Vec::new() };
        let history = (1..=3).map(|round| PastRound { round, scores: Vec::new() }).collect();
        let state = vec![CohortState { model, stopping: None, active: true }];
        let mut checkpoint = Checkpoint { state, history, events: None, finals: Vec::new(), done: false };
        checkpoint.check(1).unwrap();
        let message = |fault: Result<(), Error>| fault.unwrap_err().to_string();
        assert_eq!(
            message(checkpoint.check(2)),
            "wrong number of models in the stored state: found 1, expected 2"
        );
        checkpoint.history.pop();
        assert_eq!(
            message(checkpoint.check(1)),
            "wrong number of rounds in the stored state: found 3, expected 2"
        );
    }
}
