//! Reports, from run folders to files.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests may panic as tests do

mod browser;
mod content;
mod faults;
mod latex;
mod privacy;
mod reproduction;
mod support;
