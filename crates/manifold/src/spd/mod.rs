//! The manifold of symmetric positive definite (SPD) matrices.

mod geometry;
mod mean;

pub use geometry::{Spd, SpdMetric};
pub use mean::SpdMean;
