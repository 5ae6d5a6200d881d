//! What a trained model says about trials, one by one: no trial has a say in what is said about another.

use std::ops::Range;
use std::path::Path;

use fedspd_eeg::{About, Making, NO_UNIT, Origin, Quality, z_score};
use fedspd_nn::file::{Manifest, Network, decode};
use fedspd_nn::{EegNet, Model, ParamSet, RawTrials, SpdNet, SpdTrials};

use crate::Error;
use crate::experiment::Z_SCORE;
use crate::spectra::refuse;

/// Trials that are handled at once, so that memory does not grow with their number.
const BATCH: usize = 64;

/// A trained model, in double precision whatever its file has.
pub struct Predictor {
    manifest: Manifest,
    parameters: ParamSet<f64>,
}

impl Predictor {
    /// The model that the bytes of a model file are. The name is for messages.
    ///
    /// # Errors
    /// Those of [`fedspd_nn::file::decode`].
    pub fn new(name: &Path, bytes: &[u8]) -> Result<Self, Error> {
        let (manifest, parameters) = decode(name, bytes)?;
        Ok(Self { manifest, parameters })
    }

    /// What the file says about its model.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The parameters.
    pub fn parameters(&self) -> &ParamSet<f64> {
        &self.parameters
    }

    /// The probabilities of the classes for each of so many trials, row by row. `read` gives the numbers of some of them, a few at a time: SPDnet takes the matrices
    /// of a trial one after the other, EEGNet its samples with all channels each.
    ///
    /// # Errors
    /// [`Error::Network`] for numbers that are not those of so many trials or not what the network reads; [`Error::NotCovariance`] as in training; [`Error::Data`]
    /// for a channel that has no scale.
    pub fn probabilities(
        &self,
        trials: usize,
        read: impl Fn(Range<usize>) -> Vec<f64>,
    ) -> Result<Vec<f64>, Error> {
        match &self.manifest.network {
            Network::SpdNet(config) => {
                let net = SpdNet::<f64>::new(config.clone())?;
                let (n, inputs) = (config.dimensions[0], config.inputs);
                by_batches(&net, &self.parameters, trials, |batch| {
                    let (first, labels) = (batch.start, vec![0; batch.len()]);
                    let trials = SpdTrials::new(n, inputs, config.classes, read(batch), labels)
                        .map_err(|fault| counted_from(first, fault))?;
                    let trial = |place: usize| format!("trial {}", first + place / inputs);
                    refuse("the array", n, &Quality::of(n, trials.matrices())?, trial)?;
                    Ok(trials)
                })
            }
            Network::EegNet(config) => {
                let net = EegNet::<f64>::new(config.clone())?;
                let (channels, samples) = (config.channels, config.samples);
                let scaled = self.manifest.treatment.iter().any(|name| name == Z_SCORE);
                by_batches(&net, &self.parameters, trials, |batch| {
                    let (first, labels, mut numbers) = (batch.start, vec![0; batch.len()], read(batch));
                    if scaled {
                        let about = self.about();
                        for (trial, numbers) in numbers.chunks_exact_mut(channels * samples).enumerate() {
                            z_score(&about, 0, numbers).map_err(|fault| match fault {
                                fedspd_eeg::Error::Flat { channel, .. } => fedspd_eeg::Error::Flat {
                                    place: format!("trial {}", first + trial),
                                    channel,
                                },
                                other => other,
                            })?;
                        }
                    }
                    RawTrials::new(channels, samples, config.classes, numbers, labels)
                        .map_err(|fault| counted_from(first, fault))
                })
            }
            _ => Err(Error::Unsuitable { data: "the array".into(), kind: "trials", model: "this network" }),
        }
    }

    /// What is known about a trial of nobody in particular.
    fn about(&self) -> About {
        let origin = Origin { label: 0, subject: "?".into(), session: "?".into(), run: "?".into() };
        About {
            classes: self.manifest.classes.clone(),
            channels: self.manifest.channels.clone(),
            sfreq: 1.0,
            unit: NO_UNIT.into(),
            making: Making::default(),
            origins: vec![origin],
        }
    }
}

/// A fault of a trial of a batch, with its place among all.
fn counted_from(first: usize, mut fault: fedspd_nn::Error) -> Error {
    use fedspd_nn::Error::{Sample, Trial};
    if let Trial { trial, .. } | Sample { trial, .. } = &mut fault {
        *trial += first;
    }
    fault.into()
}

/// The probabilities of all trials, a few at a time.
fn by_batches<M: Model<f64>>(
    net: &M,
    parameters: &ParamSet<f64>,
    trials: usize,
    read: impl Fn(Range<usize>) -> Result<M::Trials, Error>,
) -> Result<Vec<f64>, Error> {
    let mut workspace = net.workspace(1)?;
    let mut all = vec![0.0; trials * net.classes()];
    for (number, probabilities) in all.chunks_mut(BATCH * net.classes()).enumerate() {
        let (first, count) = (number * BATCH, probabilities.len() / net.classes());
        let examples = net.prepare(read(first..first + count)?)?;
        let batch: Vec<usize> = (0..count).collect();
        net.probabilities(parameters, &examples, &batch, &mut workspace, probabilities)?;
    }
    Ok(all)
}
