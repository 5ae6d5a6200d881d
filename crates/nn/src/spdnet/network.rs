//! The network: its parameters, their initial values and the preparation of trials.

use std::sync::Arc;

use fedspd_manifold::simd::Simd;
use fedspd_manifold::{Real, SpectralFunction, SpectralTape, Stiefel, Triangle};
use rand::RngExt;

use super::examples::{Content, Examples, Fit};
use super::guard::Spectrum;
use super::worker::matrix_index;
use super::{ClampReport, SpdNetConfig, SpdNetWorkspace, SpdTrials};
use crate::architecture::implement_architecture;
use crate::model::implement_model;
use crate::params::{Layout, ParamSet, Space};
use crate::seed::{Purpose, Seed};
use crate::{Dropout, Error, InputShape, Model, ModelSettings, check};

/// The shape of an SPDnet. Callers pass parameters and memory to its methods.
///
/// ```
/// # fn main() -> Result<(), fedspd_nn::Error> {
/// use fedspd_nn::{Model, Seed, SpdNet, SpdNetConfig, SyntheticTask};
///
/// let net = SpdNet::<f64>::new(SpdNetConfig::new(vec![8, 4], 3))?;
/// let parameters = net.initial(Seed(0))?;
/// let examples = net.prepare(SyntheticTask::new(8, 3).trials(20).client(Seed(0), 0)?)?;
/// let mut workspace = net.workspace(1)?;
/// let all: Vec<usize> = (0..examples.len()).collect();
/// let mut gradient = vec![0.0; parameters.values().len()];
/// let loss = net.loss_and_gradient(&parameters, &examples, &all, None, &mut workspace, &mut gradient)?;
/// assert!(loss > 0.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SpdNet<T> {
    config: SpdNetConfig,
    layout: Arc<Layout>,
    simd: Simd,
    scalar: std::marker::PhantomData<T>,
}

impl<T: Real> SpdNet<T> {
    /// Creates a network of that shape, on the instruction set of [`Simd::detect`].
    ///
    /// # Errors
    /// [`Error::Config`] for an invalid shape; [`Error::Geometry`] if the requested instruction set
    /// is not available.
    pub fn new(config: SpdNetConfig) -> Result<Self, Error> {
        Self::with_simd(config, Simd::detect()?)
    }

    /// Creates a network of that shape, on a given instruction set.
    ///
    /// # Errors
    /// [`Error::Config`] for an invalid shape.
    pub fn with_simd(config: SpdNetConfig, simd: Simd) -> Result<Self, Error> {
        config.check()?;
        let threshold = T::from_f64(config.threshold);
        let representable = threshold > T::ZERO && threshold.is_finite();
        check("threshold", config.threshold, representable, || {
            "positive and finite in this precision".into()
        })?;
        let layout = Arc::new(config.layout()?);
        Ok(Self { config, layout, simd, scalar: std::marker::PhantomData })
    }

    /// The shape for settings and data.
    fn configured(settings: &ModelSettings, shape: &InputShape) -> SpdNetConfig {
        let dimensions = std::iter::once(shape.channels).chain(settings.dims.iter().copied());
        SpdNetConfig::new(dimensions.collect(), shape.classes)
            .inputs(shape.inputs)
            .threshold(settings.epsilon)
            .head(settings.head)
            .dropout(settings.resolved_dropout())
    }

    fn labelled(shape: &InputShape, numbers: Vec<T>, labels: Vec<usize>) -> Result<SpdTrials<T>, Error> {
        SpdTrials::new(shape.channels, shape.inputs, shape.classes, numbers, labels)
    }

    /// Its shape.
    pub fn config(&self) -> &SpdNetConfig {
        &self.config
    }

    /// The instruction set.
    pub fn simd(&self) -> Simd {
        self.simd
    }

    /// Prepares trials. Without blocks, it computes their logarithms, once.
    fn examples(&self, trials: SpdTrials<T>) -> Result<Examples<T>, Error> {
        let fits = Fit::of(&self.config);
        let (size, inputs, classes) = (trials.n(), trials.inputs(), trials.classes());
        Fit { size, inputs, classes, ..fits }.check(&fits)?;
        // The matrices are symmetric to the bit. Products with them rely on it.
        let (matrices, labels) = trials.into_parts();
        if self.config.blocks() > 0 {
            return Ok(Examples { content: Content::Matrices(matrices), labels, fits, clamped: None });
        }
        let (logarithms, clamped) = self.logarithms(&matrices)?;
        Ok(Examples { content: Content::Logarithms(logarithms), labels, fits, clamped: Some(clamped) })
    }

    fn logarithms(&self, matrices: &[T]) -> Result<(Vec<T>, ClampReport), Error> {
        let (size, triangle) = (self.config.first().pow(2), self.config.triangle());
        let function = SpectralFunction::LogClamp { floor: T::from_f64(self.config.threshold) };
        let mut tape = SpectralTape::with_simd(self.config.first(), self.simd)?;
        let mut spectrum = Spectrum::default();
        let mut logarithms = vec![T::ZERO; matrices.len() / size * triangle];
        let lanes = tape.lanes();
        let chunks = matrices.chunks(lanes * size).zip(logarithms.chunks_mut(lanes * triangle));
        for (index, (matrices, logarithms)) in chunks.enumerate() {
            tape.begin(matrices.len() / size)?;
            tape.put_triangles(Triangle::Lower, matrices)?;
            tape.apply(function).map_err(|source| {
                let matrix = index * lanes + matrix_index(&source);
                Error::Trial {
                    trial: matrix / self.config.inputs,
                    input: matrix % self.config.inputs,
                    source,
                }
            })?;
            tape.triangles(logarithms, triangle)?;
            for place in 0..matrices.len() / size {
                for i in 0..tape.n() {
                    spectrum.add(tape.eigenvalue(place, i)?);
                }
            }
        }
        Ok((logarithms, spectrum.report(self.config.threshold)))
    }

    /// Draws uniform (Haar) weights for the blocks. The head is like torch's `Linear`: uniform
    /// within `1/sqrt(features)`.
    fn first_values(&self, seed: Seed) -> Result<ParamSet<T>, Error> {
        let stream = seed.stream(Purpose::Initialisation);
        let bound = 1.0 / (self.config.features() as f64).sqrt();
        let mut values = Vec::with_capacity(self.layout.size());
        for (index, parameter) in self.layout.parameters().iter().enumerate() {
            let mut rng = stream.item(index as u64);
            match parameter.space() {
                Space::Stiefel { p, k } => {
                    let weights = Stiefel::with_simd(p, k, self.simd)?.random(&mut rng)?;
                    values.extend_from_slice(weights.as_slice());
                }
                Space::Euclidean => {
                    let draw = |_| T::from_f64((rng.random::<f64>() * 2.0 - 1.0) * bound);
                    values.extend((0..parameter.size()).map(draw));
                }
                Space::Spd { n } => {
                    let identity = |entry| if entry % (n + 1) == 0 { T::ONE } else { T::ZERO };
                    values.extend((0..n * n).map(identity));
                }
            }
        }
        ParamSet::new(Arc::clone(&self.layout), values)
    }

    /// Checks for wrong units.
    #[allow(clippy::unused_self)] // the method of `EegNet` needs it
    fn check_units(
        &self,
        parameters: &ParamSet<T>,
        examples: &Examples<T>,
        trials: &[usize],
        workspace: &mut SpdNetWorkspace<T>,
    ) -> Result<Option<String>, Error> {
        workspace.clamp_report(parameters, examples, trials)?.check()
    }
}

implement_architecture!(SpdNet, SpdNet, Covariances, SpdTrials: f32, f64);

macro_rules! gradients_of_trials {
    ($real:ty) => {
        fn gradient_of_each(
            &self,
            parameters: &ParamSet<$real>,
            examples: &Examples<$real>,
            batch: &[usize],
            dropout: Option<Dropout>,
            workspace: &mut SpdNetWorkspace<$real>,
            losses: &mut [$real],
            gradients: &mut [$real],
        ) -> Result<(), Error> {
            workspace.gradient_of_each(parameters, examples, batch, dropout, losses, gradients)
        }
    };
}

implement_model!(SpdNet, SpdTrials, Examples, SpdNetWorkspace, gradients_of_trials: f32, f64);
