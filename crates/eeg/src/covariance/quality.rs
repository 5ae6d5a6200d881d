//! Quality of covariances, and likely causes of a deficient rank.

use fedspd_manifold::SymmetricEigen;
use fedspd_run::counted;

use crate::Error;

/// The quality of a covariance, by its eigenvalues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// The number of eigenvalues above `n * 2^-52` times the largest; 0 if an entry is not finite.
    pub rank: usize,
    /// The smallest eigenvalue; NaN if an entry is not finite.
    pub smallest: f64,
    /// The largest eigenvalue; NaN if an entry is not finite.
    pub largest: f64,
}

/// The amount of data behind a covariance, which limits its rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// The number of samples in its window.
    pub samples: usize,
    /// Twice the bandwidth in hertz times the window in seconds. A band-limited signal has about
    /// this many independent samples.
    pub freedom: f64,
}

/// The likely cause of a deficient rank.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// A trial of `samples` centred samples spans at most `samples - 1` dimensions.
    FewSamples {
        /// The number of samples in the trial.
        samples: usize,
    },
    /// A channel is flat.
    FlatChannel {
        /// Its name.
        channel: String,
    },
    /// Two channels are equal up to scale.
    Duplicate {
        /// Their names.
        channels: [String; 2],
    },
    /// The sum of all channels is zero.
    AverageReference,
    /// A narrow band over a short window has too few independent samples, however many samples
    /// there are.
    NarrowBand {
        /// The approximate number of independent samples.
        freedom: f64,
    },
    /// Channels are linearly dependent in another way.
    Dependent,
}

/// Two channels count as equal if their correlation is this close to 1 or -1.
const SAME: f64 = 1e-10;

impl Quality {
    /// Measures several `n x n` covariances.
    ///
    /// # Errors
    /// [`Error::Geometry`] if a covariance is not symmetric.
    pub fn of(n: usize, covariances: &[f64]) -> Result<Vec<Self>, Error> {
        if covariances.is_empty() {
            return Ok(Vec::new());
        }
        let mut eigen = SymmetricEigen::new(n)?;
        let mut values = vec![f64::NAN; covariances.len() / n];
        if finite(covariances) {
            eigen.eigenvalues(covariances, &mut values)?;
        } else {
            let each = covariances.chunks_exact(n * n).zip(values.chunks_exact_mut(n));
            for (covariance, values) in each.filter(|(covariance, _)| finite(covariance)) {
                eigen.eigenvalues(covariance, values)?;
            }
        }
        Ok(values.chunks_exact(n).map(Self::of_spectrum).collect())
    }

    fn of_spectrum(values: &[f64]) -> Self {
        let n = values.len();
        if values[0].is_nan() {
            return Self { rank: 0, smallest: f64::NAN, largest: f64::NAN };
        }
        let fold = |start: f64, better: fn(f64, f64) -> f64| values.iter().copied().fold(start, better);
        let (smallest, largest) = (fold(f64::INFINITY, f64::min), fold(f64::NEG_INFINITY, f64::max));
        let floor = floor(n, largest);
        let rank = values.iter().filter(|value| **value > floor && **value > 0.0).count();
        Self { rank, smallest, largest }
    }

    /// Whether all entries are finite.
    pub fn is_finite(&self) -> bool {
        !self.smallest.is_nan()
    }

    /// Whether the covariance of `channels` channels is positive definite.
    pub fn is_fit(&self, channels: usize) -> bool {
        self.rank == channels
    }

    /// The condition number: the largest eigenvalue divided by the smallest. It is infinite if the
    /// smallest is not positive, and NaN if an entry is not finite.
    pub fn condition(&self) -> f64 {
        if self.smallest <= 0.0 { f64::INFINITY } else { self.largest / self.smallest }
    }
}

impl Cause {
    /// Finds the likely cause of a deficient rank. `extent` is used if it is known.
    pub fn find(channels: &[String], covariance: &[f64], extent: Option<Extent>) -> Self {
        let n = channels.len();
        let at = |i: usize, j: usize| covariance[i * n + j];
        let largest = (0..n).map(|i| at(i, i)).fold(0.0, f64::max);
        if let Some(i) = (0..n).find(|&i| is_flat(n, at(i, i), largest)) {
            return Self::FlatChannel { channel: channels[i].clone() };
        }
        if let Some(Extent { samples, .. }) = extent.filter(|extent| extent.samples <= n) {
            return Self::FewSamples { samples };
        }
        // With fewer than two independent samples all channels look equal.
        if let Some(Extent { freedom, .. }) = extent.filter(|extent| extent.freedom < 2.0) {
            return Self::NarrowBand { freedom };
        }
        for i in 0..n {
            for j in 0..i {
                let correlation = at(i, j) / (at(i, i) * at(j, j)).sqrt();
                if correlation.abs() > 1.0 - SAME {
                    return Self::Duplicate { channels: [channels[j].clone(), channels[i].clone()] };
                }
            }
        }
        let total: f64 = covariance.iter().sum();
        if total.abs() <= SAME * (0..n).map(|i| at(i, i)).sum::<f64>() {
            return Self::AverageReference;
        }
        // Checked last: a filter leaks, so few degrees of freedom do not always reduce the rank.
        match extent.filter(|extent| extent.freedom < n as f64) {
            Some(Extent { freedom, .. }) => Self::NarrowBand { freedom },
            None => Self::Dependent,
        }
    }

    /// A hint for the user: the remedy, or shrinkage of the covariance.
    pub fn hint(&self) -> String {
        format!("{}, or use `--estimator oas`", self.remedy())
    }

    /// A remedy in the channels or the trials.
    pub fn remedy(&self) -> String {
        match self {
            Self::FewSamples { samples } => {
                format!(
                    "a trial of {} is too short for so many channels: take a longer interval or fewer channels",
                    counted(samples, "sample")
                )
            }
            Self::FlatChannel { channel } => format!("channel {channel} does not vary: leave it out"),
            Self::Duplicate { channels: [a, b] } => {
                format!("channels {a} and {b} are the same up to scale: leave one out")
            }
            Self::AverageReference => {
                "all channels add up to zero, as after an average reference: leave one channel out".into()
            }
            Self::NarrowBand { .. } => {
                "the band is too narrow and the window too short for so many channels: take a wider band, a longer window or fewer channels".into()
            }
            Self::Dependent => {
                "some channels are combinations of others, as after interpolation or ICA: leave them out".into()
            }
        }
    }
}

/// Whether the variance of one of `n` channels is so small, relative to the largest, that it alone
/// reduces the rank. A filtered constant leaves only rounding.
pub(crate) fn is_flat(n: usize, variance: f64, largest: f64) -> bool {
    variance <= floor(n, largest)
}

fn finite(entries: &[f64]) -> bool {
    entries.iter().all(|entry| entry.is_finite())
}

/// Values up to this bound count as zero relative to the largest.
fn floor(n: usize, largest: f64) -> f64 {
    n as f64 * f64::EPSILON * largest
}

impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::FewSamples { samples } => write!(f, "it was made from {}", counted(samples, "sample")),
            Self::FlatChannel { channel } => write!(f, "channel {channel} is flat"),
            Self::Duplicate { channels: [a, b] } => write!(f, "channels {a} and {b} are the same"),
            Self::AverageReference => f.write_str("the channels add up to zero"),
            Self::NarrowBand { freedom } => {
                write!(f, "its band and window leave about {freedom:.1} degrees of freedom")
            }
            Self::Dependent => f.write_str("channels are linearly dependent"),
        }
    }
}

/// The worst values over many covariances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QualitySummary {
    /// The lowest rank.
    pub rank: usize,
    /// The smallest of all eigenvalues.
    pub smallest: f64,
    /// The largest of all eigenvalues.
    pub largest: f64,
    /// The largest condition number.
    pub condition: f64,
}

impl QualitySummary {
    /// Summarises qualities; `None` if there are none.
    pub fn of(qualities: &[Quality]) -> Option<Self> {
        qualities
            .iter()
            .map(|quality| Self {
                rank: quality.rank,
                smallest: quality.smallest,
                largest: quality.largest,
                condition: quality.condition(),
            })
            .reduce(|a, b| Self {
                rank: a.rank.min(b.rank),
                smallest: a.smallest.min(b.smallest),
                largest: a.largest.max(b.largest),
                condition: a.condition.max(b.condition),
            })
    }
}
