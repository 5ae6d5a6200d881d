//! The properties of `algorithms.md` section 8 that concern federated training (23, 40 to 42, 45, 46, 48 to 50), the server driven by hand, failures, and
//! determinism; and methods of one's own.
//!
//! Each test names the properties it shows.
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
