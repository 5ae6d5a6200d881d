//! Thresholds of the crate. Those that scale with precision are in units of the machine epsilon.
//! Iteration limits are defined next to their iteration.

use crate::Real;

/// Largest accepted number of rows or columns. Beyond it, sizes in bytes approach the address
/// space.
pub const LARGEST_MATRIX: usize = 16384;

/// Affine-invariant mean: number of consecutive steps without a shorter gradient after which only
/// rounding remains.
pub const MEAN_STALL: usize = 5;

/// Symmetry: a difference `|a_ij - a_ji|` up to this many epsilons of the largest entry is
/// rounding. The two entries are then averaged.
pub const SYMMETRY: f64 = 4096.0;

/// QL sweeps allowed per eigenvalue. On average, fewer than 2.5 are needed.
pub const SWEEPS_PER_EIGENVALUE: usize = 30;

/// Householder: a column with a norm below this many epsilons of the largest entry counts as zero.
pub const NEGLIGIBLE_COLUMN: f64 = 0.03;

/// Deflation: an off-diagonal entry below this many epsilons of the largest entry counts as zero,
/// whatever its neighbours are.
pub const NEGLIGIBLE_OFF_DIAGONAL: f64 = 0.125;

/// Polar factor: smallest ratio of the smallest to the largest singular value for which the Gram
/// matrix is used. The Gram matrix squares the condition number.
pub const GRAM_ROUTE: f64 = 0.1;

/// Newton-Schulz runs if its first step leaves a residual below this. It then converges
/// quadratically from the start.
pub const NEWTON_SCHULZ: f64 = 0.25;

/// A matrix `Q H` with `|I - H|` below this is near the manifold. An iteration then computes its
/// derivative. It gains at least one digit per step and is faster than an eigendecomposition.
pub const NEAR_MANIFOLD: f64 = 0.1;

/// Returns the ratio of the smallest to the largest singular value below which the polar and the QR
/// factor are not unique.
pub fn rank_deficient<T: Real>() -> T {
    // 1e-10 for f64, 1e-5 for f32: in both, 2/3 of the digits.
    T::from_f64(if T::MANTISSA_BITS > 32 { 1e-10 } else { 1e-5 })
}

/// Sweeps allowed for a one-sided Jacobi singular value decomposition. About ten are needed.
pub const JACOBI_SWEEPS: usize = 60;
