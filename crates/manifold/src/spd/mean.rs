//! Means of SPD matrices.

use super::{Spd, SpdMetric};
use crate::error::{check_length, check_total};
use crate::simd::{Array, elementary::log};
use crate::spectral::SpectralFunction;
use crate::symmetric::{check_batch, check_symmetric};
use crate::{Error, IterationLimits, Real, tolerance};

/// A mean with the report of its iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct SpdMean<T> {
    /// The mean, row-major `n x n`.
    pub point: Vec<T>,
    /// Iterations used; 1 for the log-Euclidean mean, which is in closed form.
    pub iterations: usize,
    /// The norm of the gradient at the mean, `|sum w_i log(G^-1/2 X_i G^-1/2)|`; 0 for the log-Euclidean mean.
    pub gradient_norm: f64,
    /// Whether the gradient norm reached the tolerance, or stopped shrinking at the level of rounding.
    pub converged: bool,
}

impl<T: Real> Spd<T> {
    /// The weighted mean of a batch: the minimiser of the weighted sum of squared distances (uniform weights if none are given).
    ///
    /// Affine-invariant: the Karcher flow `G <- G^1/2 exp(s sum w_i log(G^-1/2 X_i G^-1/2)) G^1/2` from the arithmetic mean.
    /// With `c_i` the condition number of the whitened `X_i`, the Hessian of the objective lies between 1 and
    /// `b = sum w_i coth(log(c_i)/2) log(c_i)/2`, so the step `s = 2/(1 + b)` contracts where the usual `s = 1` diverges
    /// (`b > 2`) (Bini and Iannazzo, "Computing the Karcher mean of symmetric positive definite matrices", Linear Algebra
    /// Appl. 438, 2013). It is the first step, and the one after a gradient that did not shrink; the others are those of Barzilai and Borwein
    /// ("Two-point step size gradient methods", IMA J. Numer. Anal. 8, 1988) within `1/b` and 1, which on real covariances halve the number of steps.
    /// Log-Euclidean: `exp(sum w_i log X_i)`.
    /// Reaching the cap is reported, not an error: the point is still a sensible mean.
    ///
    /// # Errors
    /// [`Error::NotABatch`], [`Error::Weight`], [`Error::NoWeight`] and faults of the matrices.
    pub fn mean(
        &mut self,
        metric: SpdMetric,
        matrices: &[T],
        weights: Option<&[f64]>,
        limits: IterationLimits,
    ) -> Result<SpdMean<T>, Error> {
        let count = check_batch(self.n(), matrices)?;
        let weights = normalised_weights(count, weights)?;
        check_symmetric(self.map().simd(), self.n(), matrices, 0..count)?;
        let size = self.n() * self.n();
        let mut weighted = weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0);
        if let (Some((only, _)), None) = (weighted.next(), weighted.next()) {
            let point = matrices[only * size..(only + 1) * size].to_vec();
            // It must be positive definite like any other.
            self.map().apply(SpectralFunction::Log, &point, &mut vec![T::ZERO; size])?;
            return Ok(SpdMean { point, iterations: 0, gradient_norm: 0.0, converged: true });
        }
        let mut logs = vec![T::ZERO; matrices.len()];
        if metric == SpdMetric::LogEuclidean {
            self.map().apply(SpectralFunction::Log, matrices, &mut logs)?;
            let mut point = vec![T::ZERO; self.n() * self.n()];
            self.map().apply(SpectralFunction::Exp, &weighted_sum(&weights, &logs), &mut point)?;
            return Ok(SpdMean { point, iterations: 1, gradient_norm: 0.0, converged: true });
        }

        let mut point = weighted_sum(&weights, matrices);
        let mut whitened = vec![T::ZERO; matrices.len()];
        let mut factor = vec![T::ZERO; point.len()];
        let (mut gradient_norm, mut smallest, mut since) = (f64::INFINITY, f64::INFINITY, 0);
        let (mut before, mut step) = (Vec::new(), 0.0);
        for iterations in 1..=limits.iterations {
            self.whiten(&point, matrices, &mut whitened)?;
            let mut curvature = 0.0;
            let mut remaining = weights.iter();
            self.map().apply_observed(SpectralFunction::Log, &whitened, &mut logs, |smallest, largest| {
                let weight = remaining.next().copied().unwrap_or_default();
                curvature += weight * hessian_bound((largest / smallest).to_f64());
            })?;
            let mut gradient = weighted_sum(&weights, &logs);
            gradient_norm = crate::dense::frobenius_norm(&gradient).to_f64();
            (smallest, since) =
                if gradient_norm < smallest { (gradient_norm, 0) } else { (smallest, since + 1) };
            // The flow contracts: a gradient that is short and has not shrunk for some steps is zero to rounding, whose size depends on
            // the condition of the matrices.
            let stalls_at_rounding = since >= tolerance::MEAN_STALL && gradient_norm <= 0.1;
            if gradient_norm <= limits.tolerance || stalls_at_rounding {
                return Ok(SpdMean { point, iterations, gradient_norm, converged: true });
            }
            step = if since > 0 || before.is_empty() {
                2.0 / (1.0 + curvature)
            } else {
                secant_step(step, &before, &gradient).max(1.0 / curvature).min(1.0)
            };
            before.clone_from(&gradient);
            for entry in &mut gradient {
                *entry *= T::from_f64(step);
            }
            self.map().apply(SpectralFunction::Exp, &gradient, &mut factor)?;
            self.unwhiten(&factor, &mut point)?;
        }
        Ok(SpdMean { point, iterations: limits.iterations, gradient_norm, converged: false })
    }
}

/// The step of Barzilai and Borwein: the inverse of the curvature that the last step met, `s <g, g> / <g, g - g'>` with `g` the gradient before
/// it and `g'` after it, each in the coordinates of its own point: they differ by a rotation that vanishes with the step.
fn secant_step<T: Real>(step: f64, before: &[T], after: &[T]) -> f64 {
    let (mut along, mut lost) = (0.0, 0.0);
    for (before, after) in before.iter().zip(after) {
        let (before, after) = (before.to_f64(), after.to_f64());
        along += before * before;
        lost += before * (before - after);
    }
    step * along / lost
}

/// `coth(x) x` with `x = log(c)/2`, the largest eigenvalue of the Hessian of half the squared distance to a matrix of condition `c`.
fn hessian_bound(condition: f64) -> f64 {
    let condition = condition.min(f64::MAX);
    let Array([log]) = log(Array([condition]));
    // coth(log(c)/2) = (c + 1)/(c - 1); near c = 1 the product is 1 + log(c)^2/12.
    if condition - 1.0 < 1e-4 { 1.0 } else { 0.5 * log * (1.0 + 2.0 / (condition - 1.0)) }
}

/// `sum w_i X_i`.
fn weighted_sum<T: Real>(weights: &[f64], matrices: &[T]) -> Vec<T> {
    let size = matrices.len() / weights.len();
    let mut sum = vec![0.0; size];
    for (weight, matrix) in weights.iter().zip(matrices.chunks_exact(size)) {
        for (sum, entry) in sum.iter_mut().zip(matrix) {
            *sum += weight * entry.to_f64();
        }
    }
    sum.into_iter().map(T::from_f64).collect()
}

/// Checks weights and makes them add up to 1.
fn normalised_weights(count: usize, weights: Option<&[f64]>) -> Result<Vec<f64>, Error> {
    let Some(weights) = weights else { return Ok(vec![1.0 / count as f64; count]) };
    check_length("the weights", weights.len(), count)?;
    if let Some(index) = weights.iter().position(|weight| !(*weight >= 0.0 && weight.is_finite())) {
        return Err(Error::Weight { index, value: weights[index] });
    }
    let total: f64 = weights.iter().sum();
    if total == 0.0 {
        return Err(Error::NoWeight { count });
    }
    check_total(total)?;
    Ok(weights.iter().map(|weight| weight / total).collect())
}
