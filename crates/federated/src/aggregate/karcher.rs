//! `karcher`: the point with the smallest sum of squared geodesic distances. It iterates over all replies, so they are all kept until the round is closed.

use fedspd_manifold::average::karcher_mean;
use fedspd_manifold::{IterationLimits, Matrix, Real, StiefelMetric};
use fedspd_nn::ParamSet;

use super::sums::{Sum, Sums};
use super::{Aggregator, Fault, Merged};
use crate::Error;

/// Beyond these the mean is the same to all digits that matter in training.
const LIMITS: IterationLimits = IterationLimits { tolerance: 1e-10, iterations: 200 };

pub(super) struct Karcher {
    sums: Sums,
    weights: Vec<f64>,
    /// For each part of the sums, the matrices of all replies; none for Euclidean parts.
    points: Vec<Vec<Matrix<f64>>>,
}

impl Karcher {
    pub(super) fn new(mut sums: Sums) -> Self {
        let parts = sums.parts().len();
        Self { sums, weights: Vec::new(), points: vec![Vec::new(); parts] }
    }
}

impl<T: Real> Aggregator<T> for Karcher {
    fn check(&mut self, message: &[T]) -> Result<(), Fault> {
        self.sums.check(message)
    }

    fn add(&mut self, _: usize, weight: f64, previous: &ParamSet<T>, message: &[T]) -> Result<(), Error> {
        self.sums.add(weight, previous, message)?;
        self.weights.push(weight);
        for (part, points) in self.sums.parts().iter_mut().zip(&mut self.points) {
            if let Sum::Stiefel(layer) = &part.sum {
                let matrix = layer.matrix(&T::widen(&message[part.message.clone()]));
                points
                    .push(matrix.map_err(|source| Error::Average { parameter: part.name.clone(), source })?);
            }
        }
        Ok(())
    }

    fn finish(&mut self, parameters: &mut ParamSet<T>) -> Result<Merged, Error> {
        let (weights, points) = (std::mem::take(&mut self.weights), &mut self.points);
        let layers = self.sums.finish(parameters, |index, sum, _| match sum {
            Sum::Euclidean(sum) => Ok((sum.mean(), false)),
            Sum::Stiefel(_) => {
                let points = std::mem::take(&mut points[index]);
                let mean = karcher_mean(StiefelMetric::Embedded, &points, Some(&weights), LIMITS)?;
                Ok((mean.point.as_slice().to_vec(), false))
            }
        })?;
        Ok(Merged { layers })
    }
}
