//! Server momentum on top of `rl-avg`, whose mean is a tangent vector at the previous
//! point.
//!
//! ```text
//! Stiefel     m <- b P_W(m) + P_W(A),     W <- uf(W + rate m)
//! Euclidean   m <- b m + (A - x),         x <- x + rate m
//! SPD         as Euclidean, for log x, where the log-Euclidean metric is flat
//! ```

use fedspd_manifold::{Error as GeometryError, Real, Retraction, RetractionKind, Stiefel};
use fedspd_nn::ParamSet;

use super::sums::{Layer, Sum, Sums};
use super::{Aggregated, Aggregator, Fault};
use crate::method::expect_numbers;
use crate::{Error, Message};

pub(super) struct Momentum {
    /// `b`.
    kept: f64,
    rate: f64,
    sums: Sums,
    /// `m` of each parameter.
    velocities: Vec<Vec<f64>>,
}

impl Momentum {
    pub(super) fn new(kept: f64, rate: f64, sums: Sums) -> Self {
        let parameters = sums.parameters().iter();
        let velocities = parameters.map(|parameter| vec![0.0; parameter.place.len()]).collect();
        Self { kept, rate, sums, velocities }
    }
}

impl<T: Real> Aggregator<T> for Momentum {
    fn check(&mut self, reply: &Message) -> Result<(), Fault> {
        self.sums.check::<T>(reply)
    }

    fn add(&mut self, weight: f64, previous: &ParamSet<T>, reply: &Message) -> Result<(), Error> {
        self.sums.add(weight, previous, reply)
    }

    fn finish(&mut self, parameters: &mut ParamSet<T>) -> Result<Aggregated, Error> {
        let (kept, rate, velocities) = (self.kept, self.rate, &mut self.velocities);
        self.sums.finish(parameters, |index, sum, previous| {
            let velocity = &mut velocities[index];
            let next = match sum {
                Sum::Euclidean(sum) => flat_step(kept, rate, previous, &sum.mean(), velocity),
                Sum::Spd(sum) => {
                    let logarithm = sum.logarithm(previous)?;
                    let next = flat_step(kept, rate, &logarithm, &sum.mean_logarithm(), velocity);
                    sum.exponential(&next)?
                }
                Sum::Stiefel(layer) => stiefel_step(layer, kept, rate, previous, velocity)?,
            };
            Ok((next, false))
        })
    }

    fn memory(&self) -> Vec<f64> {
        self.velocities.concat()
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), Error> {
        expect_numbers(memory, self.velocities.iter().map(Vec::len).sum())?;
        let mut rest = memory;
        for velocity in &mut self.velocities {
            let (here, after) = rest.split_at(velocity.len());
            velocity.copy_from_slice(here);
            rest = after;
        }
        Ok(())
    }
}

fn flat_step(kept: f64, rate: f64, previous: &[f64], mean: &[f64], velocity: &mut [f64]) -> Vec<f64> {
    for ((velocity, mean), x) in velocity.iter_mut().zip(mean).zip(previous) {
        *velocity = kept * *velocity + (mean - x);
    }
    previous.iter().zip(velocity).map(|(x, m)| x + rate * *m).collect()
}

fn stiefel_step(
    layer: &Layer,
    kept: f64,
    rate: f64,
    previous: &[f64],
    velocity: &mut [f64],
) -> Result<Vec<f64>, GeometryError> {
    let (p, k) = layer.sum.shape();
    let mut stiefel = Stiefel::new(p, k)?;
    let (mut lifted, mut carried) = (vec![0.0; p * k], vec![0.0; p * k]);
    stiefel.lift(previous, layer.sum.mean()?.as_slice(), &mut lifted)?;
    stiefel.transport(previous, velocity, &mut carried)?;
    for ((velocity, carried), lifted) in velocity.iter_mut().zip(&carried).zip(&lifted) {
        *velocity = kept * carried + lifted;
    }
    let step: Vec<f64> = velocity.iter().map(|m| rate * m).collect();
    let mut next = vec![0.0; p * k];
    Retraction::new(RetractionKind::Polar, p, k)?.retract(previous, &step, &mut next)?;
    Ok(next)
}
