//! The properties of `algorithms.md` section 8 that concern networks and optimisers, golden values, determinism and files.
//!
//! Each test names the properties it shows.
#![allow(clippy::unwrap_used)] // helpers of tests may panic as tests do

mod bits;
mod determinism;
mod eegnet;
mod files;
mod generator;
mod golden;
mod gradients;
mod guard;
mod network;
mod optimisers;
mod parameters;
mod plain_eegnet;
mod support;
mod training;
