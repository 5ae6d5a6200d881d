//! Forward and backward passes of one thread, a few trials at a time.

use fedspd_manifold::simd::Simd;
use fedspd_manifold::{Left, Real, SpectralTape, multiply, multiply_add};
use rand::Rng;

use super::SpdNetConfig;
use super::chain::Chain;
use super::examples::{Content, Examples};
use super::head::TriangleHead;
use crate::Error;
use crate::loss::cross_entropy;
use crate::model::Dropout;

/// Data that all workers share during a step.
pub(super) struct Shared<'a, T: Real> {
    pub(super) examples: &'a Examples<T>,
    /// The weights of the blocks of all inputs.
    pub(super) weights: &'a [T],
    pub(super) head: &'a TriangleHead<T>,
}

/// Target of the gradients of trials, in the layout "weights of the blocks, head on triangles,
/// biases". Gradients of the weights are transposed and halved.
pub(super) enum Sink<'a, T> {
    /// Their sum.
    Sum(&'a mut [T]),
    /// One gradient per trial.
    Each(&'a mut [T]),
}

/// The scratch memory of one thread.
pub(super) struct Worker<T: Real> {
    simd: Simd,
    classes: usize,
    keep: f64,
    /// Number of trials processed together: the lanes of the eigensolver.
    pub(super) lanes: usize,
    /// One per input; empty if the logarithms are precomputed.
    chains: Vec<Chain<T>>,
    /// For each trial: features, dropout mask (0 or 1/(1-p)), gradients of the features.
    features: Vec<T>,
    kept: Vec<T>,
    feature_gradients: Vec<T>,
    /// For each trial: logits, then the gradients with respect to them.
    logits: Vec<T>,
    losses: Vec<T>,
}

impl<T: Real> Worker<T> {
    pub(super) fn new(config: &SpdNetConfig, simd: Simd) -> Result<Self, Error> {
        let lanes = SpectralTape::<T>::with_simd(config.last(), simd)?.lanes();
        let threshold = T::from_f64(config.threshold);
        let inputs = if config.blocks() == 0 { 0 } else { config.inputs };
        let chains = (0..inputs)
            .map(|_| Chain::new(simd, &config.dimensions, threshold, lanes))
            .collect::<Result<_, _>>()?;
        let features = lanes * config.inputs * config.triangle();
        Ok(Self {
            simd,
            classes: config.classes,
            keep: 1.0 - config.dropout,
            lanes,
            chains,
            features: vec![T::ZERO; features],
            kept: vec![T::ZERO; if config.dropout > 0.0 { features } else { 0 }],
            feature_gradients: vec![T::ZERO; features],
            logits: vec![T::ZERO; lanes * config.classes],
            losses: vec![T::ZERO; lanes],
        })
    }

    /// Computes the logits of up to `lanes` trials.
    pub(super) fn forward(
        &mut self,
        shared: &Shared<'_, T>,
        trials: &[usize],
        dropout: Option<Dropout>,
    ) -> Result<&mut [T], Error> {
        self.logarithms(shared, trials)?;
        let (count, features) = (trials.len(), shared.head.features());
        if let Some(dropout) = dropout.filter(|_| !self.kept.is_empty()) {
            self.draw(dropout, count * features, features);
            for (feature, &kept) in self.features[..count * features].iter_mut().zip(&self.kept) {
                *feature *= kept;
            }
        }
        let logits = &mut self.logits[..count * self.classes];
        for row in logits.chunks_exact_mut(self.classes) {
            row.copy_from_slice(&shared.head.biases);
        }
        let shape = (count, features, self.classes);
        multiply_add(self.simd, Left::Plain, shape, &self.features, &shared.head.transposed, logits);
        Ok(logits)
    }

    /// Computes the losses of up to `lanes` trials, and the gradient of their sum times `scale`.
    pub(super) fn forward_backward(
        &mut self,
        shared: &Shared<'_, T>,
        trials: &[usize],
        scale: T,
        dropout: Option<Dropout>,
        sink: Sink<'_, T>,
    ) -> Result<(), Error> {
        self.forward(shared, trials, dropout)?;
        let (simd, count) = (self.simd, trials.len());
        let (classes, features) = (self.classes, shared.head.features());
        let labels = trials.iter().map(|&trial| shared.examples.labels()[trial]);
        let logits = &mut self.logits[..count * classes];
        cross_entropy(simd, classes, logits, labels, scale, &mut self.losses);
        if let Some(loss) = self.losses[..count].iter().find(|loss| !loss.is_finite()) {
            return Err(Error::Diverged { what: "the loss of a trial", value: loss.to_f64() });
        }

        let sizes = [shared.weights.len(), classes * features, classes];
        let (gradients, stride) = match sink {
            Sink::Sum(gradient) => (gradient, 0),
            Sink::Each(gradients) => (gradients, sizes.iter().sum()),
        };
        if stride == 0 {
            let (xi, beta) = gradients[sizes[0]..].split_at_mut(sizes[1]);
            multiply_add(simd, Left::Transposed, (classes, count, features), logits, &self.features, xi);
            for row in logits.chunks_exact(classes) {
                for (sum, &g) in beta.iter_mut().zip(row) {
                    *sum += g;
                }
            }
        } else {
            let rows = logits.chunks_exact(classes).zip(self.features.chunks_exact(features));
            for (own, (g, v)) in gradients.chunks_exact_mut(stride).zip(rows) {
                let (xi, beta) = own[sizes[0]..].split_at_mut(sizes[1]);
                multiply_add(simd, Left::Plain, (classes, 1, features), g, v, xi);
                beta.copy_from_slice(g);
            }
        }
        if self.chains.is_empty() {
            return Ok(());
        }
        let shape = (count, classes, features);
        multiply(simd, Left::Plain, shape, logits, &shared.head.weights, &mut self.feature_gradients);
        if dropout.is_some() {
            for (gradient, &kept) in self.feature_gradients.iter_mut().zip(&self.kept) {
                *gradient *= kept;
            }
        }
        self.backward(shared, count, gradients, stride)
    }

    /// Fills the features with the triangles of the logarithms of the trials.
    fn logarithms(&mut self, shared: &Shared<'_, T>, trials: &[usize]) -> Result<(), Error> {
        let features = shared.head.features();
        match &shared.examples.content {
            Content::Logarithms(logarithms) => {
                for (place, &trial) in self.features.chunks_exact_mut(features).zip(trials) {
                    place.copy_from_slice(&logarithms[trial * features..(trial + 1) * features]);
                }
            }
            Content::Matrices(matrices) => {
                let size = shared.examples.fits.size.pow(2);
                let inputs = self.chains.len();
                let per_input = shared.weights.len() / inputs;
                let triangle = features / inputs;
                for (input, chain) in self.chains.iter_mut().enumerate() {
                    let weights = &shared.weights[input * per_input..(input + 1) * per_input];
                    let matrix = |place: usize| &matrices[(trials[place] * inputs + input) * size..][..size];
                    chain.forward(weights, trials.len(), matrix).map_err(|source| {
                        // Input matrices are finite and symmetric, so the product with the weights
                        // failed.
                        Error::Trial { trial: trials[matrix_index(&source)], input, source }
                    })?;
                    chain.logarithms(&mut self.features[input * triangle..], features)?;
                }
            }
        }
        Ok(())
    }

    fn backward(
        &mut self,
        shared: &Shared<'_, T>,
        count: usize,
        gradients: &mut [T],
        stride: usize,
    ) -> Result<(), Error> {
        let features = shared.head.features();
        let (inputs, mut offset) = (self.chains.len(), 0);
        let (per_input, triangle) = (shared.weights.len() / inputs, features / inputs);
        for (input, chain) in self.chains.iter_mut().enumerate() {
            chain.put_gradients(&self.feature_gradients[input * triangle..], features)?;
            let weights = &shared.weights[offset..offset + per_input];
            chain.backward(weights, count, &mut gradients[offset..], stride)?;
            offset += per_input;
        }
        Ok(())
    }

    /// Draws the dropout mask. A trial's mask depends only on its position in the epoch.
    fn draw(&mut self, dropout: Dropout, end: usize, features: usize) {
        let scale = T::from_f64(1.0 / self.keep);
        // Keep if a uniform 32-bit number is below keep * 2^32.
        let bound = (self.keep * 4_294_967_296.0) as u64;
        for (place, row) in self.kept[..end].chunks_exact_mut(features).enumerate() {
            let mut rng = dropout.stream.item(dropout.seen + place as u64);
            for kept in row {
                *kept = if u64::from(rng.next_u32()) < bound { scale } else { T::ZERO };
            }
        }
    }

    /// Returns the losses of the last trials.
    pub(super) fn losses(&self) -> &[T] {
        &self.losses
    }

    /// Returns the eigenvalues at the first `ReEig` of each input in the last forward pass, for
    /// `count` trials.
    pub(super) fn first_eigenvalues(
        &self,
        count: usize,
    ) -> impl Iterator<Item = Result<T, fedspd_manifold::Error>> {
        let places = self.chains.iter().flat_map(move |chain| (0..count).map(move |place| (chain, place)));
        places.flat_map(|(chain, place)| chain.first_eigenvalues(place))
    }
}

/// Returns the index of the matrix in an error, or 0 if it has none.
pub(super) fn matrix_index(error: &fedspd_manifold::Error) -> usize {
    use fedspd_manifold::Error::{EigenvaluesNotConverged, NotFinite, Overflow, TooLarge};
    match *error {
        NotFinite { matrix, .. }
        | TooLarge { matrix, .. }
        | Overflow { matrix, .. }
        | EigenvaluesNotConverged { matrix, .. } => matrix,
        _ => 0,
    }
}
