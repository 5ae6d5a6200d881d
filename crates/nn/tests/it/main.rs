//! Tests of networks and optimisers: mathematical properties, golden values, determinism and files.
//!
//! Each test names the property that it checks.
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
