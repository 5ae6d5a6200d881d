//! Sums of messages in the order of the clients, and what they say about a round.

use std::ops::Range;

use fedspd_manifold::average::{StiefelSum, proj_avg, rl_avg};
use fedspd_manifold::{Error as GeometryError, Matrix, Real, Stiefel};
use fedspd_nn::{Geometry, ParamSet};

use super::{Fault, LayerReport};
use crate::{Error, Wire};

/// One running sum for each shared parameter, in `f64`.
pub(super) struct Sums {
    parts: Vec<Part>,
    size: usize,
}

pub(super) struct Part {
    pub(super) name: String,
    /// Its place in a message.
    pub(super) message: Range<usize>,
    /// Its place among all parameters.
    pub(super) place: Range<usize>,
    pub(super) sum: Sum,
}

pub(super) enum Sum {
    Euclidean(PlainSum),
    Stiefel(Layer),
}

/// A weighted sum of vectors.
pub(super) struct PlainSum {
    sum: Vec<f64>,
    weight: f64,
    count: usize,
}

/// A sum of Stiefel matrices with the distances of its terms from the previous point.
pub(super) struct Layer {
    stiefel: Stiefel<f64>,
    pub(super) sum: StiefelSum,
    drift_sum: f64,
    drift_max: f64,
}

impl Sums {
    pub(super) fn new(wire: &Wire) -> Result<Self, Error> {
        let part = |(parameter, message): (&fedspd_nn::Parameter, Range<usize>)| {
            let sum = match (parameter.geometry, &parameter.shape[..]) {
                (Geometry::Stiefel, &[p, k]) => {
                    Sum::Stiefel(Layer::new(p, k).map_err(fedspd_nn::Error::from)?)
                }
                _ => Sum::Euclidean(PlainSum::new(parameter.size())),
            };
            Ok(Part { name: parameter.name.clone(), message, place: parameter.range(), sum })
        };
        let parts = wire.parameters().map(part).collect::<Result<_, Error>>()?;
        Ok(Self { parts, size: wire.shared_size() })
    }

    /// Checks the length of a message, that its numbers are finite, and that matrices are on their manifold as far as the precision goes.
    pub(super) fn check<T: Real>(&mut self, message: &[T]) -> Result<(), Fault> {
        if message.len() != self.size {
            return Err(Fault::Length { expected: self.size, found: message.len() });
        }
        let limit = if T::MANTISSA_BITS > 32 { 1e-8 } else { 1e-4 };
        for part in &mut self.parts {
            let values = &message[part.message.clone()];
            if let Some(value) = values.iter().find(|value| !value.is_finite()) {
                return Err(Fault::NotFinite { parameter: part.name.clone(), value: value.to_f64() });
            }
            if let Sum::Stiefel(layer) = &mut part.sum {
                let distance = layer.distance(&T::widen(values));
                if !(distance <= limit) {
                    return Err(Fault::OffManifold { parameter: part.name.clone(), distance, limit });
                }
            }
        }
        Ok(())
    }

    pub(super) fn add<T: Real>(
        &mut self,
        weight: f64,
        previous: &ParamSet<T>,
        message: &[T],
    ) -> Result<(), Error> {
        for part in &mut self.parts {
            let values = &message[part.message.clone()];
            match &mut part.sum {
                Sum::Euclidean(sum) => sum.add(weight, values),
                Sum::Stiefel(layer) => layer
                    .add(weight, &previous.values()[part.place.clone()], values)
                    .map_err(|source| Error::Average { parameter: part.name.clone(), source })?,
            }
        }
        Ok(())
    }

    pub(super) fn parts(&mut self) -> &mut [Part] {
        &mut self.parts
    }

    /// Writes what each part's rule makes of it, collects the reports of the layers, and empties the sums.
    pub(super) fn finish<T: Real>(
        &mut self,
        parameters: &mut ParamSet<T>,
        mut rule: impl FnMut(usize, &mut Sum, &[f64]) -> Result<(Vec<f64>, bool), GeometryError>,
    ) -> Result<Vec<LayerReport>, Error> {
        let mut reports = Vec::new();
        for (index, part) in self.parts.iter_mut().enumerate() {
            let fault = |source| Error::Average { parameter: part.name.clone(), source };
            let values = &mut parameters.values_mut()[part.place.clone()];
            let previous = T::widen(values).into_owned();
            let (next, fell_back) = rule(index, &mut part.sum, &previous).map_err(fault)?;
            if let Sum::Stiefel(layer) = &mut part.sum {
                reports.push(layer.report(&part.name, &previous, fell_back).map_err(fault)?);
            }
            for (value, next) in values.iter_mut().zip(next) {
                *value = T::from_f64(next);
            }
            part.sum.clear().map_err(fault)?;
        }
        Ok(reports)
    }
}

impl Sum {
    fn clear(&mut self) -> Result<(), GeometryError> {
        match self {
            Self::Euclidean(sum) => *sum = PlainSum::new(sum.sum.len()),
            Self::Stiefel(layer) => *layer = Layer::new(layer.sum.shape().0, layer.sum.shape().1)?,
        }
        Ok(())
    }
}

impl PlainSum {
    fn new(size: usize) -> Self {
        Self { sum: vec![0.0; size], weight: 0.0, count: 0 }
    }

    fn add<T: Real>(&mut self, weight: f64, values: &[T]) {
        // A single term is kept as it is, so that the mean of one client is that client, bit for bit.
        for (sum, value) in self.sum.iter_mut().zip(values) {
            let value = value.to_f64();
            *sum = match self.count {
                0 => value,
                1 => self.weight * *sum + weight * value,
                _ => *sum + weight * value,
            };
        }
        self.weight += weight;
        self.count += 1;
    }

    pub(super) fn mean(&self) -> Vec<f64> {
        let weight = if self.count == 1 { 1.0 } else { self.weight };
        self.sum.iter().map(|sum| sum / weight).collect()
    }
}

impl Layer {
    fn new(p: usize, k: usize) -> Result<Self, GeometryError> {
        Ok(Self { stiefel: Stiefel::new(p, k)?, sum: StiefelSum::new(p, k)?, drift_sum: 0.0, drift_max: 0.0 })
    }

    fn add<T: Real>(&mut self, weight: f64, previous: &[T], values: &[T]) -> Result<(), GeometryError> {
        self.sum.add(weight, values)?;
        let squares = previous.iter().zip(values).map(|(w, x)| (x.to_f64() - w.to_f64()).powi(2));
        let drift = squares.sum::<f64>().sqrt();
        self.drift_sum += drift;
        self.drift_max = self.drift_max.max(drift);
        Ok(())
    }

    /// `|W^T W - I|`. Finite numbers may overflow when squared, and then they are infinitely far away.
    fn distance(&mut self, w: &[f64]) -> f64 {
        self.stiefel.feasibility_error(w).unwrap_or(f64::INFINITY)
    }

    /// The previous point as a matrix.
    pub(super) fn matrix(&self, previous: &[f64]) -> Result<Matrix<f64>, GeometryError> {
        let (p, k) = self.sum.shape();
        Matrix::from_rows(p, k, previous.to_vec())
    }

    fn report(
        &mut self,
        name: &str,
        previous: &[f64],
        fell_back: bool,
    ) -> Result<LayerReport, GeometryError> {
        let previous = self.matrix(previous)?;
        let rl = rl_avg(&previous, &self.sum)?;
        let proj = match proj_avg(&self.sum) {
            Ok(proj) => Some(proj.point),
            Err(GeometryError::RankDeficient { .. }) => None,
            Err(error) => return Err(error),
        };
        Ok(LayerReport {
            name: name.to_owned(),
            consensus: rl.smallest_singular_value,
            drift_mean: self.drift_sum / self.sum.count() as f64,
            drift_max: self.drift_max,
            proj_rl_distance: proj.map(|proj| proj.zip(&rl.point, |a, b| a - b).norm()),
            fell_back,
        })
    }
}
