//! Synthetic labelled data for tests, the demo and benchmarks.

mod eeg;
mod spd;

pub use eeg::SyntheticEeg;
pub use spd::SyntheticTask;
