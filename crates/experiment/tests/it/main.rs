//! Tests of splits and whole runs, and of every message about a bad configuration or design.
//!
//! Each test names the property that it checks.
#![allow(clippy::unwrap_used)] // helpers of tests may panic as tests do

mod bad_configs;
mod clients;
mod config;
mod data;
mod durability;
mod fit;
mod folds;
mod modes;
mod partition;
mod policy;
mod preparation;
mod remote;
mod runs;
mod several;
mod split;
mod support;
mod third_model;
