//! Tests of federated training: agreement with centralised training, averages on the manifold,
//! sampling, local parameters, schedules, direct calls of the server, failures, determinism and
//! custom methods.
//!
//! Each test names the property that it checks.
#![allow(clippy::unwrap_used)] // helpers of tests may panic as tests do

mod aggregation;
mod custom_methods;
mod determinism;
mod failures;
mod local;
mod sampling;
mod scopes;
mod server;
mod spd;
mod support;
#[path = "../toys/mod.rs"]
mod toys;
mod whole;
