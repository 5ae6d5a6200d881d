//! Estimators of the covariance of a trial.

use fedspd_manifold::simd::Simd;
use fedspd_manifold::{Left, Triangle, multiply_symmetric};
use serde::{Deserialize, Serialize};

use super::mirror;
use crate::Error;

/// The covariance estimator of a trial. Channels are centred over the trial.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// `C = sum_t x_t x_t^T / (T - 1)`, as in the paper.
    #[default]
    Sample,
    /// Oracle-approximating shrinkage (Chen, Wiesel, Eldar and Hero 2010) of
    /// `S = sum_t x_t x_t^T / T`, as in scikit-learn and pyRiemann.
    Oas,
    /// The shrinkage of Ledoit and Wolf (2004) of the same `S`, as in scikit-learn and pyRiemann.
    LedoitWolf,
    /// `(1 - s) C + s tr(C)/n I` with a fixed coefficient `s`, where `C` is the sample covariance.
    Shrinkage(f64),
}

impl Estimator {
    /// Checks the coefficient of a fixed shrinkage.
    ///
    /// # Errors
    /// [`Error::Setting`] unless it is between 0 and 1.
    pub fn check(self) -> Result<(), Error> {
        match self {
            Self::Shrinkage(share) if !(0.0..=1.0).contains(&share) => Err(Error::Setting {
                name: "the shrinkage coefficient",
                value: share.to_string(),
                expected: "between 0 and 1",
            }),
            _ => Ok(()),
        }
    }
}

impl std::str::FromStr for Estimator {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let fault = || Error::Setting {
            name: "the estimator",
            value: text.to_owned(),
            expected: "sample, oas, ledoit-wolf, or shrinkage:S with S between 0 and 1",
        };
        let estimator = match text {
            "sample" => Self::Sample,
            "oas" => Self::Oas,
            "ledoit-wolf" => Self::LedoitWolf,
            _ => {
                let share = text.strip_prefix("shrinkage:").and_then(|share| share.parse().ok());
                Self::Shrinkage(share.ok_or_else(fault)?)
            }
        };
        estimator.check().map_err(|_| fault())?;
        Ok(estimator)
    }
}

impl std::fmt::Display for Estimator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sample => f.write_str("sample"),
            Self::Oas => f.write_str("oas"),
            Self::LedoitWolf => f.write_str("ledoit-wolf"),
            Self::Shrinkage(share) => write!(f, "shrinkage:{share}"),
        }
    }
}

/// Working memory for covariances.
pub struct CovarianceWorkspace {
    simd: Simd,
    channels: usize,
    means: Vec<f64>,
    centred: Vec<f64>,
}

impl CovarianceWorkspace {
    /// Allocates memory for trials with this number of channels.
    ///
    /// # Errors
    /// [`Error::Geometry`] if an unavailable instruction set is requested.
    pub fn new(channels: usize) -> Result<Self, Error> {
        let simd = Simd::detect()?;
        Ok(Self { simd, channels, means: vec![0.0; channels], centred: Vec::new() })
    }

    /// Estimates the covariance of samples, stored sample by sample with all channels side by side.
    /// The result is exactly symmetric.
    ///
    /// # Errors
    /// [`Error::Setting`] for a coefficient out of range, [`Error::TooFewSamples`] for fewer than
    /// two samples.
    ///
    /// # Panics
    /// If the samples are not a multiple of the channels, or `out` is not `channels x channels`.
    pub fn estimate(&mut self, estimator: Estimator, samples: &[f64], out: &mut [f64]) -> Result<(), Error> {
        estimator.check()?;
        let n = self.channels;
        let length = samples.len() / n;
        assert!(samples.len() == n * length && out.len() == n * n, "{n} channels");
        if length < 2 {
            return Err(Error::TooFewSamples { found: length });
        }
        self.centre(samples, length);
        multiply_symmetric(
            self.simd,
            Left::Transposed,
            Triangle::Lower,
            (n, length),
            &self.centred,
            &self.centred,
            out,
        );
        mirror(n, out);
        let divisor = match estimator {
            Estimator::Sample | Estimator::Shrinkage(_) => length - 1,
            Estimator::Oas | Estimator::LedoitWolf => length,
        };
        for entry in &mut *out {
            *entry /= divisor as f64;
        }
        let share = match estimator {
            Estimator::Sample => return Ok(()),
            Estimator::Shrinkage(share) => share,
            Estimator::Oas => oas(n, length, out),
            Estimator::LedoitWolf => self.ledoit_wolf(length, out),
        };
        let target = share * trace(n, out) / n as f64;
        for (place, entry) in out.iter_mut().enumerate() {
            *entry = (1.0 - share) * *entry + if place % (n + 1) == 0 { target } else { 0.0 };
        }
        Ok(())
    }

    fn centre(&mut self, samples: &[f64], length: usize) {
        self.means.fill(0.0);
        for sample in samples.chunks_exact(self.channels) {
            for (mean, x) in self.means.iter_mut().zip(sample) {
                *mean += x;
            }
        }
        for mean in &mut self.means {
            *mean /= length as f64;
        }
        self.centred.clear();
        for sample in samples.chunks_exact(self.channels) {
            self.centred.extend(sample.iter().zip(&self.means).map(|(x, mean)| x - mean));
        }
    }

    /// The coefficient `min(1, b^2 / d^2)`, where `d^2 = |S - m I|^2 / n`, `m = tr(S)/n`, and `b^2`
    /// is the mean over samples of `|x x^T - S|^2 / n` divided by `T`.
    fn ledoit_wolf(&self, length: usize, s: &[f64]) -> f64 {
        let (n, t) = (self.channels as f64, length as f64);
        let rows = self.centred.chunks_exact(self.channels);
        let fourth: f64 = rows.map(|x| x.iter().map(|x| x * x).sum::<f64>().powi(2)).sum();
        let (square, mean) = (square_norm(s), trace(self.channels, s) / n);
        let spread = (fourth / t - square) / (n * t);
        let distance = (square - n * mean * mean) / n;
        let spread = spread.min(distance);
        if spread == 0.0 { 0.0 } else { spread / distance }
    }
}

/// The coefficient `min(1, (tr(S^2)/n^2 + m^2) / ((T + 1) (tr(S^2)/n^2 - m^2/n)))` with
/// `m = tr(S)/n`: the closed form of scikit-learn.
fn oas(n: usize, length: usize, s: &[f64]) -> f64 {
    let (alpha, mean) = (square_norm(s) / (n * n) as f64, trace(n, s) / n as f64);
    let denominator = (length + 1) as f64 * (alpha - mean * mean / n as f64);
    if denominator == 0.0 { 1.0 } else { ((alpha + mean * mean) / denominator).min(1.0) }
}

fn square_norm(matrix: &[f64]) -> f64 {
    matrix.iter().map(|entry| entry * entry).sum()
}

fn trace(n: usize, matrix: &[f64]) -> f64 {
    matrix.iter().step_by(n + 1).sum()
}
