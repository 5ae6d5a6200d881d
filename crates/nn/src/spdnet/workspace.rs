//! The passes over a batch, on one or several threads, with the same bytes.
//!
//! A batch is split into tiles of [`TILE`] trials, for any number of threads. Within a tile the
//! gradients are added trial by trial. The sums of the tiles are added in order. The order of all
//! additions is therefore fixed.

use fedspd_manifold::simd::Simd;
use fedspd_manifold::{Real, first_not_finite, same_numbers};

use std::sync::Arc;

use super::examples::{Examples, Fit};
use super::guard::Spectrum;
use super::head::TriangleHead;
use super::worker::{Shared, Sink, Worker};
use super::{ClampReport, SpdNetConfig};
use crate::model::{Dropout, check_batch, check_parameters};
use crate::params::{Layout, ParamSet, Space};
use crate::{Error, check};

/// Trials per tile: the number of lanes of the widest `f64` vectors, and small enough for four
/// threads in a batch of 64.
pub(super) const TILE: usize = 16;

/// The memory of an [`crate::SpdNet`]'s passes. It grows to the largest batch and then allocates
/// nothing.
pub struct SpdNetWorkspace<T: Real> {
    layout: Arc<Layout>,
    simd: Simd,
    /// The parameters of the last pass. Repeated inference with the same parameters checks them
    /// once.
    loaded: Vec<T>,
    threshold: f64,
    fits: Fit,
    head: TriangleHead<T>,
    /// The number of weights in all blocks, which come first among the parameters.
    block_weights: usize,
    workers: Vec<Worker<T>>,
    /// For each tile: the sum of its gradients, in the layout of a [`Sink`].
    gradients: Vec<T>,
    /// For each tile: the sum of its losses. A pass for logits only does not touch it.
    losses: Vec<T>,
}

/// A tile of a batch.
struct Tile<'a, T> {
    trials: &'a [usize],
    /// The number of trials of the batch before it.
    first: usize,
    /// Its summed gradients, or its logits.
    output: &'a mut [T],
    loss: &'a mut T,
}

impl<T: Real> SpdNetWorkspace<T> {
    pub(super) fn new(
        config: &SpdNetConfig,
        simd: Simd,
        threads: usize,
        layout: Arc<Layout>,
    ) -> Result<Self, Error> {
        check("threads", threads, threads > 0, || "at least 1".into())?;
        let block_weights = layout.size() - config.classes * (config.features() + 1);
        let workers = (0..threads).map(|_| Worker::new(config, simd)).collect::<Result<_, _>>()?;
        Ok(Self {
            loaded: Vec::with_capacity(layout.size()),
            layout,
            simd,
            threshold: config.threshold,
            fits: Fit::of(config),
            head: TriangleHead::new(config.head, config.last(), config.inputs, config.classes),
            block_weights,
            workers,
            gradients: Vec::new(),
            losses: Vec::new(),
        })
    }

    /// Returns the length of a gradient in the layout of a [`Sink`].
    fn sink_size(&self) -> usize {
        self.block_weights + self.head.weights.len() + self.head.biases.len()
    }

    /// Checks the input and copies the parameters.
    fn load(
        &mut self,
        parameters: &ParamSet<T>,
        examples: &Examples<T>,
        batch: &[usize],
    ) -> Result<(), Error> {
        check_parameters(&self.layout, parameters)?;
        examples.fits.check(&self.fits)?;
        check_batch(batch, examples.len())?;
        let values = parameters.values();
        if same_numbers(self.simd, values, &self.loaded) {
            return Ok(());
        }
        self.loaded.clear();
        if let Some(place) = first_not_finite(self.simd, values) {
            return Err(Error::Diverged { what: "a parameter", value: values[place].to_f64() });
        }
        let head = &values[self.block_weights..];
        let (weights, biases) = head.split_at(head.len() - self.head.biases.len());
        self.head.load(weights, biases);
        self.loaded.extend_from_slice(values);
        Ok(())
    }

    pub(super) fn loss_and_gradient(
        &mut self,
        parameters: &ParamSet<T>,
        examples: &Examples<T>,
        batch: &[usize],
        dropout: Option<Dropout>,
        gradient: &mut [T],
    ) -> Result<T, Error> {
        self.load(parameters, examples, batch)?;
        check_length(gradient.len(), self.layout.size())?;
        let (tiles, size) = (batch.len().div_ceil(TILE), self.sink_size());
        self.gradients.resize(tiles * size, T::ZERO);
        self.gradients.fill(T::ZERO);
        self.losses.resize(tiles, T::ZERO);

        let weights = &parameters.values()[..self.block_weights];
        let shared = Shared { examples, weights, head: &self.head };
        let scale = T::ONE / T::from_f64(batch.len() as f64);
        let work = |worker: &mut Worker<T>, tile: Tile<'_, T>| -> Result<(), Error> {
            *tile.loss = T::ZERO;
            let mut first = tile.first;
            for trials in tile.trials.chunks(worker.lanes) {
                let dropout = dropout.map(|d| Dropout { seen: d.seen + first as u64, ..d });
                let sink = Sink::Sum(tile.output);
                worker.forward_backward(&shared, trials, scale, dropout, sink)?;
                // Add one by one, so that the sum does not depend on the number of lanes.
                for &loss in &worker.losses()[..trials.len()] {
                    *tile.loss += loss;
                }
                first += trials.len();
            }
            Ok(())
        };
        in_tiles(&mut self.workers, batch, 0, (&mut self.gradients, size), &mut self.losses, &work)?;

        let loss = self.losses.iter().fold(T::ZERO, |sum, &loss| sum + loss) * scale;
        let (sum, others) = self.gradients.split_at_mut(size);
        for other in others.chunks_exact(size) {
            for (sum, &other) in sum.iter_mut().zip(other) {
                *sum += other;
            }
        }
        unfold(&self.head, &self.layout, sum, gradient);
        Ok(loss)
    }

    /// Implements [`crate::Model::gradient_of_each`].
    pub(super) fn gradient_of_each(
        &mut self,
        parameters: &ParamSet<T>,
        examples: &Examples<T>,
        batch: &[usize],
        dropout: Option<Dropout>,
        losses: &mut [T],
        gradients: &mut [T],
    ) -> Result<(), Error> {
        self.load(parameters, examples, batch)?;
        let (size, own) = (self.layout.size(), self.sink_size());
        check_length(gradients.len(), batch.len() * size)?;
        check_length(losses.len(), batch.len())?;
        let weights = &parameters.values()[..self.block_weights];
        let shared = Shared { examples, weights, head: &self.head };
        let worker = &mut self.workers[0];
        self.gradients.resize(worker.lanes * own, T::ZERO);
        for (index, trials) in batch.chunks(worker.lanes).enumerate() {
            let first = index * worker.lanes;
            let dropout = dropout.map(|d| Dropout { seen: d.seen + first as u64, ..d });
            let each = &mut self.gradients[..trials.len() * own];
            each.fill(T::ZERO);
            worker.forward_backward(&shared, trials, T::ONE, dropout, Sink::Each(each))?;
            losses[first..first + trials.len()].copy_from_slice(&worker.losses()[..trials.len()]);
            let rows = gradients[first * size..].chunks_exact_mut(size);
            for (gradient, each) in rows.zip(each.chunks_exact(own)) {
                unfold(&self.head, &self.layout, each, gradient);
            }
        }
        Ok(())
    }

    pub(super) fn logits(
        &mut self,
        parameters: &ParamSet<T>,
        examples: &Examples<T>,
        batch: &[usize],
        logits: &mut [T],
    ) -> Result<(), Error> {
        self.load(parameters, examples, batch)?;
        let classes = self.head.biases.len();
        check_length(logits.len(), batch.len() * classes)?;
        let tiles = batch.len().div_ceil(TILE);
        self.losses.resize(tiles, T::ZERO);
        let weights = &parameters.values()[..self.block_weights];
        let shared = Shared { examples, weights, head: &self.head };
        let work = |worker: &mut Worker<T>, tile: Tile<'_, T>| -> Result<(), Error> {
            let rows = tile.output.chunks_mut(worker.lanes * classes);
            for (trials, rows) in tile.trials.chunks(worker.lanes).zip(rows) {
                rows.copy_from_slice(worker.forward(&shared, trials, None)?);
            }
            Ok(())
        };
        in_tiles(&mut self.workers, batch, 0, (&mut *logits, TILE * classes), &mut self.losses, &work)?;
        match logits.iter().find(|logit| !logit.is_finite()) {
            None => Ok(()),
            Some(logit) => Err(Error::Diverged { what: "a logit", value: logit.to_f64() }),
        }
    }

    /// Compares the eigenvalues at the first `ReEig` with its threshold, over some trials (all of
    /// them if there are no blocks).
    ///
    /// # Errors
    /// [`Error::ForeignParameters`]; [`Error::Config`] if there are no trials.
    pub fn clamp_report(
        &mut self,
        parameters: &ParamSet<T>,
        examples: &Examples<T>,
        trials: &[usize],
    ) -> Result<ClampReport, Error> {
        check_batch(trials, examples.len())?;
        if let Some(report) = examples.clamped {
            examples.fits.check(&self.fits)?;
            return Ok(report);
        }
        self.load(parameters, examples, trials)?;
        let weights = &parameters.values()[..self.block_weights];
        let shared = Shared { examples, weights, head: &self.head };
        let worker = &mut self.workers[0];
        let mut spectrum = Spectrum::default();
        for trials in trials.chunks(worker.lanes) {
            worker.forward(&shared, trials, None)?;
            for value in worker.first_eigenvalues(trials.len()) {
                spectrum.add(value?);
            }
        }
        Ok(spectrum.report(self.threshold))
    }
}

/// Assigns a run of tiles to each worker. `outputs` has `size` numbers per tile, except perhaps for
/// the last.
fn in_tiles<T: Real>(
    workers: &mut [Worker<T>],
    batch: &[usize],
    first: usize,
    (outputs, size): (&mut [T], usize),
    losses: &mut [T],
    work: &(impl Fn(&mut Worker<T>, Tile<'_, T>) -> Result<(), Error> + Sync),
) -> Result<(), Error> {
    let tiles = losses.len();
    if let [worker] = workers {
        let parts = batch.chunks(TILE).zip(outputs.chunks_mut(size)).zip(losses);
        for (index, ((trials, output), loss)) in parts.enumerate() {
            work(worker, Tile { trials, first: first + index * TILE, output, loss })?;
        }
        return Ok(());
    }
    let left_tiles = tiles.div_ceil(2);
    if left_tiles == tiles {
        return in_tiles(&mut workers[..1], batch, first, (outputs, size), losses, work);
    }
    let (left, right) = workers.split_at_mut(workers.len().div_ceil(2));
    let (left_batch, right_batch) = batch.split_at(left_tiles * TILE);
    let (left_outputs, right_outputs) = outputs.split_at_mut(left_tiles * size);
    let (left_losses, right_losses) = losses.split_at_mut(left_tiles);
    let middle = first + left_tiles * TILE;
    let (a, b) = rayon::join(
        || in_tiles(left, left_batch, first, (left_outputs, size), left_losses, work),
        || in_tiles(right, right_batch, middle, (right_outputs, size), right_losses, work),
    );
    a.and(b)
}

/// Maps a gradient from the layout of a [`Sink`] to that of the parameters.
fn unfold<T: Real>(head: &TriangleHead<T>, layout: &Layout, sink: &[T], gradient: &mut [T]) {
    for parameter in layout.parameters() {
        match parameter.space() {
            Space::Stiefel { p, k } => {
                let transposed = &sink[parameter.range()];
                for (i, row) in gradient[parameter.range()].chunks_exact_mut(k).enumerate() {
                    for (j, entry) in row.iter_mut().enumerate() {
                        *entry = transposed[j * p + i] * T::TWO;
                    }
                }
            }
            // The head follows below.
            Space::Euclidean | Space::Spd { .. } => {}
        }
    }
    let rest = &sink[sink.len() - head.weights.len() - head.biases.len()..];
    let (triangles, biases) = rest.split_at(head.weights.len());
    let (_, out_head) = gradient.split_at_mut(sink.len() - rest.len());
    let (out_weights, out_biases) = out_head.split_at_mut(out_head.len() - biases.len());
    head.gradient(triangles, out_weights);
    out_biases.copy_from_slice(biases);
}

fn check_length(found: usize, expected: usize) -> Result<(), Error> {
    if found == expected { Ok(()) } else { Err(Error::Length { what: "the output", expected, found }) }
}
