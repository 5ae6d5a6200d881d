//! Geometry of symmetric positive definite (SPD) and Stiefel matrices.
mod error;
mod real;
pub mod simd;
mod symmetric;
pub mod tolerance;

pub use error::Error;
pub use real::Real;
pub use symmetric::SymmetricEigen;
