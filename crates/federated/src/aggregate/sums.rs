//! Sums of replies in the order of the clients, and the layer reports of a round.

use std::borrow::Cow;
use std::ops::Range;

use fedspd_manifold::average::{StiefelSum, proj_avg, rl_avg};
use fedspd_manifold::{Error as GeometryError, Matrix, Real, SpectralFunction, SpectralMap, Stiefel};
use fedspd_nn::{ParamSet, Space};
use fedspd_run::LayerReport;

use super::{Aggregated, Fault};
use crate::{Error, Message, ParameterScopes};

/// One running sum for each shared parameter, in `f64`.
pub(super) struct Sums {
    parameters: Vec<ParameterSum>,
}

/// The sum of one shared parameter.
pub(super) struct ParameterSum {
    pub(super) name: String,
    /// Its range among the values of all parameters.
    pub(super) place: Range<usize>,
    pub(super) sum: Sum,
}

pub(super) enum Sum {
    Euclidean(PlainSum),
    Stiefel(Layer),
    Spd(SpdSum),
}

/// The log-Euclidean mean of SPD matrices, `exp(sum w_i log X_i)` (Arsigny et al. 2007). Like
/// ProjAvg and RLAvg it needs only a sum. Unlike the plain mean it does not swell determinants.
pub(super) struct SpdSum {
    map: SpectralMap<f64>,
    logarithms: PlainSum,
    /// The only reply so far: the mean of one matrix is that matrix, bit for bit.
    lone: Option<Vec<f64>>,
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
    pub(super) fn new(scopes: &ParameterScopes) -> Result<Self, Error> {
        let sum = |parameter: &fedspd_nn::Parameter| {
            let sum = match parameter.space() {
                Space::Euclidean => Sum::Euclidean(PlainSum::new(parameter.size())),
                Space::Stiefel { p, k } => Sum::Stiefel(Layer::new(p, k).map_err(fedspd_nn::Error::from)?),
                Space::Spd { n } => Sum::Spd(SpdSum::new(n).map_err(fedspd_nn::Error::from)?),
            };
            Ok(ParameterSum { name: parameter.name.clone(), place: parameter.range(), sum })
        };
        let parameters = scopes.parameters().map(sum).collect::<Result<_, Error>>()?;
        Ok(Self { parameters })
    }

    /// Checks that the parameters of a reply are finite, and that matrices are on their manifold up
    /// to rounding.
    pub(super) fn check<T: Real>(&mut self, reply: &Message) -> Result<(), Fault> {
        let limit = if T::MANTISSA_BITS > 32 { 1e-8 } else { 1e-4 };
        for sum in &mut self.parameters {
            let parameter = || sum.name.clone();
            let Some(numbers) = reply.get(&sum.name) else {
                return Err(Fault::MissingPart { part: parameter() });
            };
            if let Some(value) = numbers.not_finite() {
                return Err(Fault::NotFinite { parameter: parameter(), value });
            }
            let values = numbers.widened();
            match &mut sum.sum {
                Sum::Euclidean(_) => {}
                Sum::Stiefel(layer) => {
                    let distance = layer.distance(&values);
                    if !(distance <= limit) {
                        return Err(Fault::OffManifold { parameter: parameter(), distance, limit });
                    }
                }
                Sum::Spd(sum) => sum.check(&values).map_err(|source| {
                    let fault = source.to_string();
                    Fault::NotSpd { parameter: parameter(), fault }
                })?,
            }
        }
        Ok(())
    }

    pub(super) fn add<T: Real>(
        &mut self,
        weight: f64,
        previous: &ParamSet<T>,
        reply: &Message,
    ) -> Result<(), Error> {
        for parameter in &mut self.parameters {
            let values = values(&parameter.name, reply);
            let fault = |source| Error::Average { parameter: parameter.name.clone(), source };
            match &mut parameter.sum {
                Sum::Euclidean(sum) => sum.add(weight, &values),
                Sum::Stiefel(layer) => {
                    layer.add(weight, &previous.values()[parameter.place.clone()], &values).map_err(fault)?;
                }
                Sum::Spd(sum) => sum.add(weight, &values).map_err(fault)?,
            }
        }
        Ok(())
    }

    pub(super) fn parameters(&self) -> &[ParameterSum] {
        &self.parameters
    }

    /// Writes the average that `rule` returns for each sum, collects the layer reports and clears
    /// the sums. `rule` also returns whether it fell back to `rl-avg`.
    pub(super) fn finish<T: Real>(
        &mut self,
        parameters: &mut ParamSet<T>,
        mut rule: impl FnMut(usize, &mut Sum, &[f64]) -> Result<(Vec<f64>, bool), GeometryError>,
    ) -> Result<Aggregated, Error> {
        let mut aggregated = Aggregated::default();
        for (index, parameter) in self.parameters.iter_mut().enumerate() {
            let fault = |source| Error::Average { parameter: parameter.name.clone(), source };
            let values = &mut parameters.values_mut()[parameter.place.clone()];
            let previous = T::widen(values).into_owned();
            let (next, fallback) = rule(index, &mut parameter.sum, &previous).map_err(fault)?;
            aggregated.fallback |= fallback;
            match &mut parameter.sum {
                Sum::Stiefel(layer) => {
                    aggregated.layers.push(layer.report(&parameter.name, &previous).map_err(fault)?);
                }
                Sum::Euclidean(_) | Sum::Spd(_) => {}
            }
            for (value, next) in values.iter_mut().zip(next) {
                *value = T::from_f64(next);
            }
            parameter.sum.clear().map_err(fault)?;
        }
        Ok(aggregated)
    }
}

impl ParameterSum {
    /// The values of the parameter in a checked reply.
    pub(super) fn values<'a>(&self, reply: &'a Message) -> Cow<'a, [f64]> {
        values(&self.name, reply)
    }
}

fn values<'a>(name: &str, reply: &'a Message) -> Cow<'a, [f64]> {
    reply.real(name).unwrap_or_default()
}

impl Sum {
    fn clear(&mut self) -> Result<(), GeometryError> {
        match self {
            Self::Euclidean(sum) => *sum = PlainSum::new(sum.sum.len()),
            Self::Stiefel(layer) => *layer = Layer::new(layer.sum.shape().0, layer.sum.shape().1)?,
            Self::Spd(sum) => sum.clear(),
        }
        Ok(())
    }
}

impl PlainSum {
    fn new(size: usize) -> Self {
        Self { sum: vec![0.0; size], weight: 0.0, count: 0 }
    }

    fn add(&mut self, weight: f64, values: &[f64]) {
        // A single term has no factor, so that the mean of one reply is that reply, bit for bit.
        for (sum, &value) in self.sum.iter_mut().zip(values) {
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

impl SpdSum {
    fn new(n: usize) -> Result<Self, GeometryError> {
        Ok(Self { map: SpectralMap::new(n)?, logarithms: PlainSum::new(n * n), lone: None })
    }

    /// Checks that a matrix is symmetric and positive definite.
    fn check(&mut self, values: &[f64]) -> Result<(), GeometryError> {
        self.logarithm(values).map(drop)
    }

    fn add(&mut self, weight: f64, values: &[f64]) -> Result<(), GeometryError> {
        let logarithm = self.logarithm(values)?;
        self.lone = (self.logarithms.count == 0).then(|| values.to_vec());
        self.logarithms.add(weight, &logarithm);
        Ok(())
    }

    /// The logarithm of a matrix.
    pub(super) fn logarithm(&mut self, matrix: &[f64]) -> Result<Vec<f64>, GeometryError> {
        let mut logarithm = vec![0.0; matrix.len()];
        self.map.apply(SpectralFunction::Log, matrix, &mut logarithm)?;
        Ok(logarithm)
    }

    /// The mean of the logarithms.
    pub(super) fn mean_logarithm(&self) -> Vec<f64> {
        self.logarithms.mean()
    }

    /// The matrix with the given logarithm.
    pub(super) fn exponential(&mut self, logarithm: &[f64]) -> Result<Vec<f64>, GeometryError> {
        let mut matrix = vec![0.0; logarithm.len()];
        self.map.apply(SpectralFunction::Exp, logarithm, &mut matrix)?;
        Ok(matrix)
    }

    pub(super) fn mean(&mut self) -> Result<Vec<f64>, GeometryError> {
        match self.lone.take() {
            Some(lone) => Ok(lone),
            None => self.exponential(&self.mean_logarithm()),
        }
    }

    fn clear(&mut self) {
        (self.logarithms, self.lone) = (PlainSum::new(self.logarithms.sum.len()), None);
    }
}

impl Layer {
    fn new(p: usize, k: usize) -> Result<Self, GeometryError> {
        Ok(Self { stiefel: Stiefel::new(p, k)?, sum: StiefelSum::new(p, k)?, drift_sum: 0.0, drift_max: 0.0 })
    }

    fn add<T: Real>(&mut self, weight: f64, previous: &[T], values: &[f64]) -> Result<(), GeometryError> {
        self.sum.add(weight, values)?;
        let squares = previous.iter().zip(values).map(|(w, x)| (x - w.to_f64()).powi(2));
        let drift = squares.sum::<f64>().sqrt();
        self.drift_sum += drift;
        self.drift_max = self.drift_max.max(drift);
        Ok(())
    }

    /// `|W^T W - I|`; infinite if the squares of finite numbers overflow.
    fn distance(&mut self, w: &[f64]) -> f64 {
        self.stiefel.feasibility_error(w).unwrap_or(f64::INFINITY)
    }

    /// A point as a matrix.
    pub(super) fn matrix(&self, previous: &[f64]) -> Result<Matrix<f64>, GeometryError> {
        let (p, k) = self.sum.shape();
        Matrix::from_rows(p, k, previous.to_vec())
    }

    fn report(&mut self, name: &str, previous: &[f64]) -> Result<LayerReport, GeometryError> {
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
            proj_rl_distance: proj.map_or(f64::NAN, |proj| proj.zip(&rl.point, |a, b| a - b).norm()),
        })
    }
}
