//! Geometry of symmetric positive definite (SPD) matrices and of matrices with orthonormal columns (Stiefel), in `f64` and
//! `f32`: exact at the nasty inputs, and close to what the hardware can do.
//!
//! | what | where |
//! |---|---|
//! | eigendecomposition of a batch, one matrix per SIMD lane | [`SymmetricEigen`] |
//! | log, exp, roots, powers, eigenvalue clamp, and their derivatives | [`SpectralMap`], [`SpectralFunction`] |
//! | the same a few matrices at a time, remembering the decomposition for the backward pass | [`SpectralTape`] |
//! | products of dense matrices | [`multiply`], [`multiply_add`], [`multiply_symmetric`] |
//! | SPD distances, geodesics, exp and log maps, means, whitening | [`Spd`] |
//! | Stiefel tangent spaces, lifting, transport, exp and log maps, uniform samples | [`Stiefel`] |
//! | polar and QR factors with exact derivatives, retractions and their inverses | [`Polar`], [`Qr`], [`Retraction`] |
//! | `ProjAvg`, `RLAvg` and the other averages on Stiefel | [`average`] |
//! | symmetric matrices as vectors | [`Vectorisation`] |
//! | instruction sets and lanes | [`simd`] |
//!
//! Four rules hold everywhere:
//!
//! - **No input is repaired silently.** A fault is an [`Error`] that names the matrix, the entry and the number.
//! - **Same input, same bits**, on every instruction set, at any place of any batch. Every operation is an IEEE operation in a fixed order; log and exp are our own.
//! - **Scratch belongs to the caller.** A type such as [`SymmetricEigen`] is a workspace: it allocates when made, never when used.
//!   Exceptions: the route of [`Polar`] over singular values, and sums of `f32` matrices.
//!   The averages, the SPD mean, the Stiefel exp and log and inverse retractions, which run once a round at most, allocate.
//! - **No I/O, no threads, no global state.** Random points take the caller's generator.
//!
//! Matrices are row-major slices; a batch is one matrix after the other.

pub mod average;
mod compiled;
mod dense;
mod error;
mod finite;
mod iteration;
mod lanewise;
mod real;
pub mod simd;
mod spd;
mod spectral;
mod stiefel;
mod symmetric;
pub mod tolerance;
mod transpose;
mod vectorisation;

pub use dense::{
    Left, Matrix, Triangle, multiply, multiply_add, multiply_symmetric, multiply_transposed_and_fetch,
};
pub use error::Error;
pub use finite::{first_not_finite, same_numbers};
pub use iteration::IterationLimits;
pub use real::Real;
pub use spd::{Spd, SpdMean, SpdMetric};
pub use spectral::{SpectralFunction, SpectralMap, SpectralTape};
pub use stiefel::{Polar, Qr, Retraction, RetractionKind, Stiefel, StiefelMetric, fill_standard_normal};
pub use symmetric::{SymmetricEigen, check_symmetric};
pub use vectorisation::Vectorisation;
