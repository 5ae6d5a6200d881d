//! Tests of the properties of networks and optimisers in section 8 of `algorithms.md`, of golden
//! values, determinism and files.
//!
//! Each test names the properties that it checks.
#![allow(clippy::unwrap_used)] // test helpers may panic, as tests do

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
mod spd_parameters;
mod support;
mod training;
