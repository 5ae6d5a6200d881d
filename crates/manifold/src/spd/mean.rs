//! Means of SPD matrices.

use super::{Spd, SpdMetric};
use crate::dense::{Left, Matrix, Triangle, mirror, multiply, multiply_symmetric};
use crate::error::{check_length, check_total};
use crate::simd::{Array, Simd, elementary::log};
use crate::spectral::{SpectralFunction, SpectralTape};
use crate::symmetric::{check_batch, check_symmetric};
use crate::{Error, IterationLimits, Real, tolerance};

/// A mean with a report of its iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct SpdMean<T> {
    /// The mean, row-major `n x n`.
    pub point: Vec<T>,
    /// Iterations used; 1 for the log-Euclidean mean, which is in closed form.
    pub iterations: usize,
    /// The norm of the gradient at the mean, `|sum w_i log(G^-1/2 X_i G^-1/2)|`; 0 for the
    /// log-Euclidean mean.
    pub gradient_norm: f64,
    /// Whether the gradient norm reached the tolerance, or stopped shrinking at the level of
    /// rounding.
    pub converged: bool,
}

impl<T: Real> Spd<T> {
    /// Computes the weighted mean of a batch: the minimiser of the weighted sum of squared
    /// distances. Weights are uniform by default.
    ///
    /// Affine-invariant: the Karcher flow `G <- A exp(s sum w_i log(A^-1 X_i A^-T)) A^T`,
    /// `G = A A^T`, starts at the arithmetic mean. Let `c_i` be the condition number of the
    /// whitened `X_i`. The Hessian of the objective lies between 1 and
    /// `b = sum w_i coth(log(c_i)/2) log(c_i)/2`. The step `s = 2/(1 + b)` therefore contracts,
    /// while the usual `s = 1` diverges for `b > 2`. See Bini and Iannazzo, "Computing the Karcher
    /// mean of symmetric positive definite matrices", Linear Algebra Appl. 438, 2013.
    ///
    /// This step is used first, and after each gradient that did not shrink. The other steps are
    /// those of Barzilai and Borwein ("Two-point step size gradient methods", IMA J. Numer. Anal.
    /// 8, 1988), limited to `1/b` and 1. On real covariances they halve the number of steps.
    ///
    /// Log-Euclidean: `exp(sum w_i log X_i)`. Reaching the iteration limit is reported and is not
    /// an error: the point is still a usable mean.
    ///
    /// # Errors
    /// [`Error::NotABatch`], [`Error::Weight`], [`Error::NoWeight`] and errors of the matrices.
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
            // Check that it is positive definite, as for several matrices.
            self.map().apply(SpectralFunction::Log, &point, &mut vec![T::ZERO; size])?;
            return Ok(SpdMean { point, iterations: 0, gradient_norm: 0.0, converged: true });
        }
        if metric == SpdMetric::LogEuclidean {
            let mut logs = vec![T::ZERO; matrices.len()];
            self.map().apply(SpectralFunction::Log, matrices, &mut logs)?;
            let mut point = vec![T::ZERO; self.n() * self.n()];
            self.map().apply(SpectralFunction::Exp, &weighted_sum(&weights, &logs), &mut point)?;
            return Ok(SpdMean { point, iterations: 1, gradient_norm: 0.0, converged: true });
        }

        let mut factors = Factors::of(self, &weighted_sum(&weights, matrices))?;
        let mut flow = Flow::new(self, &weights)?;
        let (mut gradient_norm, mut smallest, mut since) = (f64::INFINITY, f64::INFINITY, 0);
        let (mut before, mut step) = (Vec::new(), 0.0);
        for iterations in 1..=limits.iterations {
            let (mut gradient, curvature) = flow.gradient(&factors, matrices)?;
            gradient_norm = crate::dense::frobenius_norm(&gradient).to_f64();
            (smallest, since) =
                if gradient_norm < smallest { (gradient_norm, 0) } else { (smallest, since + 1) };
            // The flow contracts. A short gradient that stopped shrinking is therefore zero to
            // rounding. The size of the rounding depends on the condition of the matrices.
            let stalls_at_rounding = since >= tolerance::MEAN_STALL && gradient_norm <= 0.1;
            if gradient_norm <= limits.tolerance || stalls_at_rounding {
                return Ok(SpdMean { point: factors.point(), iterations, gradient_norm, converged: true });
            }
            step = if since > 0 || before.is_empty() {
                2.0 / (1.0 + curvature)
            } else {
                secant_step(step, &before, &gradient).max(1.0 / curvature).min(1.0)
            };
            before.clone_from(&gradient);
            for entry in &mut gradient {
                *entry *= T::from_f64(0.5 * step);
            }
            factors.advance(self, &gradient)?;
        }
        let point = factors.point();
        Ok(SpdMean { point, iterations: limits.iterations, gradient_norm, converged: false })
    }
}

/// A point `G = A A^T`, stored as `A` and its inverse.
///
/// A tangent vector `A S A^T` at `G` has the coordinates `S`. The geodesic with this velocity ends
/// at `A exp(S) A^T`. With the factor `A exp(S/2)` there, parallel transport along the geodesic
/// preserves all coordinates. Gradients at different points are therefore comparable, and a step
/// needs no root of `G`.
struct Factors<T: Real> {
    n: usize,
    simd: Simd,
    factor: Matrix<T>,
    inverse: Matrix<T>,
}

impl<T: Real> Factors<T> {
    /// Computes the square root of a point and its inverse.
    fn of(spd: &mut Spd<T>, point: &[T]) -> Result<Self, Error> {
        let (n, simd) = (spd.n(), spd.map().simd());
        let (mut factor, mut inverse) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
        spd.map().apply(SpectralFunction::Sqrt, point, factor.as_mut_slice())?;
        spd.map().apply(SpectralFunction::InverseSqrt, point, inverse.as_mut_slice())?;
        Ok(Self { n, simd, factor, inverse })
    }

    /// Follows the geodesic with twice the given coordinates: `A <- A exp(S)`,
    /// `A^-1 <- exp(-S) A^-1`.
    fn advance(&mut self, spd: &mut Spd<T>, half: &[T]) -> Result<(), Error> {
        let mut exponential = Matrix::zeros(self.n, self.n);
        spd.map().apply(SpectralFunction::Exp, half, exponential.as_mut_slice())?;
        self.factor = self.factor.times(self.simd, &exponential);
        let back: Vec<T> = half.iter().map(|&entry| -entry).collect();
        spd.map().apply(SpectralFunction::Exp, &back, exponential.as_mut_slice())?;
        self.inverse = exponential.times(self.simd, &self.inverse);
        Ok(())
    }

    /// Returns `A A^T`, exactly symmetric.
    fn point(&self) -> Vec<T> {
        let mut point = self.factor.times(self.simd, &self.factor.transpose());
        mirror(self.n, point.as_mut_slice());
        point.as_slice().to_vec()
    }
}

/// Gradient of the mean's objective, with scratch memory. It processes as many matrices at a time
/// as there are lanes.
struct Flow<'a, T: Real> {
    weights: &'a [f64],
    tape: SpectralTape<T>,
    product: Vec<T>,
    whitened: Vec<T>,
    logs: Vec<T>,
}

impl<'a, T: Real> Flow<'a, T> {
    fn new(spd: &mut Spd<T>, weights: &'a [f64]) -> Result<Self, Error> {
        let tape = SpectralTape::with_simd(spd.n(), spd.map().simd())?;
        let (size, lanes) = (tape.n() * tape.n(), tape.lanes());
        let zeros = |count: usize| vec![T::ZERO; count * size];
        Ok(Self { weights, tape, product: zeros(1), whitened: zeros(1), logs: zeros(lanes) })
    }

    /// Computes `sum w_i log(A^-1 X_i A^-T)` and the bound on the Hessian there.
    fn gradient(&mut self, at: &Factors<T>, matrices: &[T]) -> Result<(Vec<T>, f64), Error> {
        let (n, simd, lanes) = (at.n, at.simd, self.tape.lanes());
        let (size, transposed) = (n * n, at.inverse.transpose());
        let (mut sum, mut curvature) = (vec![0.0; size], 0.0);
        for (chunk, batch) in matrices.chunks(lanes * size).enumerate() {
            let (first, held) = (chunk * lanes, batch.len() / size);
            self.tape.begin(held)?;
            for (lane, matrix) in batch.chunks_exact(size).enumerate() {
                let (inverse, product, whitened) =
                    (at.inverse.as_slice(), &mut self.product, &mut self.whitened);
                multiply(simd, Left::Plain, (n, n, n), inverse, matrix, product);
                let right = transposed.as_slice();
                multiply_symmetric(simd, Left::Plain, Triangle::Lower, (n, n), product, right, whitened);
                self.tape.put(lane, whitened)?;
            }
            self.tape.apply(SpectralFunction::Log).map_err(|error| match error {
                Error::NotFinite { matrix, .. } => {
                    Error::TooLarge { operation: "the whitening", matrix: first + matrix }
                }
                Error::NotPositiveDefinite { matrix, smallest_eigenvalue } => {
                    Error::NotPositiveDefinite { matrix: first + matrix, smallest_eigenvalue }
                }
                other => other,
            })?;
            let logs = &mut self.logs[..held * size];
            self.tape.matrices(logs)?;
            for (lane, log) in logs.chunks_exact(size).enumerate() {
                let weight = self.weights[first + lane];
                let (smallest, largest) = self.tape.eigenvalue_range(lane);
                curvature += weight * hessian_bound((largest / smallest).to_f64());
                for (sum, entry) in sum.iter_mut().zip(log) {
                    *sum += weight * entry.to_f64();
                }
            }
        }
        Ok((sum.into_iter().map(T::from_f64).collect(), curvature))
    }
}

/// Returns the step of Barzilai and Borwein: the inverse of the curvature along the last step,
/// `s <g, g> / <g, g - g'>`. `g` is the gradient before the step and `g'` the one after it.
fn secant_step<T: Real>(step: f64, before: &[T], after: &[T]) -> f64 {
    let (mut along, mut lost) = (0.0, 0.0);
    for (before, after) in before.iter().zip(after) {
        let (before, after) = (before.to_f64(), after.to_f64());
        along += before * before;
        lost += before * (before - after);
    }
    step * along / lost
}

/// Computes `coth(x) x` with `x = log(c)/2`: the largest eigenvalue of the Hessian of half the
/// squared distance to a matrix of condition `c`.
fn hessian_bound(condition: f64) -> f64 {
    let condition = condition.min(f64::MAX);
    let Array([log]) = log(Array([condition]));
    // coth(log(c)/2) = (c + 1)/(c - 1); near c = 1 the product is 1 + log(c)^2/12.
    if condition - 1.0 < 1e-4 { 1.0 } else { 0.5 * log * (1.0 + 2.0 / (condition - 1.0)) }
}

/// Computes `sum w_i X_i`.
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

/// Checks weights and normalises their sum to 1.
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
