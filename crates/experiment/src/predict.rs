//! What a trained model says about trials, one by one: no trial has a say in what is said about another.

use std::path::Path;

use fedspd_eeg::{About, Making, NO_UNIT, Origin, z_score};
use fedspd_nn::file::{Manifest, Network, decode};
use fedspd_nn::{EegNet, Model, ParamSet, RawTrials, SpdNet, SpdTrials};

use crate::Error;
use crate::experiment::Z_SCORE;

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

    /// The probabilities of the classes for each trial, row by row. SPDnet takes the matrices of a trial one after the other, EEGNet its samples with all channels each.
    ///
    /// # Errors
    /// [`Error::Network`] for numbers that are not a whole number of trials or not what the network reads; [`Error::Data`] for a channel that has no scale.
    pub fn probabilities(&self, numbers: &[f64]) -> Result<Vec<f64>, Error> {
        match &self.manifest.network {
            Network::SpdNet(config) => {
                let net = SpdNet::<f64>::new(config.clone())?;
                let (n, inputs) = (config.dimensions[0], config.inputs);
                by_batches(&net, &self.parameters, numbers, inputs * n * n, |numbers, labels| {
                    Ok(SpdTrials::new(n, inputs, config.classes, numbers, labels)?)
                })
            }
            Network::EegNet(config) => {
                let net = EegNet::<f64>::new(config.clone())?;
                let (channels, samples) = (config.channels, config.samples);
                let scaled = self.manifest.treatment.iter().any(|name| name == Z_SCORE);
                by_batches(&net, &self.parameters, numbers, channels * samples, |mut numbers, labels| {
                    if scaled {
                        let about = self.about(labels.len());
                        for (trial, numbers) in numbers.chunks_exact_mut(channels * samples).enumerate() {
                            z_score(&about, trial, numbers)?;
                        }
                    }
                    Ok(RawTrials::new(channels, samples, config.classes, numbers, labels)?)
                })
            }
            _ => Err(Error::Unsuitable { data: "the array".into(), kind: "trials", model: "this network" }),
        }
    }

    /// What a message says about trials of nobody in particular.
    fn about(&self, trials: usize) -> About {
        let origin = Origin { label: 0, subject: "?".into(), session: "?".into(), run: "?".into() };
        About {
            classes: self.manifest.classes.clone(),
            channels: self.manifest.channels.clone(),
            sfreq: 1.0,
            unit: NO_UNIT.into(),
            making: Making::default(),
            origins: vec![origin; trials],
        }
    }
}

/// The probabilities of all trials, a few at a time.
fn by_batches<M: Model<f64>>(
    net: &M,
    parameters: &ParamSet<f64>,
    numbers: &[f64],
    size: usize,
    trials: impl Fn(Vec<f64>, Vec<usize>) -> Result<M::Trials, Error>,
) -> Result<Vec<f64>, Error> {
    let mut workspace = net.workspace(1)?;
    let mut all = Vec::new();
    for numbers in numbers.chunks(BATCH * size) {
        let count = numbers.len().div_ceil(size);
        let examples = net.prepare(trials(numbers.to_vec(), vec![0; count])?)?;
        let batch: Vec<usize> = (0..count).collect();
        let mut probabilities = vec![0.0; count * net.classes()];
        net.probabilities(parameters, &examples, &batch, &mut workspace, &mut probabilities)?;
        all.extend(probabilities);
    }
    Ok(all)
}
