//! The files of a run: round trips, what a kill leaves, and every message that a damaged folder can get.
#![allow(clippy::unwrap_used)] // helpers of tests may panic as tests do

mod atomic;
mod events;
mod folder;
mod manifest;
mod results;
mod scores;
mod shards;
