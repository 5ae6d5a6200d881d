//! The properties of `algorithms.md` section 8 that concern splits and whole runs, and every message that a bad configuration or design can get.
//!
//! Each test names the properties it shows.
#![allow(clippy::unwrap_used)] // helpers of tests may panic as tests do

mod bad_configs;
mod clients;
mod config;
mod data;
mod fit;
mod modes;
mod partition;
mod remote;
mod runs;
mod several;
mod split;
mod support;
mod third_model;
