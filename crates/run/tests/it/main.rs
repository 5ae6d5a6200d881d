//! Files of a run: round trips, leftovers of a kill, and every message about a damaged folder.
#![allow(clippy::unwrap_used)] // helpers of tests may panic as tests do

mod atomic;
mod events;
mod folder;
mod manifest;
mod results;
mod scores;
mod shards;
