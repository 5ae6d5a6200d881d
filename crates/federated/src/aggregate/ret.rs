//! `ret-avg`: `R_W(sum w_i R_W^-1(W_i))`, with the polar retraction and its inverse at the previous
//! point `W`.
//!
//! The inverse retraction of a reply needs only the reply and `W`. The server computes it on
//! arrival and keeps only the sum.

use fedspd_manifold::average::StiefelSum;
use fedspd_manifold::{Error as GeometryError, Real, Retraction, RetractionKind};
use fedspd_nn::ParamSet;

use super::sums::{Sum, Sums};
use super::{Aggregated, Aggregator, Fault};
use crate::{Error, Message};

pub(super) struct RetAvg {
    sums: Sums,
    /// One for each parameter; `None` if it is not Stiefel.
    tangents: Vec<Option<Tangents>>,
}

/// The sum of tangent vectors at the previous point.
struct Tangents {
    retraction: Retraction<f64>,
    vector: Vec<f64>,
    sum: StiefelSum,
}

impl RetAvg {
    pub(super) fn new(sums: Sums) -> Result<Self, Error> {
        let tangents = sums.parameters().iter().map(|parameter| match &parameter.sum {
            Sum::Euclidean(_) | Sum::Spd(_) => Ok(None),
            Sum::Stiefel(layer) => {
                let (p, k) = layer.sum.shape();
                Ok(Some(Tangents::new(p, k).map_err(fedspd_nn::Error::from)?))
            }
        });
        let tangents = tangents.collect::<Result<_, Error>>()?;
        Ok(Self { sums, tangents })
    }
}

impl<T: Real> Aggregator<T> for RetAvg {
    fn check(&mut self, reply: &Message) -> Result<(), Fault> {
        self.sums.check::<T>(reply)
    }

    fn add(&mut self, weight: f64, previous: &ParamSet<T>, reply: &Message) -> Result<(), Error> {
        self.sums.add(weight, previous, reply)?;
        for (parameter, tangents) in self.sums.parameters().iter().zip(&mut self.tangents) {
            if let Some(tangents) = tangents {
                let base = T::widen(&previous.values()[parameter.place.clone()]);
                let added = tangents.add(weight, &base, &parameter.values(reply));
                added.map_err(|source| Error::Average { parameter: parameter.name.clone(), source })?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, parameters: &mut ParamSet<T>) -> Result<Aggregated, Error> {
        let tangents = &mut self.tangents;
        let aggregated =
            self.sums.finish(parameters, |index, sum, previous| match (sum, &mut tangents[index]) {
                // A single reply is the average, bit for bit.
                (Sum::Stiefel(layer), Some(tangents)) if layer.sum.count() > 1 => {
                    Ok((tangents.retract(previous)?, false))
                }
                (Sum::Stiefel(layer), _) => Ok((layer.sum.mean()?.as_slice().to_vec(), false)),
                (Sum::Euclidean(sum), _) => Ok((sum.mean(), false)),
                (Sum::Spd(sum), _) => Ok((sum.mean()?, false)),
            })?;
        for tangents in tangents.iter_mut().flatten() {
            tangents.clear().map_err(fedspd_nn::Error::from)?;
        }
        Ok(aggregated)
    }
}

impl Tangents {
    fn new(p: usize, k: usize) -> Result<Self, GeometryError> {
        let retraction = Retraction::new(RetractionKind::Polar, p, k)?;
        Ok(Self { retraction, vector: vec![0.0; p * k], sum: StiefelSum::new(p, k)? })
    }

    fn add(&mut self, weight: f64, base: &[f64], point: &[f64]) -> Result<(), GeometryError> {
        // A reply of weight 0 needs no inverse retraction.
        if weight > 0.0 {
            self.retraction.inverse(base, point, &mut self.vector)?;
            self.sum.add(weight, &self.vector)?;
        }
        Ok(())
    }

    fn retract(&mut self, base: &[f64]) -> Result<Vec<f64>, GeometryError> {
        self.retraction.retract_once(base, self.sum.mean()?.as_slice(), &mut self.vector)?;
        Ok(self.vector.clone())
    }

    fn clear(&mut self) -> Result<(), GeometryError> {
        let (p, k) = self.sum.shape();
        self.sum = StiefelSum::new(p, k)?;
        Ok(())
    }
}
