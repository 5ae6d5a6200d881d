//! The network: parameters, first values, and what it reads.

use std::sync::Arc;

use fedspd_manifold::simd::Simd;
use fedspd_manifold::{Real, SpectralFunction, SpectralTape, Stiefel};
use rand::RngExt;

use super::guard::Spectrum;
use super::worker::culprit;
use super::{ClampReport, SpdNetConfig, SpdNetWorkspace, SpdTrials};
use crate::params::{Geometry, Layout, ParamSet};
use crate::seed::{Purpose, Seed};
use crate::{Dropout, Error, Model, check};

/// An SPDnet: its shape. Parameters are given to its methods, memory too.
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

/// Trials as a network reads them: its matrices, or their logarithms where no block stands before them.
#[derive(Clone, Debug)]
pub struct Examples<T> {
    pub(super) content: Content<T>,
    labels: Vec<usize>,
    /// What the network that reads them must be like: the size of its matrices, its inputs and classes, and, where the logarithms are
    /// taken already, its threshold.
    pub(super) fits: Fit,
    /// How the eigenvalues compare with the threshold, where no parameter has a say in that.
    pub(super) clamped: Option<ClampReport>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fit {
    size: usize,
    inputs: usize,
    classes: usize,
    logarithms: Option<f64>,
}

impl Fit {
    pub(super) fn of(config: &SpdNetConfig) -> Self {
        let logarithms = (config.blocks() == 0).then_some(config.threshold);
        Self { size: config.first(), inputs: config.inputs, classes: config.classes, logarithms }
    }

    /// Checks that examples made for `self` can be read by `network`.
    pub(super) fn check(&self, network: &Self) -> Result<(), Error> {
        let facts = [
            ("matrices of size", network.size, self.size),
            ("a number of matrices per trial of", network.inputs, self.inputs),
            ("a number of classes of", network.classes, self.classes),
        ];
        for (what, expected, found) in facts {
            if expected != found {
                let (expected, found) = (expected.to_string(), found.to_string());
                return Err(Error::Mismatch { what, expected, found });
            }
        }
        if self.logarithms == network.logarithms {
            return Ok(());
        }
        let name = |threshold: Option<f64>| match threshold {
            None => "matrices".to_owned(),
            Some(threshold) => format!("logarithms with threshold {threshold:e}"),
        };
        let (expected, found) = (name(network.logarithms), name(self.logarithms));
        Err(Error::Mismatch { what: "examples that are", expected, found })
    }
}

#[derive(Clone, Debug)]
pub(super) enum Content<T> {
    /// Matrices of `size` entries each.
    Matrices { size: usize, matrices: Vec<T> },
    /// For each trial, the triangles of the logarithms of all its matrices.
    Logarithms(Vec<T>),
}

impl<T> Examples<T> {
    /// The number of trials.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The class of each trial.
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }
}

impl<T: Real> SpdNet<T> {
    /// A network of that shape, on the instruction set that [`Simd::detect`] gives.
    ///
    /// # Errors
    /// [`Error::Config`] if there is no such network, [`Error::Geometry`] if an unavailable instruction set is asked for.
    pub fn new(config: SpdNetConfig) -> Result<Self, Error> {
        Self::with_simd(config, Simd::detect()?)
    }

    /// The same on a given instruction set.
    ///
    /// # Errors
    /// [`Error::Config`] if there is no such network.
    pub fn with_simd(config: SpdNetConfig, simd: Simd) -> Result<Self, Error> {
        config.check()?;
        let threshold = T::from_f64(config.threshold);
        let representable = threshold > T::ZERO && threshold.is_finite();
        check("threshold", config.threshold, representable, || "a positive number of the precision".into())?;
        let layout = Arc::new(config.layout()?);
        Ok(Self { config, layout, simd, scalar: std::marker::PhantomData })
    }

    /// Its shape.
    pub fn config(&self) -> &SpdNetConfig {
        &self.config
    }

    /// The instruction set.
    pub fn simd(&self) -> Simd {
        self.simd
    }

    /// Trials as this network reads them. Without blocks, this is where the logarithms are computed, once.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the trials are not of the network's size, inputs or classes.
    pub fn prepare(&self, trials: SpdTrials<T>) -> Result<Examples<T>, Error> {
        let (config, fits) = (&self.config, Fit::of(&self.config));
        let (size, inputs, classes) = (trials.n(), trials.inputs(), trials.classes());
        Fit { size, inputs, classes, ..fits }.check(&fits)?;
        let (matrices, labels) = trials.into_parts();
        let size = config.first() * config.first();
        if config.blocks() > 0 {
            let content = Content::Matrices { size, matrices };
            return Ok(Examples { content, labels, fits, clamped: None });
        }
        let (logarithms, clamped) = self.logarithms(size, &matrices)?;
        Ok(Examples { content: Content::Logarithms(logarithms), labels, fits, clamped: Some(clamped) })
    }

    fn logarithms(&self, size: usize, matrices: &[T]) -> Result<(Vec<T>, ClampReport), Error> {
        let triangle = self.config.triangle();
        let function = SpectralFunction::LogClamp { floor: T::from_f64(self.config.threshold) };
        let mut tape = SpectralTape::with_simd(self.config.first(), self.simd)?;
        let mut spectrum = Spectrum::default();
        let mut logarithms = vec![T::ZERO; matrices.len() / size * triangle];
        let lanes = tape.lanes();
        let chunks = matrices.chunks(lanes * size).zip(logarithms.chunks_mut(lanes * triangle));
        for (index, (matrices, logarithms)) in chunks.enumerate() {
            tape.begin(matrices.len() / size)?;
            for (place, matrix) in matrices.chunks_exact(size).enumerate() {
                tape.put(place, matrix)?;
            }
            tape.apply(function).map_err(|source| {
                let matrix = index * lanes + culprit(&source);
                Error::Trial {
                    trial: matrix / self.config.inputs,
                    input: matrix % self.config.inputs,
                    source,
                }
            })?;
            for (place, out) in logarithms.chunks_exact_mut(triangle).enumerate() {
                tape.triangle(place, out)?;
                for i in 0..tape.n() {
                    spectrum.add(tape.eigenvalue(place, i)?);
                }
            }
        }
        Ok((logarithms, spectrum.report(self.config.threshold)))
    }
}

impl<T: Real> Model<T> for SpdNet<T> {
    type Examples = Examples<T>;
    type Workspace = SpdNetWorkspace<T>;

    fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    fn classes(&self) -> usize {
        self.config.classes
    }

    fn labels<'e>(&self, examples: &'e Examples<T>) -> &'e [usize] {
        examples.labels()
    }

    fn check_before_training(
        &self,
        parameters: &ParamSet<T>,
        examples: &Examples<T>,
        trials: &[usize],
        workspace: &mut SpdNetWorkspace<T>,
    ) -> Result<Option<String>, Error> {
        workspace.clamp_report(parameters, examples, trials)?.verdict()
    }

    /// Uniform (Haar) weights in the blocks; a head like torch's `Linear`: uniform within `1/sqrt(features)`.
    fn initial(&self, seed: Seed) -> Result<ParamSet<T>, Error> {
        let stream = seed.stream(Purpose::Initialisation);
        let bound = 1.0 / (self.config.features() as f64).sqrt();
        let mut values = Vec::with_capacity(self.layout.size());
        for (index, parameter) in self.layout.parameters().iter().enumerate() {
            let mut rng = stream.item(index as u64);
            if let (Geometry::Stiefel, &[p, k]) = (parameter.geometry, &parameter.shape[..]) {
                values.extend_from_slice(Stiefel::with_simd(p, k, self.simd)?.random(&mut rng)?.as_slice());
            } else {
                let draw = |_| T::from_f64((rng.random::<f64>() * 2.0 - 1.0) * bound);
                values.extend((0..parameter.size()).map(draw));
            }
        }
        ParamSet::new(Arc::clone(&self.layout), values)
    }

    fn workspace(&self, threads: usize) -> Result<SpdNetWorkspace<T>, Error> {
        SpdNetWorkspace::new(&self.config, self.simd, threads, Arc::clone(&self.layout))
    }

    fn loss_and_gradient(
        &self,
        parameters: &ParamSet<T>,
        examples: &Examples<T>,
        batch: &[usize],
        dropout: Option<Dropout>,
        workspace: &mut SpdNetWorkspace<T>,
        gradient: &mut [T],
    ) -> Result<T, Error> {
        workspace.loss_and_gradient(parameters, examples, batch, dropout, gradient)
    }

    fn logits(
        &self,
        parameters: &ParamSet<T>,
        examples: &Examples<T>,
        batch: &[usize],
        workspace: &mut SpdNetWorkspace<T>,
        logits: &mut [T],
    ) -> Result<(), Error> {
        workspace.logits(parameters, examples, batch, logits)
    }
}
