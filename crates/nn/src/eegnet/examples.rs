//! Labelled raw trials, and what the network computes of them once.

use std::sync::Arc;

use fedspd_manifold::Real;

use super::lags::Lags;
use crate::{Error, check};

/// Raw trials of equal length with their labels. The samples are held once, however many clients read them: a client is a list of trials.
#[derive(Clone, Debug)]
pub struct RawTrials<T> {
    channels: usize,
    length: usize,
    classes: usize,
    samples: Arc<Vec<T>>,
    labels: Vec<usize>,
}

impl<T: Real> RawTrials<T> {
    /// Trials one after the other, each sample after sample with all channels.
    ///
    /// # Errors
    /// [`Error::Config`] for an empty shape, [`Error::Length`] if the samples do not fit the labels, [`Error::Label`], [`Error::Sample`] for a number that
    /// is not finite.
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

    /// The number of trials.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Channels of a trial.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Samples of a trial.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The class of each trial.
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// The samples of a trial.
    pub fn trial(&self, trial: usize) -> &[T] {
        let size = self.channels * self.length;
        &self.samples[trial * size..(trial + 1) * size]
    }
}

/// Raw trials as the network reads them, with their lag statistics if they are for training.
#[derive(Clone, Debug)]
pub struct EegExamples<T> {
    pub(super) trials: RawTrials<T>,
    pub(super) lags: Option<Lags>,
}

impl<T: Real> EegExamples<T> {
    /// The class of each trial.
    pub fn labels(&self) -> &[usize] {
        self.trials.labels()
    }

    /// The trials.
    pub fn trials(&self) -> &RawTrials<T> {
        &self.trials
    }

    /// Bytes of the lag statistics: `4 Kt (Kt + 3)` for each trial, and none without.
    pub fn cached_bytes(&self) -> usize {
        self.lags.as_ref().map_or(0, Lags::bytes)
    }
}
