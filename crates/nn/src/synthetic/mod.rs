//! Labelled data made to order, for tests, the demo and benches.

mod eeg;
mod spd;

pub use eeg::SyntheticEeg;
pub use spd::SyntheticTask;
