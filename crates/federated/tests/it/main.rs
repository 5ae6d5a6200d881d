//! Tests of federated training: properties 23, 40 to 42, 45, 46 and 48 to 50 of `algorithms.md`,
//! section 8. Further tests cover direct calls of the server, failures, determinism and custom
//! methods.
//!
//! Each test names its properties.
#![allow(clippy::unwrap_used)] // helpers of tests may panic as tests do

mod aggregation;
mod determinism;
mod failures;
mod local;
mod sampling;
mod scopes;
mod seams;
mod server;
mod spd;
mod support;
#[path = "../toys/mod.rs"]
mod toys;
mod whole;
