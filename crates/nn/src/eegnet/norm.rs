//! Batch normalisation: batch statistics in a fixed order of summation, and the backward pass.

use fedspd_manifold::Real;
use fedspd_manifold::simd::{Kernel, Lanes, Simd};

use super::BatchNorm;
use super::weights::NormPlaces;
use crate::Error;

/// Sum, and sum of squared deviations from the mean, of each row of one trial's tensor.
#[derive(Clone, Debug)]
pub(super) struct Moments<T> {
    pub(super) sums: Vec<T>,
    pub(super) squares: Vec<T>,
}

impl<T: Real> Moments<T> {
    pub(super) fn new(rows: usize) -> Self {
        Self { sums: vec![T::ZERO; rows], squares: vec![T::ZERO; rows] }
    }

    /// Measures a `[time][rows]` tensor.
    pub(super) fn measure(&mut self, simd: Simd, tensor: &[T]) {
        simd.run(Measure { moments: self, tensor });
    }
}

struct Measure<'a, T> {
    moments: &'a mut Moments<T>,
    tensor: &'a [T],
}

impl<T: Real> Kernel<T> for Measure<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(self) {
        let rows = self.moments.sums.len();
        let share = V::Vector::splat(T::from_f64(rows as f64 / self.tensor.len() as f64));
        for first in (0..rows).step_by(V::Vector::WIDTH) {
            let mut sum = V::Vector::zero();
            for sample in self.tensor.chunks_exact(rows) {
                sum = sum + V::Vector::load(&sample[first..]);
            }
            let mean = sum * share;
            let mut squares = V::Vector::zero();
            for sample in self.tensor.chunks_exact(rows) {
                let difference = V::Vector::load(&sample[first..]) - mean;
                squares = difference.mul_add(difference, squares);
            }
            sum.store(&mut self.moments.sums[first..]);
            squares.store(&mut self.moments.squares[first..]);
        }
    }
}

/// Mean and (biased) variance of each row over a batch.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    pub(super) means: Vec<f64>,
    pub(super) variances: Vec<f64>,
}

impl Batch {
    pub(super) fn new(rows: usize) -> Self {
        Self { means: vec![0.0; rows], variances: vec![0.0; rows] }
    }

    /// Combines trials of `samples` samples each, in their order.
    ///
    /// # Errors
    /// [`Error::Diverged`] for a variance that is not finite: the inverse of its root would be a
    /// plausible zero.
    pub(super) fn combine<'a, T: Real + 'a>(
        &mut self,
        samples: usize,
        trials: &(impl Iterator<Item = &'a Moments<T>> + Clone),
    ) -> Result<(), Error> {
        let count = trials.clone().count() as f64 * samples as f64;
        for row in 0..self.means.len() {
            let sum: f64 = trials.clone().map(|trial| trial.sums[row].to_f64()).sum();
            let mean = sum / count;
            let about = |trial: &Moments<T>| {
                let shift = trial.sums[row].to_f64() / samples as f64 - mean;
                trial.squares[row].to_f64() + samples as f64 * shift * shift
            };
            self.means[row] = mean;
            self.variances[row] = finite_variance(trials.clone().map(about).sum::<f64>() / count)?;
        }
        Ok(())
    }
}

/// Returns a variance if it is finite.
pub(super) fn finite_variance(variance: f64) -> Result<f64, Error> {
    if variance.is_finite() {
        return Ok(variance);
    }
    Err(Error::Diverged { what: "the variance of a row before batch normalisation", value: variance })
}

/// Sums over a trial for the backward pass, per row. `sums` adds the gradient at the output;
/// `products` adds its product with the deviation of the row from its mean.
#[derive(Clone, Debug)]
pub(super) struct Pulls<T> {
    pub(super) sums: Vec<T>,
    pub(super) products: Vec<T>,
}

impl<T: Real> Pulls<T> {
    pub(super) fn new(rows: usize) -> Self {
        Self { sums: vec![T::ZERO; rows], products: vec![T::ZERO; rows] }
    }

    /// Adds the sums of the trials in their order, in `f64`.
    pub(super) fn combine<'a>(
        trials: &(impl Iterator<Item = &'a Self> + Clone),
        sums: &mut [f64],
        products: &mut [f64],
    ) where
        T: 'a,
    {
        for row in 0..sums.len() {
            sums[row] = trials.clone().map(|trial| trial.sums[row].to_f64()).sum();
            products[row] = trials.clone().map(|trial| trial.products[row].to_f64()).sum();
        }
    }
}

/// Coefficients of one normalisation in a step, per row.
pub(super) struct Norm<T> {
    pub(super) batch: Batch,
    /// Forward: `scale x + offset`, with the slope of the previous layer included.
    pub(super) scale: Vec<T>,
    pub(super) offset: Vec<T>,
    pub(super) means: Vec<T>,
    /// Backward: `a g + b x + c`.
    pub(super) back: [Vec<T>; 3],
    pub(super) pulls: [Vec<f64>; 2],
}

impl<T: Real> Norm<T> {
    pub(super) fn new(rows: usize) -> Self {
        let zeros = || vec![T::ZERO; rows];
        Self {
            batch: Batch::new(rows),
            scale: zeros(),
            offset: zeros(),
            means: zeros(),
            back: [zeros(), zeros(), zeros()],
            pulls: [vec![0.0; rows], vec![0.0; rows]],
        }
    }

    /// Computes the affine map from the batch statistics. The input is `slope x` plus a constant,
    /// which the mean removes.
    pub(super) fn prepare(
        &mut self,
        places: &NormPlaces,
        values: &[T],
        norm: BatchNorm,
        slope: impl Fn(usize) -> f64,
    ) {
        for row in 0..places.scale.len() {
            let slope = slope(row);
            let (mean, variance) = (self.batch.means[row], self.batch.variances[row]);
            let inverse = 1.0 / (slope * slope * variance + norm.epsilon).sqrt();
            let scale = values[places.scale.start + row].to_f64() * inverse * slope;
            let shift = values[places.shift.start + row].to_f64();
            self.scale[row] = T::from_f64(scale);
            self.offset[row] = T::from_f64(shift - scale * mean);
            self.means[row] = T::from_f64(mean);
            // With g the gradient at the output and s = inverse slope: scale (g - mean(g) - s^2 (x
            // - mean) mean(g (x - mean))). `pull_back` fills in the terms that depend on g.
            self.back[0][row] = T::from_f64(scale);
            self.back[1][row] = T::from_f64(scale * (inverse * slope).powi(2));
        }
    }

    /// Adds the sums of the trials and completes the coefficients of the backward pass, for `count`
    /// samples in all.
    pub(super) fn pull_back<'a>(
        &mut self,
        trials: &(impl Iterator<Item = &'a Pulls<T>> + Clone),
        count: usize,
    ) where
        T: 'a,
    {
        let [sums, products] = &mut self.pulls;
        Pulls::combine(trials, sums, products);
        let [a, b, c] = &mut self.back;
        for row in 0..sums.len() {
            let scale = a[row].to_f64();
            let slope = -b[row].to_f64() * products[row] / count as f64;
            b[row] = T::from_f64(slope);
            c[row] = T::from_f64(-scale * sums[row] / count as f64 - slope * self.batch.means[row]);
        }
    }
}
