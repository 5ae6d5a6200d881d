//! The files of a run folder, written by the same code for runs in one process and over Flower.

mod checkpoint;
mod history;
mod manifest;
mod recorder;
mod results;
mod round_event;
mod round_log;
pub(crate) mod sealed;

pub(crate) use checkpoint::{
    Checkpoint, CheckpointState, CohortState, FormerCheckpoint, ModelState, PastRound, Progress, same,
};
pub(crate) use history::{History, is_due, warn};
pub(crate) use manifest::{RunFacts, run_manifest};
pub(crate) use recorder::{Recorder, saved_config};
pub(crate) use results::{UnitResults, pooled, table};
pub(crate) use round_event::round_event;
