//! Labelled raw trials and their precomputed statistics.

use std::sync::Arc;

use fedspd_manifold::Real;

use super::lags::Lags;
use crate::{Error, check};

/// Raw trials of equal length with their labels. All clients share one copy of the samples; a
/// client is a list of trials.
#[derive(Clone, Debug)]
pub struct RawTrials<T> {
    channels: usize,
    length: usize,
    classes: usize,
    samples: Arc<Vec<T>>,
    labels: Vec<usize>,
}

impl<T: Real> RawTrials<T> {
    /// Creates trials from contiguous samples: trial by trial, sample by sample, all channels of a
    /// sample together.
    ///
    /// # Errors
    /// [`Error::Config`] for an empty shape, [`Error::Length`] if the numbers of samples and labels
    /// do not match, [`Error::Label`], [`Error::Sample`] for a number that is not finite.
    pub fn new(
        channels: usize,
        length: usize,
        classes: usize,
        samples: impl Into<Arc<Vec<T>>>,
        labels: Vec<usize>,
    ) -> Result<Self, Error> {
        let samples = samples.into();
        check("channels", channels, channels > 0, || "at least 1".into())?;
        check("samples", length, length > 0, || "at least 1".into())?;
        let expected = channels.saturating_mul(length).saturating_mul(labels.len());
        if samples.len() != expected {
            return Err(Error::Length { what: "the samples", expected, found: samples.len() });
        }
        if let Some(trial) = labels.iter().position(|&label| label >= classes) {
            return Err(Error::Label { trial, label: labels[trial], classes });
        }
        if let Some(place) = samples.iter().position(|sample| !sample.is_finite()) {
            let (trial, value) = (place / (channels * length), samples[place].to_f64());
            return Err(Error::Sample { trial, channel: place % channels, value });
        }
        Ok(Self { channels, length, classes, samples, labels })
    }

    /// Returns the number of trials.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Returns whether there are no trials.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Returns the channels of a trial.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Returns the samples of a trial.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Returns the class of each trial.
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// Returns the samples of one trial.
    pub fn trial(&self, trial: usize) -> &[T] {
        let size = self.channels * self.length;
        &self.samples[trial * size..(trial + 1) * size]
    }
}

/// Raw trials as input of the network, with lag statistics if they are for training.
#[derive(Clone, Debug)]
pub struct EegExamples<T> {
    pub(super) trials: RawTrials<T>,
    pub(super) lags: Option<Lags>,
}

impl<T: Real> EegExamples<T> {
    /// Returns the class of each trial.
    pub fn labels(&self) -> &[usize] {
        self.trials.labels()
    }

    /// Returns the trials.
    pub fn trials(&self) -> &RawTrials<T> {
        &self.trials
    }

    /// Returns the size of the lag statistics in bytes: `4 Kt (Kt + 3)` per trial, or 0 without
    /// them.
    pub fn cached_bytes(&self) -> usize {
        self.lags.as_ref().map_or(0, Lags::bytes)
    }
}
