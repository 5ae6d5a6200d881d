//! Predictions of a trained model on arrays that are already prepared. No prediction depends on
//! another trial.

use std::ops::Range;

use fedspd_eeg::{About, Making, NO_UNIT, Origin, Quality, z_score};
use fedspd_manifold::Real;
use fedspd_nn::{Architecture, Input, InputShape};

use super::predictor::Predictor;
use crate::Error;
use crate::data::refuse;
use crate::train::{Visitor, with_saved_network};

/// Trials per batch, so that memory does not grow with the number of trials.
const BATCH: usize = 64;

impl Predictor {
    /// Computes the probabilities of the classes for each trial, row by row. `read` gives the
    /// numbers of some trials, a few at a time: the matrices of a trial, or its samples with all
    /// channels each.
    ///
    /// # Errors
    /// [`Error::Network`] for numbers that the network cannot read; [`Error::NotCovariance`] as in
    /// training; [`Error::Data`] for a channel without scale.
    pub fn probabilities(
        &self,
        trials: usize,
        read: impl Fn(Range<usize>) -> Vec<f64>,
    ) -> Result<Vec<f64>, Error> {
        let work = Probabilities { predictor: self, trials, read };
        with_saved_network(&self.manifest().network, self.precision(), work)
    }

    /// Returns the shape of the trials that the network reads.
    fn shape(&self) -> InputShape {
        let (shape, classes) = (self.manifest().network.trial_shape(), self.manifest().classes.len());
        let (channels, sfreq) = (self.manifest().channels.len(), 1.0);
        match (self.manifest().network.kind().reads(), &shape[..]) {
            (Input::Covariances, &[inputs, _, _]) => {
                InputShape { channels, inputs, samples: 0, sfreq, classes }
            }
            (Input::Covariances, _) => InputShape { channels, inputs: 1, samples: 0, sfreq, classes },
            (Input::Samples, _) => {
                let samples = shape.last().copied().unwrap_or(0);
                InputShape { channels, inputs: 1, samples, sfreq, classes }
            }
        }
    }

    /// Returns the metadata of a trial without a known origin.
    fn about(&self) -> About {
        let origin = Origin { label: 0, subject: "?".into(), session: "?".into(), run: "?".into() };
        About {
            classes: self.manifest().classes.clone(),
            channels: self.manifest().channels.clone(),
            sfreq: 1.0,
            unit: NO_UNIT.into(),
            making: Making::default(),
            origins: vec![origin],
        }
    }
}

/// Predicts all trials, a batch at a time.
struct Probabilities<'a, R> {
    predictor: &'a Predictor,
    trials: usize,
    read: R,
}

impl<R: Fn(Range<usize>) -> Vec<f64>> Probabilities<'_, R> {
    /// Returns the numbers of a batch as the network reads them.
    fn numbers(&self, shape: &InputShape, batch: Range<usize>) -> Result<Vec<f64>, Error> {
        let (first, mut numbers) = (batch.start, (self.read)(batch));
        if self.predictor.preparation().making.z_score() {
            let about = self.predictor.about();
            for (trial, numbers) in numbers.chunks_exact_mut(shape.channels * shape.samples).enumerate() {
                z_score(&about, 0, numbers).map_err(|fault| match fault {
                    fedspd_eeg::Error::Flat { channel, .. } => {
                        fedspd_eeg::Error::Flat { place: format!("trial {}", first + trial), channel }
                    }
                    other => other,
                })?;
            }
        }
        Ok(numbers)
    }
}

impl<R: Fn(Range<usize>) -> Vec<f64>> Visitor for Probabilities<'_, R> {
    type Output = Vec<f64>;

    fn visit<T: Real, N: Architecture<T>>(self, network: N) -> Result<Vec<f64>, Error> {
        let (shape, parameters) = (self.predictor.shape(), self.predictor.parameters().cast::<T>());
        let (mut workspace, classes) = (network.workspace(1)?, network.classes());
        let mut all = Vec::with_capacity(self.trials * classes);
        for first in (0..self.trials).step_by(BATCH) {
            let batch = first..self.trials.min(first + BATCH);
            let count = batch.len();
            let numbers = self.numbers(&shape, batch)?;
            let trials = N::trials(&shape, numbers.iter().map(|&x| T::from_f64(x)).collect(), vec![0; count])
                .map_err(|fault| counted_from(first, fault))?;
            if N::READS == Input::Covariances {
                let (n, inputs) = (shape.channels, shape.inputs);
                let trial = |place: usize| format!("trial {}", first + place / inputs);
                refuse("the array", n, &Quality::of(n, &numbers)?, trial)?;
            }
            let examples = network.prepare(trials)?;
            let (places, mut probabilities) =
                ((0..count).collect::<Vec<_>>(), vec![T::ZERO; count * classes]);
            network.probabilities(&parameters, &examples, &places, &mut workspace, &mut probabilities)?;
            all.extend(probabilities.iter().map(|value| value.to_f64()));
        }
        Ok(all)
    }
}

/// Changes the index of a trial in a fault from that in its batch to that among all trials.
fn counted_from(first: usize, mut fault: fedspd_nn::Error) -> Error {
    use fedspd_nn::Error::{Sample, Trial};
    if let Trial { trial, .. } | Sample { trial, .. } = &mut fault {
        *trial += first;
    }
    fault.into()
}
