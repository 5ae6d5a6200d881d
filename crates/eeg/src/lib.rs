//! From raw EEG files to trials and covariances.
//!
//! | step | where |
//! |---|---|
//! | a dataset is defined | [`Definition`], [`dataset`] |
//! | its files are downloaded | [`fetch`] |
//! | a file is read | [`read`], [`npz`] |
//! | recordings are filtered to a band | [`filter`] |
//! | trials are cut out, covariances estimated | [`prepare`] |
//! | they are looked at, and aligned subject by subject | [`Covariances`], [`Recentring`], [`EuclideanAlignment`] |
//!
//! Samples are microvolts, sample after sample, each with all channels: filters run in lanes across channels, a trial is a slice, and
//! a covariance is one product.

mod about;
mod covariance;
pub mod dataset;
mod epochs;
mod error;
mod expansion;
pub mod fetch;
pub mod filter;
mod hint;
mod inspect;
mod making;
mod names;
pub mod npz;
mod number;
pub mod prepare;
pub mod read;
mod recording;
mod regular;
pub mod sample;
mod segments;
mod shape;
pub mod store;
mod trials;
mod trouble;
mod voltage;

pub use about::{About, MICROVOLTS, NO_UNIT, Origin, SQUARE_MICROVOLTS};
pub use covariance::{
    Cause, CovarianceWorkspace, Covariances, Estimator, Extent, Quality, QualitySummary, Recentring,
};
pub use dataset::Definition;
pub use epochs::{DropReason, Dropped, Epoch};
pub use error::Error;
pub use expansion::Expansion;
pub use inspect::{ChannelLook, Inspection};
pub use making::{Alignment, Making};
pub use recording::{Annotation, Recording};
pub use trials::{EuclideanAlignment, Trials, z_score};
