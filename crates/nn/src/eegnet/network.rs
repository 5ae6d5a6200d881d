//! The network: its parameters, their initial values and the preparation of trials.

use std::sync::Arc;

use fedspd_manifold::Real;
use fedspd_manifold::simd::Simd;
use rand::RngExt;

use super::lags::Lags;
use super::{EegExamples, EegNetConfig, EegNetWorkspace, RawTrials};
use crate::architecture::implement_architecture;
use crate::model::implement_model;
use crate::params::{Layout, ParamSet};
use crate::seed::{Purpose, Seed};
use crate::{Dropout, Error, InputShape, Model, ModelSettings};

/// The shape of an EEGNet. Callers pass parameters and memory to its methods.
#[derive(Clone, Debug)]
pub struct EegNet<T> {
    config: EegNetConfig,
    layout: Arc<Layout>,
    simd: Simd,
    scalar: std::marker::PhantomData<T>,
}

impl<T: Real> EegNet<T> {
    /// Creates a network of that shape, on the instruction set of [`Simd::detect`].
    ///
    /// # Errors
    /// [`Error::Config`] for an invalid shape; [`Error::Geometry`] if the requested instruction set
    /// is not available.
    pub fn new(config: EegNetConfig) -> Result<Self, Error> {
        Self::with_simd(config, Simd::detect()?)
    }

    /// Creates a network of that shape, on a given instruction set.
    ///
    /// # Errors
    /// [`Error::Config`] for an invalid shape.
    pub fn with_simd(config: EegNetConfig, simd: Simd) -> Result<Self, Error> {
        config.check()?;
        let layout = Arc::new(config.layout()?);
        Ok(Self { config, layout, simd, scalar: std::marker::PhantomData })
    }

    /// The shape for settings and data.
    fn configured(settings: &ModelSettings, shape: &InputShape) -> EegNetConfig {
        let InputShape { channels, samples, sfreq, classes, .. } = *shape;
        EegNetConfig {
            dropout: settings.resolved_dropout(),
            fedbn: settings.fedbn,
            ..EegNetConfig::new(channels, samples, sfreq, classes)
        }
    }

    fn labelled(shape: &InputShape, numbers: Vec<T>, labels: Vec<usize>) -> Result<RawTrials<T>, Error> {
        RawTrials::new(shape.channels, shape.samples, shape.classes, numbers, labels)
    }

    /// Its shape.
    pub fn config(&self) -> &EegNetConfig {
        &self.config
    }

    /// Prepares trials for training. Computes their lag statistics once, on the threads of the
    /// current rayon pool.
    fn examples(&self, trials: RawTrials<T>) -> Result<EegExamples<T>, Error> {
        let mut examples = self.prepare_for_use(trials)?;
        examples.lags = Some(Lags::new(self.simd, &examples.trials, self.config.temporal_taps));
        Ok(examples)
    }

    /// Prepares trials for evaluation only, without lag statistics and at no cost. Training on them
    /// fails with [`Error::Mismatch`].
    ///
    /// # Errors
    /// As [`Model::prepare`].
    pub fn prepare_for_use(&self, trials: RawTrials<T>) -> Result<EegExamples<T>, Error> {
        let EegNetConfig { channels, samples, classes, .. } = self.config;
        for (what, expected, found) in [
            ("channels", channels, trials.channels()),
            ("samples", samples, trials.length()),
            ("classes", classes, trials.classes()),
        ] {
            if expected != found {
                let (expected, found) = (expected.to_string(), found.to_string());
                return Err(Error::Mismatch { what, expected, found });
            }
        }
        Ok(EegExamples { trials, lags: None })
    }

    /// Warns about signals below the epsilon of batch normalisation, such as volts: they act like
    /// zero.
    fn check_units(
        &self,
        _: &ParamSet<T>,
        examples: &EegExamples<T>,
        trials: &[usize],
        _: &mut EegNetWorkspace<T>,
    ) -> Result<Option<String>, Error> {
        crate::model::check_batch(trials, examples.trials.len())?;
        let squares = |&trial: &usize| {
            let samples = examples.trials.trial(trial);
            samples.iter().map(|x| x.to_f64() * x.to_f64()).sum::<f64>() / samples.len() as f64
        };
        let mean = trials.iter().map(squares).sum::<f64>() / trials.len() as f64;
        let epsilon = self.config.batch_norm.epsilon;
        Ok((mean < epsilon).then(|| {
            format!(
                "the mean square of the samples, {mean:e}, is below the {epsilon:e} that batch normalisation adds to variances: is the unit right?"
            )
        }))
    }

    /// Draws initial values as torch does: uniform within `1/sqrt(fan-in)`. Normalisations start as
    /// the identity.
    fn first_values(&self, seed: Seed) -> Result<ParamSet<T>, Error> {
        let stream = seed.stream(Purpose::Initialisation);
        let mut values = Vec::with_capacity(self.layout.size());
        for (index, parameter) in self.layout.parameters().iter().enumerate() {
            let name = parameter.name.as_str();
            let fan_in = if name == "head.bias" {
                self.config.features()
            } else {
                parameter.shape.get(1).copied().unwrap_or(0)
            };
            if name.starts_with("norm") {
                let one = name.ends_with("scale") || name.ends_with("variance");
                values.extend(std::iter::repeat_n(if one { T::ONE } else { T::ZERO }, parameter.size()));
            } else {
                let bound = 1.0 / (fan_in as f64).sqrt();
                let mut rng = stream.item(index as u64);
                let draw = |_| T::from_f64((rng.random::<f64>() * 2.0 - 1.0) * bound);
                values.extend((0..parameter.size()).map(draw));
            }
        }
        ParamSet::new(Arc::clone(&self.layout), values)
    }
}

implement_architecture!(EegNet, EegNet, Samples, RawTrials: f32, f64);

macro_rules! calibration {
    ($real:ty) => {
        /// Takes the statistics of batch normalisation from one batch of all trials.
        fn calibrate(
            &self,
            parameters: &mut ParamSet<$real>,
            examples: &EegExamples<$real>,
            trials: &[usize],
        ) -> Result<(), Error> {
            // With a momentum of one, the running statistics after a batch are those of the batch.
            let mut config = self.config.clone();
            config.batch_norm.momentum = 1.0;
            let net = Self::with_simd(config, self.simd)?;
            let (mut workspace, mut gradient) = (net.workspace(1)?, vec![0.0; parameters.values().len()]);
            net.loss_and_gradient(parameters, examples, trials, None, &mut workspace, &mut gradient)?;
            parameters.take_statistics(&gradient)
        }
    };
}

implement_model!(EegNet, RawTrials, EegExamples, EegNetWorkspace, calibration: f32, f64);
