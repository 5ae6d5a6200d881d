//! Averages that need only the sum of the replies.

use fedspd_manifold::average::{StiefelSum, proj_avg, qr_avg, rl_avg};
use fedspd_manifold::{Error as GeometryError, Matrix, Real};
use fedspd_nn::ParamSet;

use super::sums::{Sum, Sums};
use super::{Aggregated, Aggregator, Fault};
use crate::{Error, Message};

#[derive(Clone, Copy)]
pub(super) enum Rule {
    Proj,
    Rl,
    Qr,
    Euclidean,
}

pub(super) struct FromSum {
    rule: Rule,
    sums: Sums,
}

impl FromSum {
    pub(super) fn new(rule: Rule, sums: Sums) -> Self {
        Self { rule, sums }
    }
}

impl<T: Real> Aggregator<T> for FromSum {
    fn check(&mut self, reply: &Message) -> Result<(), Fault> {
        self.sums.check::<T>(reply)
    }

    fn add(&mut self, weight: f64, previous: &ParamSet<T>, reply: &Message) -> Result<(), Error> {
        self.sums.add(weight, previous, reply)
    }

    fn finish(&mut self, parameters: &mut ParamSet<T>) -> Result<Aggregated, Error> {
        let rule = self.rule;
        self.sums.finish(parameters, |_, sum, previous| match sum {
            Sum::Euclidean(sum) => Ok((sum.mean(), false)),
            Sum::Stiefel(layer) => average(rule, &layer.matrix(previous)?, &layer.sum),
            Sum::Spd(sum) => Ok((sum.mean()?, false)),
        })
    }
}

/// Returns the average, and whether `rl-avg` replaced it. `rl-avg` always exists.
fn average(rule: Rule, previous: &Matrix<f64>, sum: &StiefelSum) -> Result<(Vec<f64>, bool), GeometryError> {
    let point = match rule {
        Rule::Proj => proj_avg(sum),
        Rule::Rl => rl_avg(previous, sum),
        Rule::Qr => qr_avg(sum),
        Rule::Euclidean => return Ok((sum.mean()?.as_slice().to_vec(), false)),
    };
    match point {
        Ok(average) => Ok((average.point.as_slice().to_vec(), false)),
        Err(GeometryError::RankDeficient { .. }) => {
            Ok((rl_avg(previous, sum)?.point.as_slice().to_vec(), true))
        }
        Err(error) => Err(error),
    }
}
