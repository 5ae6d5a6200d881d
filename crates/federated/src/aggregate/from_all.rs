//! Averages that need all replies at once.

use fedspd_manifold::average::{karcher_mean, ret_avg};
use fedspd_manifold::{Error as GeometryError, IterationLimits, Matrix, Real, RetractionKind, StiefelMetric};
use fedspd_nn::ParamSet;

use super::sums::{Sum, Sums};
use super::{Aggregator, Fault, Merged};
use crate::Error;

#[derive(Clone, Copy)]
pub(super) enum Rule {
    Ret,
    Karcher,
}

/// Beyond these the Karcher mean is the same to all digits that matter in training.
const KARCHER: IterationLimits = IterationLimits { tolerance: 1e-10, iterations: 200 };

pub(super) struct FromAll {
    rule: Rule,
    sums: Sums,
    weights: Vec<f64>,
    /// For each part of the sums, the matrices of all replies; none for Euclidean parts.
    points: Vec<Vec<Matrix<f64>>>,
}

impl FromAll {
    pub(super) fn new(rule: Rule, mut sums: Sums) -> Self {
        let parts = sums.parts().len();
        Self { rule, sums, weights: Vec::new(), points: vec![Vec::new(); parts] }
    }
}

impl<T: Real> Aggregator<T> for FromAll {
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
        let (rule, weights) = (self.rule, std::mem::take(&mut self.weights));
        let points = &mut self.points;
        let layers = self.sums.finish(parameters, |index, sum, previous| match sum {
            Sum::Euclidean(sum) => Ok((sum.mean(), false)),
            Sum::Stiefel(layer) => {
                let points = std::mem::take(&mut points[index]);
                Ok((average(rule, &layer.matrix(previous)?, &points, &weights)?, false))
            }
        })?;
        Ok(Merged { layers })
    }
}

fn average(
    rule: Rule,
    previous: &Matrix<f64>,
    points: &[Matrix<f64>],
    weights: &[f64],
) -> Result<Vec<f64>, GeometryError> {
    let average = match rule {
        Rule::Ret => ret_avg(RetractionKind::Polar, previous, points, Some(weights)),
        Rule::Karcher => karcher_mean(StiefelMetric::Embedded, points, Some(weights), KARCHER),
    }?;
    Ok(average.point.as_slice().to_vec())
}
