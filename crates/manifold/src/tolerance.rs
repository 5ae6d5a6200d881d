//! The thresholds of the crate, named, in units of the machine epsilon where they scale with it. Caps on iterations stand beside
//! their iteration.

use crate::Real;

/// The largest matrix, row or column count that is accepted at all: beyond it, sizes in bytes approach the address space.
pub const LARGEST_MATRIX: usize = 16384;

/// The affine-invariant mean: after so many steps in a row without a shorter gradient, only rounding is left.
pub const MEAN_STALL: usize = 5;

/// Symmetry: `|a_ij - a_ji|` up to this many epsilons of the largest entry is rounding, and is averaged away.
pub const SYMMETRY: f64 = 4096.0;

/// QL sweeps allowed per eigenvalue (on average fewer than 2.5 are needed).
pub const SWEEPS_PER_EIGENVALUE: usize = 30;

/// Householder: a column whose norm is below this many epsilons of the largest entry is zero.
pub const NEGLIGIBLE_COLUMN: f64 = 0.03;

/// Deflation: an off-diagonal entry below this many epsilons of the largest entry is zero, whatever its neighbours are.
pub const NEGLIGIBLE_OFF_DIAGONAL: f64 = 0.125;

/// Polar factor: the Gram route squares the condition number, so it is taken only above this ratio of the smallest
/// to the largest singular value.
pub const GRAM_ROUTE: f64 = 0.1;

/// Newton-Schulz is tried when its first step leaves a residual below this, where it converges quadratically from the start.
pub const NEWTON_SCHULZ: f64 = 0.25;

/// A matrix `Q H` with `|I - H|` below this is near the manifold: its derivative is found by an
/// iteration that gains a digit a time or more, in less time than an eigendecomposition takes.
pub const NEAR_MANIFOLD: f64 = 0.1;

/// Below this ratio of the smallest to the largest singular value the polar and the QR factor are not unique.
pub fn rank_deficient<T: Real>() -> T {
    // 1e-10 for f64, 1e-5 for f32: the same share (2/3) of the digits.
    T::from_f64(if T::MANTISSA_BITS > 32 { 1e-10 } else { 1e-5 })
}

/// Iterations allowed to a one-sided Jacobi singular value decomposition (about ten are needed).
pub const JACOBI_SWEEPS: usize = 60;
