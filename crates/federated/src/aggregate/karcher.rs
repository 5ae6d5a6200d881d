//! `karcher`: the point with the smallest sum of squared geodesic distances. It iterates over all
//! replies, so it keeps them until the round is closed.

use fedspd_manifold::average::karcher_mean;
use fedspd_manifold::{IterationLimits, Matrix, Real, StiefelMetric};
use fedspd_nn::ParamSet;

use super::sums::{Sum, Sums};
use super::{Aggregated, Aggregator, Fault};
use crate::{Error, Message};

/// Tighter limits change no digit that matters in training.
const LIMITS: IterationLimits = IterationLimits { tolerance: 1e-10, iterations: 200 };

pub(super) struct Karcher {
    sums: Sums,
    weights: Vec<f64>,
    /// For each parameter, the matrices of all replies; empty if it is not Stiefel.
    points: Vec<Vec<Matrix<f64>>>,
}

impl Karcher {
    pub(super) fn new(sums: Sums) -> Self {
        let points = vec![Vec::new(); sums.parameters().len()];
        Self { sums, weights: Vec::new(), points }
    }
}

impl<T: Real> Aggregator<T> for Karcher {
    fn check(&mut self, reply: &Message) -> Result<(), Fault> {
        self.sums.check::<T>(reply)
    }

    fn add(&mut self, weight: f64, previous: &ParamSet<T>, reply: &Message) -> Result<(), Error> {
        self.sums.add(weight, previous, reply)?;
        self.weights.push(weight);
        for (parameter, points) in self.sums.parameters().iter().zip(&mut self.points) {
            match &parameter.sum {
                Sum::Stiefel(layer) => {
                    let matrix = layer.matrix(&parameter.values(reply));
                    let fault = |source| Error::Average { parameter: parameter.name.clone(), source };
                    points.push(matrix.map_err(fault)?);
                }
                Sum::Euclidean(_) | Sum::Spd(_) => {}
            }
        }
        Ok(())
    }

    fn finish(&mut self, parameters: &mut ParamSet<T>) -> Result<Aggregated, Error> {
        let (weights, points) = (std::mem::take(&mut self.weights), &mut self.points);
        self.sums.finish(parameters, |index, sum, _| match sum {
            Sum::Euclidean(sum) => Ok((sum.mean(), false)),
            Sum::Spd(sum) => Ok((sum.mean()?, false)),
            Sum::Stiefel(_) => {
                let points = std::mem::take(&mut points[index]);
                let mean = karcher_mean(StiefelMetric::Embedded, &points, Some(&weights), LIMITS)?;
                Ok((mean.point.as_slice().to_vec(), false))
            }
        })
    }
}
