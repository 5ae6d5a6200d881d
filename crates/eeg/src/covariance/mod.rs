//! Covariances of trials: estimators, quality, and recentring.

mod covariances;
mod estimator;
mod of_trials;
mod quality;
mod recentring;

pub use covariances::Covariances;
pub use estimator::{CovarianceWorkspace, Estimator};
pub(crate) use quality::is_flat;
pub use quality::{Cause, Extent, Quality, QualitySummary};
pub use recentring::Recentring;

/// Copies the lower triangle to the upper one.
pub(crate) fn mirror(n: usize, matrix: &mut [f64]) {
    for i in 0..n {
        for j in 0..i {
            matrix[j * n + i] = matrix[i * n + j];
        }
    }
}
