//! Trials: labelled epochs of equal length.

use fedspd_manifold::simd::Simd;
use fedspd_manifold::{Left, SpectralFunction, SpectralMap, Triangle, multiply, multiply_symmetric};

use crate::about::NO_UNIT;
use crate::covariance::{is_flat, mirror};
use crate::{About, Alignment, AlignmentFit, Cause, Error, Extent, Quality};

/// Trials with all their samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Trials {
    /// Classes, channels and origins.
    pub about: About,
    /// Samples per trial.
    length: usize,
    /// Trial by trial, sample by sample, with all channels side by side.
    samples: Vec<f64>,
}

impl Trials {
    /// Creates trials of `length` samples each.
    ///
    /// # Errors
    /// [`Error::Length`] if the number of samples does not match the origins, [`Error::Label`] for
    /// a label beyond the classes, [`Error::NotFinite`].
    pub fn new(about: About, length: usize, samples: Vec<f64>) -> Result<Self, Error> {
        let size = length * about.channels.len();
        let trials = samples.len().checked_div(size).unwrap_or(0);
        if trials * size != samples.len() {
            let expected = about.origins.len() * size;
            return Err(Error::Length { what: "samples of all trials", expected, found: samples.len() });
        }
        about.check(trials)?;
        if let Some(place) = samples.iter().position(|sample| !sample.is_finite()) {
            let channel = about.channels[place % about.channels.len()].clone();
            return Err(Error::NotFinite { place: about.name(place / size), channel, value: samples[place] });
        }
        Ok(Self { about, length, samples })
    }

    /// The number of trials.
    pub fn len(&self) -> usize {
        self.about.origins.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of samples of each trial.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The samples of a trial, sample by sample with all channels side by side.
    pub fn trial(&self, trial: usize) -> &[f64] {
        &self.samples[trial * self.size()..(trial + 1) * self.size()]
    }

    fn size(&self) -> usize {
        self.length * self.about.channels.len()
    }

    /// Scales every channel of every trial to mean 0 and standard deviation 1 (divisor: number of
    /// samples), as is usual for `EEGNet`.
    ///
    /// # Errors
    /// [`Error::Flat`] for a channel whose variance is zero or, beside the other channels, within
    /// rounding.
    pub fn z_score(&mut self) -> Result<(), Error> {
        let size = self.size();
        for (trial, samples) in self.samples.chunks_exact_mut(size).enumerate() {
            z_score(&self.about, trial, samples)?;
        }
        self.about.unit = NO_UNIT.into();
        self.about.making.scale();
        Ok(())
    }
}

/// Transposes each trial from channels x samples to samples x channels, and converts its numbers.
pub fn sample_by_sample<T>(channels: usize, samples: usize, x: &[T], number: fn(&T) -> f64) -> Vec<f64> {
    let mut out = Vec::with_capacity(x.len());
    for trial in x.chunks_exact((channels * samples).max(1)) {
        for sample in 0..samples {
            out.extend(trial[sample..].iter().step_by(samples).map(number));
        }
    }
    out
}

/// Scales every channel of one trial to mean 0 and standard deviation 1. Samples are stored sample
/// by sample with all channels side by side.
///
/// # Errors
/// [`Error::Flat`] for a channel that does not vary, with the name of the trial.
pub fn z_score(about: &About, trial: usize, samples: &mut [f64]) -> Result<(), Error> {
    let n = about.channels.len();
    let length = (samples.len() / n) as f64;
    let moments: Vec<[f64; 2]> = (0..n)
        .map(|channel| {
            let column = samples[channel..].iter().step_by(n);
            let mean = column.clone().sum::<f64>() / length;
            [mean, column.map(|x| (x - mean).powi(2)).sum::<f64>() / length]
        })
        .collect();
    let largest = moments.iter().fold(0.0_f64, |largest, [_, variance]| largest.max(*variance));
    if let Some(flat) = moments.iter().position(|[_, variance]| is_flat(n, *variance, largest)) {
        let channel = about.channels[flat].clone();
        return Err(Error::Flat { place: about.name(trial), channel });
    }
    for (channel, [mean, variance]) in moments.into_iter().enumerate() {
        let scale = 1.0 / variance.sqrt();
        for x in samples[channel..].iter_mut().step_by(n) {
            *x = (*x - mean) * scale;
        }
    }
    Ok(())
}

/// Euclidean alignment (He and Wu 2020): multiplies a subject's trials by `R^-1/2`, where `R` is
/// the mean of their `X X^T / T`.
///
/// Uses no labels. Fit and apply are separate, because an experiment aligns after the split.
#[derive(Clone, Debug, PartialEq)]
pub struct EuclideanAlignment {
    /// `R`.
    reference: Vec<f64>,
    /// `R^-1/2`, symmetric.
    inverse_root: Vec<f64>,
}

impl EuclideanAlignment {
    /// Fits the reference on some trials.
    ///
    /// # Errors
    /// [`Error::NoTrials`]; [`Error::Reference`] if the mean is not positive definite, with the
    /// subject of the first trial, the rank and the likely cause; [`Error::Trial`] if it is not
    /// finite.
    pub fn fit(trials: &Trials, chosen: &[usize]) -> Result<Self, Error> {
        let Some(&first) = chosen.first().filter(|_| trials.length > 0) else {
            return Err(Error::NoTrials { what: "Euclidean alignment" });
        };
        let (n, simd) = (trials.about.channels.len(), Simd::detect()?);
        let (mut mean, mut product) = (vec![0.0; n * n], vec![0.0; n * n]);
        for &trial in chosen {
            let samples = trials.trial(trial);
            multiply_symmetric(
                simd,
                Left::Transposed,
                Triangle::Lower,
                (n, trials.length),
                samples,
                samples,
                &mut product,
            );
            for (sum, x) in mean.iter_mut().zip(&product) {
                *sum += x / (trials.length * chosen.len()) as f64;
            }
        }
        mirror(n, &mut mean);
        Self::at(mean, &trials.about, &trials.about.origins[first].subject, (chosen.len(), trials.length))
    }

    /// Aligns with a reference, which is the mean of `X X^T` of some trials of some samples.
    pub(crate) fn at(
        reference: Vec<f64>,
        about: &About,
        subject: &str,
        (trials, length): (usize, usize),
    ) -> Result<Self, Error> {
        let n = about.channels.len();
        let named = |source| Error::Trial { place: format!("subject {subject}, mean of X X^T"), source };
        let quality = Quality::of(n, &reference)?;
        let deficient = |quality: &&Quality| quality.is_finite() && !quality.is_fit(n);
        if let Some(&Quality { rank, smallest, .. }) = quality.first().filter(deficient) {
            let extent = Extent { samples: trials * length, freedom: f64::INFINITY };
            let cause = Box::new(Cause::find(&about.channels, &reference, Some(extent)));
            let subject = subject.to_owned();
            return Err(Error::Reference { subject, trials, rank, channels: n, smallest, cause });
        }
        let mut inverse_root = vec![0.0; n * n];
        let mut map = SpectralMap::new(n)?;
        map.apply(SpectralFunction::InverseSqrt, &reference, &mut inverse_root).map_err(named)?;
        Ok(Self { reference, inverse_root })
    }

    /// The mean of `X X^T / T`.
    pub fn reference(&self) -> &[f64] {
        &self.reference
    }

    /// Returns the mean of `X X^T / T`.
    pub(crate) fn into_reference(self) -> Vec<f64> {
        self.reference
    }

    /// Aligns some trials in place. The whole set becomes dimensionless, so the trials of every
    /// subject must be aligned.
    ///
    /// # Errors
    /// [`Error::Geometry`] if an unavailable instruction set is requested.
    pub fn apply(&self, trials: &mut Trials, chosen: &[usize]) -> Result<(), Error> {
        let size = trials.size();
        let mut aligned = vec![0.0; size];
        for &trial in chosen {
            self.align(trials.trial(trial), &mut aligned)?;
            trials.samples[trial * size..(trial + 1) * size].copy_from_slice(&aligned);
        }
        trials.about.unit = NO_UNIT.into();
        trials.about.making.align(Alignment::Euclidean);
        Ok(())
    }

    /// Writes the aligned samples of one trial to `aligned`.
    ///
    /// # Errors
    /// [`Error::Geometry`] if an unavailable instruction set is requested.
    pub fn align(&self, samples: &[f64], aligned: &mut [f64]) -> Result<(), Error> {
        let n = self.inverse_root.len().isqrt();
        // Rows are samples: x^T -> x^T R^-1/2. This is the same, because the root is symmetric.
        let shape = (samples.len() / n, n, n);
        multiply(Simd::detect()?, Left::Plain, shape, samples, &self.inverse_root, aligned);
        Ok(())
    }
}

/// Computes `X X^T / T` of a trial.
pub(crate) fn second_moment(n: usize, samples: &[f64]) -> Result<Vec<f64>, Error> {
    let (length, mut moment) = (samples.len() / n, vec![0.0; n * n]);
    let shape = (n, length);
    multiply_symmetric(
        Simd::detect()?,
        Left::Transposed,
        Triangle::Lower,
        shape,
        samples,
        samples,
        &mut moment,
    );
    for entry in &mut moment {
        *entry /= length as f64;
    }
    mirror(n, &mut moment);
    Ok(moment)
}

impl Trials {
    /// Aligns every subject separately, on all its trials (transductive: nothing is held out).
    ///
    /// # Errors
    /// As [`EuclideanAlignment::fit`] and [`EuclideanAlignment::apply`].
    pub fn align(&mut self) -> Result<(), Error> {
        let subjects: Vec<String> = self.about.subjects().into_iter().map(str::to_owned).collect();
        for subject in subjects {
            let trials = self.about.trials_of(&subject);
            EuclideanAlignment::fit(self, &trials)?.apply(self, &trials)?;
        }
        self.about.making.fitted_on(AlignmentFit::All);
        Ok(())
    }
}
