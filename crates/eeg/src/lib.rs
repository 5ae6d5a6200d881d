//! EEG data: from raw files to trials and covariances.
//!
//! | step | items |
//! |---|---|
//! | define a dataset | [`Definition`], [`dataset`] |
//! | download its files | [`fetch`] |
//! | read a file | [`read`], [`npz`] |
//! | filter recordings to a band | [`filter`] |
//! | cut trials, estimate covariances | [`prepare`] |
//! | check and align each subject | [`Covariances`], [`Recentring`], [`EuclideanAlignment`], [`OnlineAlignment`] |
//!
//! Samples are in microvolts, stored sample by sample with all channels side by side. Filters then
//! run in SIMD lanes across channels, a trial is a slice, and a covariance is one matrix product.

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
mod names;
mod natural_order;
mod nearest;
pub mod npz;
mod number;
mod online;
mod preparation;
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
pub use natural_order::natural_order;
pub use nearest::nearest;
pub use online::OnlineAlignment;
pub use preparation::{
    Alignment, AlignmentFit, Branch, ContentKind, Difference, IIR, Making, Preparation, Recipe,
};
pub use recording::{Annotation, Recording};
pub use trials::{EuclideanAlignment, Trials, sample_by_sample, z_score};
