//! Averages of points on the Stiefel manifold, weighted, each with its diagnostics.
//!
//! | average | definition | needs |
//! |---|---|---|
//! | [`proj_avg`] | polar factor of the mean matrix | the sum |
//! | [`rl_avg`] | retraction of the mean of the liftings at the previous point | the sum |
//! | [`qr_avg`] | QR factor of the mean matrix | the sum |
//! | [`ret_avg`] | retraction of the mean of the inverse retractions | all points |
//! | [`r_barycenter`] | the fixed point of [`ret_avg`] | all points, iterates |
//! | [`karcher_mean`] | minimiser of the sum of squared geodesic distances | all points, iterates |
//!
//! All work in `f64`, whatever the type of the points. The average of a single point (all others having weight zero) is that
//! point, bit for bit, except with [`rl_avg`], which shortens the step: on the circle an angle `t` becomes `atan(sin t)`.

mod iterative;
mod one_shot;
mod sum;

pub use iterative::{karcher_mean, r_barycenter};
pub use one_shot::{proj_avg, qr_avg, ret_avg, rl_avg};
pub use sum::StiefelSum;

use crate::{Error, Matrix, Real};

/// An average with its diagnostics.
#[derive(Clone, Debug, PartialEq)]
pub struct Average<T> {
    /// The average: a matrix with orthonormal columns.
    pub point: Matrix<T>,
    /// The smallest singular value of the mean matrix `sum w_i W_i / sum w_i`: 1 when all points agree, 0 when some direction
    /// cancels. A free measure of consensus.
    pub smallest_singular_value: f64,
    /// Iterations used; 1 for the averages in closed form.
    pub iterations: usize,
    /// The length of the last step; 0 for the averages in closed form.
    pub residual: f64,
}

/// Checks points and weights and drops the points without weight.
///
/// Returns the remaining points in `f64` with their weights, which add up to 1.
fn weighted_points<T: Real>(
    points: &[Matrix<T>],
    weights: Option<&[f64]>,
) -> Result<Vec<(f64, Matrix<f64>)>, Error> {
    let first = points.first().ok_or(Error::Zero { what: "the number of points" })?;
    if let Some(weights) = weights {
        crate::error::check_length("the weights", weights.len(), points.len())?;
    }
    let weight = |index: usize| weights.map_or(1.0, |weights| weights[index]);
    let mut sum = StiefelSum::new(first.rows(), first.columns())?;
    for (index, point) in points.iter().enumerate() {
        let (expected, found) = (sum.shape(), (point.rows(), point.columns()));
        if found != expected {
            return Err(Error::Shape { what: "a point", expected, found });
        }
        sum.add(weight(index), point.as_slice())?;
    }
    let total = sum.total_weight()?;
    let used = points.iter().enumerate().filter(|&(index, _)| weight(index) > 0.0);
    Ok(used.map(|(index, point)| (weight(index) / total, point.cast())).collect())
}
