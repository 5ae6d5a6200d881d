//! Averages defined by a fixed point.

use super::{
    Average,
    one_shot::{proj_avg, sum_of, tangent_step},
    weighted_points,
};
use crate::{
    Error, IterationLimits, Matrix, Polar, Real, Retraction, RetractionKind, Stiefel, StiefelMetric,
};

/// Computes the R-barycenter: the fixed point of `G <- R_G(sum w_i R_G^-1(W_i))`, started at
/// [`proj_avg`] (Bouchard et al. 2025).
///
/// # Errors
/// Errors of points and weights; [`Error::RankDeficient`] if there is no starting point,
/// [`Error::TooFarApart`] if a point has no inverse retraction, [`Error::NotConverged`].
pub fn r_barycenter<T: Real>(
    kind: RetractionKind,
    points: &[Matrix<T>],
    weights: Option<&[f64]>,
    limits: IterationLimits,
) -> Result<Average<T>, Error> {
    let points = weighted_points(points, weights)?;
    let (p, k) = (points[0].1.rows(), points[0].1.columns());
    let mut retraction = Retraction::new(kind, p, k)?;
    iterate("the R-barycenter", &points, limits, |point| tangent_step(&mut retraction, point, &points))
}

/// Computes the Karcher mean: the minimiser of the weighted sum of squared geodesic distances. It
/// iterates `Y <- Exp_Y(sum w_i Log_Y(W_i))` from [`proj_avg`]. It is slow and serves as a
/// reference.
///
/// A logarithm exists only for points on the manifold, but `f32` points lie on it only to 1e-7.
/// Each point is therefore replaced by its polar factor in `f64`.
///
/// # Errors
/// Errors of points and weights; [`Error::RankDeficient`] if there is no starting point,
/// [`Error::TooFarApart`] if a logarithm does not converge, [`Error::NotConverged`].
pub fn karcher_mean<T: Real>(
    metric: StiefelMetric,
    points: &[Matrix<T>],
    weights: Option<&[f64]>,
    limits: IterationLimits,
) -> Result<Average<T>, Error> {
    let points = weighted_points(points, weights)?;
    let (p, k) = (points[0].1.rows(), points[0].1.columns());
    let mut stiefel = Stiefel::<f64>::new(p, k)?;
    let mut polar = Polar::new(p, k)?;
    let mut targets = points.clone();
    if points.len() > 1 {
        for ((_, target), (_, point)) in targets.iter_mut().zip(&points) {
            polar.project(point.as_slice(), target.as_mut_slice())?;
        }
    }
    iterate("the Karcher mean", &points, limits, |point| {
        let mut mean = Matrix::zeros(point.rows(), point.columns());
        for (weight, target) in &targets {
            mean = mean.zip(&stiefel.log(metric, point, target)?, |mean, x| mean + weight * x);
        }
        Ok((stiefel.exp(metric, point, &mean)?, mean.norm()))
    })
}

/// Repeats a step until it is short enough. `step` returns the next point and its own length.
fn iterate<T: Real>(
    operation: &'static str,
    points: &[(f64, Matrix<f64>)],
    limits: IterationLimits,
    mut step: impl FnMut(&Matrix<f64>) -> Result<(Matrix<f64>, f64), Error>,
) -> Result<Average<T>, Error> {
    let sum = sum_of(points)?;
    let (p, k) = sum.shape();
    let mut polar = Polar::with_simd(p, k, sum.simd())?;
    let smallest_singular_value = polar.smallest_singular_value_of(sum.mean()?.as_slice())?;
    if let [(_, only)] = points {
        return Ok(Average { point: only.cast(), smallest_singular_value, iterations: 0, residual: 0.0 });
    }
    let mut point = proj_avg(&sum)?.point;
    let mut residual = f64::INFINITY;
    for iterations in 1..=limits.iterations {
        (point, residual) = step(&point)?;
        if residual <= limits.tolerance {
            return Ok(Average { point: point.cast(), smallest_singular_value, iterations, residual });
        }
    }
    Err(Error::NotConverged { operation, iterations: limits.iterations, residual })
}
