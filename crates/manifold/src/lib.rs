//! Geometry of symmetric positive definite (SPD) matrices and of matrices with orthonormal columns
//! (Stiefel), in `f64` and `f32`. Results are accurate on ill-conditioned inputs, and the kernels
//! run close to hardware speed.
//!
//! | task | item |
//! |---|---|
//! | eigendecomposition of a batch, one matrix per SIMD lane | [`SymmetricEigen`] |
//! | log, exp, roots, powers, clamp, and derivatives | [`SpectralMap`], [`SpectralFunction`] |
//! | the same for a few matrices, with a backward pass | [`SpectralTape`] |
//! | products of dense matrices | [`multiply`], [`multiply_add`], [`multiply_symmetric`] |
//! | SPD distances, geodesics, exp and log maps, means, whitening | [`Spd`] |
//! | Stiefel tangent spaces, lifting, transport, exp and log maps, uniform samples | [`Stiefel`] |
//! | polar, QR, retractions, inverses, exact derivatives | [`Polar`], [`Qr`], [`Retraction`] |
//! | `ProjAvg`, `RLAvg` and the other averages on Stiefel | [`average`] |
//! | symmetric matrices as vectors | [`Vectorisation`] |
//! | instruction sets and lanes | [`simd`] |
//!
//! Four rules hold everywhere:
//!
//! - **No input is repaired silently.** Invalid input gives an [`Error`] that names the matrix, the
//!   entry and the number.
//! - **Same input, same bits**, on every instruction set and at any index of any batch. Every
//!   operation is an IEEE operation in a fixed order. The crate has its own log and exp.
//! - **The caller owns the scratch memory.** A type such as [`SymmetricEigen`] is a workspace. It
//!   allocates in its constructor and never in a computation. Exceptions: [`Polar`] when it uses
//!   singular values, and sums of `f32` matrices. The averages, the SPD mean, the Stiefel exp and
//!   log, and the inverse retractions also allocate: they run at most once a round.
//! - **No I/O, no threads, no global state.** Random points take the caller's generator.
//!
//! Matrices are row-major slices. A batch is a sequence of contiguous matrices.

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
