//! Weighted averages of points on the Stiefel manifold, with diagnostics.
//!
//! | average | definition | input |
//! |---|---|---|
//! | [`proj_avg`] | polar factor of the mean matrix | the sum |
//! | [`rl_avg`] | retraction of the mean of the liftings at the previous point | the sum |
//! | [`qr_avg`] | QR factor of the mean matrix | the sum |
//! | [`ret_avg`] | retraction of the mean of the inverse retractions | all points |
//! | [`r_barycenter`] | the fixed point of [`ret_avg`] | all points, iterates |
//! | [`karcher_mean`] | minimiser of the sum of squared geodesic distances | all points, iterates |
//!
//! All averages are computed in `f64`, whatever the type of the points. If only one point has a
//! positive weight, the average is that point, bit for bit. The exception is [`rl_avg`], which
//! shortens the step: on the circle an angle `t` becomes `atan(sin t)`.

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
    /// The smallest singular value of the mean matrix `sum w_i W_i / sum w_i`. It is 1 when all
    /// points agree and 0 when they cancel in some direction. It measures consensus at no extra
    /// cost.
    pub smallest_singular_value: f64,
    /// Iterations used; 1 for the averages in closed form.
    pub iterations: usize,
    /// The length of the last step; 0 for the averages in closed form.
    pub residual: f64,
}

/// Checks points and weights and drops the points of weight zero.
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
