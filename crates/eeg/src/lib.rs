//! From raw EEG files to trials and covariances.
//!
//! | step | where |
//! |---|---|
//! | a file is read into a [`Recording`] | [`read`] |
//!
//! Samples are microvolts, sample after sample, each with all channels: filters run in lanes across channels, an epoch is a slice, and
//! a covariance is one product.

mod error;
pub mod read;
mod recording;

pub use error::Error;
pub use recording::{Annotation, Recording};
