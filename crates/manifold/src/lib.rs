//! Geometry of symmetric positive definite (SPD) and Stiefel matrices.
pub mod average;
mod dense;
mod error;
mod lanewise;
mod real;
pub mod simd;
mod spd;
mod spectral;
mod stiefel;
mod symmetric;
pub mod tolerance;
mod vectorisation;

pub use dense::Matrix;
pub use error::Error;
pub use real::Real;
pub use spd::{Spd, SpdMean, SpdMetric};
pub use spectral::{SpectralFunction, SpectralMap};
pub use stiefel::{Polar, Qr, Retraction, RetractionKind, Stiefel, StiefelMetric, fill_standard_normal};
pub use symmetric::SymmetricEigen;
pub use vectorisation::Vectorisation;
