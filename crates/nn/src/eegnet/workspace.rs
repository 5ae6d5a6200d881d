//! The passes over a batch, on one or several threads, with the same bytes.
//!
//! Batch normalisation needs sums over the whole batch. A step is therefore a sequence of passes
//! over the trials, with a little arithmetic between them:
//!
//! ```text
//! forward   mix space, convolve, measure
//!           BN2, ELU, mean, dropout, separable convolution, measure
//!           BN3, ELU, mean, dropout, head, loss
//! backward  head, to BN3's output
//!           BN3, separable convolution, to BN2's output
//!           BN2, temporal and spatial filters
//! ```
//!
//! Trials are split into tiles of [`TILE`], for any number of threads. Gradients of a tile are
//! added trial by trial, and those of the tiles in order. Sums for batch statistics are added trial
//! by trial in `f64`. The order of all additions is therefore fixed.

use std::sync::Arc;

use fedspd_manifold::Real;
use fedspd_manifold::simd::Simd;

use super::aligned::Aligned;
use super::examples::EegExamples;
use super::lags;
use super::norm::{Norm, finite_variance};
use super::passes::{
    Kernels, Worker, activate_second, first_block, first_block_back, head, head_back, second_block,
    separable_back,
};
use super::shape::Shape;
use super::slot::{Slot, Tile};
use super::weights::{NormPlaces, Places, Weights, reverse, transpose};
use super::{BatchNorm, EegNetConfig};
use crate::loss::cross_entropy;
use crate::model::{Dropout, check_batch, check_parameters};
use crate::params::{Layout, ParamSet};
use crate::{Error, check};

/// Trials per tile, small enough for four threads in a batch of 64.
const TILE: usize = 16;

/// The memory of an [`crate::EegNet`]'s passes. It grows to the largest batch and then allocates
/// nothing.
pub struct EegNetWorkspace<T: Real> {
    layout: Arc<Layout>,
    shape: Shape,
    places: Places,
    batch_norm: BatchNorm,
    keep: f64,
    simd: Simd,
    kernels: Kernels<T>,
    norms: [Norm<T>; 2],
    /// Sums of the lag statistics over the batch, divided by the size of the tensor that is never
    /// formed.
    lags: Vec<f64>,
    /// `R h` of each temporal filter.
    filter_lags: Vec<f64>,
    /// For each temporal filter: the statistics of its output, and its slope
    /// `a = scale / sqrt(variance + epsilon)`.
    filtered: Vec<Filtered>,
    tiles: Vec<Tile<T>>,
    workers: Vec<Worker<T>>,
    /// The number of trials in the last pass if it was a training pass, otherwise 0.
    trained: usize,
}

/// The statistics of a temporal filter's output over a batch.
#[derive(Clone, Copy, Default)]
struct Filtered {
    mean: f64,
    variance: f64,
    slope: f64,
}

impl<T: Real> EegNetWorkspace<T> {
    pub(super) fn new(
        config: &EegNetConfig,
        simd: Simd,
        threads: usize,
        layout: Arc<Layout>,
    ) -> Result<Self, Error> {
        check("threads", threads, threads > 0, || "at least 1".into())?;
        let shape = Shape::of(config);
        let places = Places::of(&layout)?;
        let zeros = |size: usize| Aligned::zeros(size);
        let (f, g) = (shape.first_lanes, shape.second_lanes);
        let worker = || Worker {
            first: zeros((shape.samples + shape.temporal_taps - 1) * f),
            mixed: zeros(shape.samples * f),
            depthwise: zeros((shape.pooled[0] + shape.separable_taps - 1) * f),
            pooled: zeros(shape.pooled[0] * f),
            second: zeros(shape.pooled[0] * g),
            features: zeros(shape.features()),
            logits: zeros(shape.classes),
        };
        Ok(Self {
            layout,
            shape,
            places,
            batch_norm: config.batch_norm,
            keep: 1.0 - config.dropout,
            simd,
            kernels: Kernels {
                weights: Weights::new(&shape),
                temporal_back: zeros(shape.temporal_taps * f),
                depthwise_back: zeros(shape.separable_taps * f),
                pointwise_forth: zeros(f * g),
            },
            norms: [Norm::new(f), Norm::new(g)],
            lags: vec![0.0; lags::size(shape.temporal_taps)],
            filter_lags: vec![0.0; shape.filters * shape.temporal_taps],
            filtered: vec![Filtered::default(); shape.filters],
            tiles: Vec::new(),
            workers: (0..threads).map(|_| worker()).collect(),
            trained: 0,
        })
    }

    /// Checks the input, copies the parameters, and assigns a slot to every trial.
    fn load(
        &mut self,
        parameters: &ParamSet<T>,
        examples: &EegExamples<T>,
        batch: &[usize],
    ) -> Result<(), Error> {
        self.trained = 0;
        check_parameters(&self.layout, parameters)?;
        check_batch(batch, examples.trials.len())?;
        let (shape, trials) = (&self.shape, &examples.trials);
        let facts = [
            ("channels", shape.channels, trials.channels()),
            ("samples", shape.samples, trials.length()),
            ("classes", shape.classes, trials.classes()),
        ];
        for (what, expected, found) in facts {
            if expected != found {
                let (expected, found) = (expected.to_string(), found.to_string());
                return Err(Error::Mismatch { what, expected, found });
            }
        }
        if let Some(value) = parameters.values().iter().find(|value| !value.is_finite()) {
            return Err(Error::Diverged { what: "a parameter", value: value.to_f64() });
        }
        let Kernels { weights, temporal_back, depthwise_back, pointwise_forth } = &mut self.kernels;
        weights.load(shape, &self.places, parameters.values());
        reverse(shape.first_lanes, &weights.temporal, temporal_back);
        reverse(shape.first_lanes, &weights.depthwise, depthwise_back);
        transpose(shape.first_lanes, &weights.pointwise, pointwise_forth);

        let tiles = batch.len().div_ceil(TILE);
        while self.tiles.len() < tiles {
            let first = self.tiles.len() * TILE;
            self.tiles.push(Tile { first, slots: Vec::new(), used: 0, sums: Weights::new(shape) });
        }
        for unused in &mut self.tiles[tiles..] {
            unused.used = 0;
        }
        for (tile, trials) in self.tiles.iter_mut().zip(batch.chunks(TILE)) {
            while tile.slots.len() < trials.len() {
                tile.slots.push(Slot::new(shape, self.keep < 1.0));
            }
            tile.used = trials.len();
            for (slot, &trial) in tile.slots.iter_mut().zip(trials) {
                (slot.trial, slot.label) = (trial, examples.trials.labels()[trial]);
            }
        }
        Ok(())
    }

    pub(super) fn loss_and_gradient(
        &mut self,
        parameters: &ParamSet<T>,
        examples: &EegExamples<T>,
        batch: &[usize],
        dropout: Option<Dropout>,
        gradient: &mut [T],
    ) -> Result<T, Error> {
        self.load(parameters, examples, batch)?;
        let (found, expected) = (gradient.len(), self.layout.size());
        if found != expected {
            return Err(Error::Length { what: "the gradient", expected, found });
        }
        let dropout = dropout.filter(|_| self.keep < 1.0);
        self.measure_filters(parameters.values(), examples, batch)?;
        self.forth(parameters.values(), examples, batch.len(), dropout)?;
        let loss = self.back(examples, batch.len(), dropout.is_some())?;
        let tiles = &mut self.tiles[..batch.len().div_ceil(TILE)];
        if let Some((sum, others)) = tiles.split_first_mut() {
            for other in others {
                sum.sums.add(&mut other.sums);
            }
            sum.sums.unload(&self.shape, &self.places, gradient);
        }
        self.norm_gradients(parameters.values(), batch.len(), gradient);
        self.trained = batch.len();
        Ok(loss)
    }

    /// Returns the logits of each trial of the last training pass; none after an evaluation or an
    /// error.
    pub fn training_logits(&self) -> impl Iterator<Item = &[T]> {
        slots(&self.tiles).take(self.trained).map(|slot| &slot.logits[..])
    }

    /// Computes the forward pass from the trials to the input of BN3, with the statistics of BN2
    /// and BN3.
    fn forth(
        &mut self,
        values: &[T],
        examples: &EegExamples<T>,
        count: usize,
        dropout: Option<Dropout>,
    ) -> Result<(), Error> {
        let (shape, simd, keep, kernels) = (self.shape, self.simd, self.keep, &self.kernels);
        let (workers, tiles) = (&mut self.workers, &mut self.tiles[..count.div_ceil(TILE)]);
        let [first, second] = &mut self.norms;
        in_tiles(workers, tiles, &|_, tile| {
            for (place, slot) in tile.slots[..tile.used].iter_mut().enumerate() {
                if let Some(dropout) = dropout {
                    slot.draw(&shape, dropout, (tile.first + place) as u64, keep);
                }
                first_block(&shape, simd, kernels, examples, slot);
                slot.first_moments.measure(simd, &slot.first);
            }
            Ok(())
        })?;
        first.batch.combine(shape.samples, &slots(tiles).map(|slot| &slot.first_moments))?;
        let slope = |row: usize| self.filtered[row / shape.depth].slope;
        first.prepare(&self.places.norms[1], values, self.batch_norm, slope);
        in_tiles(workers, tiles, &|_, tile| {
            for slot in &mut tile.slots[..tile.used] {
                second_block(&shape, simd, kernels, first, dropout.is_some(), slot);
                slot.second_moments.measure(simd, &slot.second);
            }
            Ok(())
        })?;
        second.batch.combine(shape.pooled[0], &slots(tiles).map(|slot| &slot.second_moments))?;
        second.prepare(&self.places.norms[2], values, self.batch_norm, |_| 1.0);
        Ok(())
    }

    /// Computes the forward pass from the input of BN3 to the mean loss, and the backward pass to
    /// the filters. Gradients are added tile by tile.
    fn back(&mut self, examples: &EegExamples<T>, count: usize, dropout: bool) -> Result<T, Error> {
        let (shape, simd, kernels) = (self.shape, self.simd, &self.kernels);
        let (workers, tiles) = (&mut self.workers, &mut self.tiles[..count.div_ceil(TILE)]);
        let [first, second] = &mut self.norms;
        let share = T::ONE / T::from_f64(count as f64);
        in_tiles(workers, tiles, &|worker, tile| {
            tile.sums.clear();
            for slot in &mut tile.slots[..tile.used] {
                activate_second(&shape, simd, second, dropout, slot);
                head(&shape, simd, kernels, slot, &mut worker.logits);
                slot.logits.copy_from_slice(&worker.logits);
                let (labels, losses) = (std::iter::once(slot.label), std::slice::from_mut(&mut slot.loss));
                cross_entropy(simd, shape.classes, &mut worker.logits, labels, share, losses);
                if !slot.loss.is_finite() {
                    return Err(Error::Diverged { what: "the loss of a trial", value: slot.loss.to_f64() });
                }
                head_back(&shape, simd, kernels, second, dropout, slot, worker, &mut tile.sums);
            }
            Ok(())
        })?;
        second.pull_back(&slots(tiles).map(|slot| &slot.second_pulls), count * shape.pooled[0]);
        in_tiles(workers, tiles, &|worker, tile| {
            for slot in &mut tile.slots[..tile.used] {
                let norms = [&*first, &*second];
                separable_back(&shape, simd, kernels, norms, dropout, slot, worker, &mut tile.sums);
            }
            Ok(())
        })?;
        first.pull_back(&slots(tiles).map(|slot| &slot.first_pulls), count * shape.samples);
        in_tiles(workers, tiles, &|worker, tile| {
            for slot in &mut tile.slots[..tile.used] {
                first_block_back(&shape, simd, kernels, first, examples, slot, worker, &mut tile.sums);
            }
            Ok(())
        })?;
        Ok(slots(tiles).fold(T::ZERO, |sum, slot| sum + slot.loss) * share)
    }

    /// Sums the lag statistics of the batch and derives mean and variance of every filter's output.
    fn measure_filters(
        &mut self,
        values: &[T],
        examples: &EegExamples<T>,
        batch: &[usize],
    ) -> Result<(), Error> {
        let (taps, shape) = (self.shape.temporal_taps, &self.shape);
        let Some(lags) = examples.lags.as_ref().filter(|lags| lags.taps() == taps) else {
            let found = examples.lags.as_ref().map_or_else(
                || "none: they were prepared for evaluation only".into(),
                |lags| format!("{} taps", lags.taps()),
            );
            return Err(Error::Mismatch { what: "lag statistics", expected: format!("{taps} taps"), found });
        };
        self.lags.fill(0.0);
        for &trial in batch {
            for (sum, lag) in self.lags.iter_mut().zip(lags.trial(trial)) {
                *sum += lag;
            }
        }
        let count = (batch.len() * shape.channels * shape.samples) as f64;
        for sum in &mut self.lags {
            *sum /= count;
        }
        let (m, r) = self.lags.split_at(taps);
        let filters = values[self.places.temporal.clone()].chunks_exact(taps);
        let scales = &values[self.places.norms[0].scale.clone()];
        let products = self.filter_lags.chunks_exact_mut(taps);
        for (((filtered, h), scale), rh) in self.filtered.iter_mut().zip(filters).zip(scales).zip(products) {
            lags::product(h, r, rh);
            let mean = dot(h, m);
            let square = dot(h, rh);
            // Rounding may make the variance of a constant negative. A NaN stays.
            let variance = square - mean * mean;
            let variance = finite_variance(if variance < 0.0 { 0.0 } else { variance })?;
            let slope = scale.to_f64() / (variance + self.batch_norm.epsilon).sqrt();
            *filtered = Filtered { mean, variance, slope };
        }
        Ok(())
    }

    /// Computes the gradients of scales and shifts, the gradient of the temporal filters through
    /// their statistics, and the next running statistics.
    fn norm_gradients(&self, values: &[T], count: usize, gradient: &mut [T]) {
        let (shape, BatchNorm { momentum, epsilon }) = (&self.shape, self.batch_norm);
        let mut set = |place: usize, value: f64| gradient[place] = T::from_f64(value);
        let running = |place: usize, batch: f64| values[place].to_f64() * (1.0 - momentum) + momentum * batch;
        let unbiased = |variance: f64, n: usize| variance * n as f64 / (n.max(2) - 1) as f64;

        let [first, second] = &self.norms;
        let [places1, places2, places3] = &self.places.norms;
        let n = count * shape.pooled[0];
        for row in 0..shape.second {
            let inverse = 1.0 / (second.batch.variances[row] + epsilon).sqrt();
            set(places3.scale.start + row, inverse * second.pulls[1][row]);
            set(places3.shift.start + row, second.pulls[0][row]);
            set(places3.mean.start + row, running(places3.mean.start + row, second.batch.means[row]));
            let variance = unbiased(second.batch.variances[row], n);
            set(places3.variance.start + row, running(places3.variance.start + row, variance));
        }
        let n = count * shape.samples;
        let spatial = &self.kernels.weights.spatial;
        for (filter, filtered) in self.filtered.iter().enumerate() {
            let Filtered { mean, variance, slope } = *filtered;
            let shift = values[places1.shift.start + filter].to_f64();
            // The gradient with respect to the slope.
            let mut pull = 0.0;
            for row in filter * shape.depth..(filter + 1) * shape.depth {
                let inverse = 1.0 / (slope * slope * first.batch.variances[row] + epsilon).sqrt();
                let scale = values[places2.scale.start + row].to_f64();
                let product = first.pulls[1][row];
                // BN2 removes the scale of BN1 except for its epsilon, so only this gradient
                // remains.
                pull += scale * epsilon * inverse.powi(3) * product;
                set(places2.scale.start + row, inverse * slope * product);
                set(places2.shift.start + row, first.pulls[0][row]);
                let total = spatial_total(shape, spatial, row);
                let batch_mean = slope * first.batch.means[row] + (shift - slope * mean) * total;
                set(places2.mean.start + row, running(places2.mean.start + row, batch_mean));
                let batch_variance = unbiased(slope * slope * first.batch.variances[row], n);
                set(places2.variance.start + row, running(places2.variance.start + row, batch_variance));
            }
            set(places1.scale.start + filter, pull / (variance + epsilon).sqrt());
            // BN2 removes a constant.
            set(places1.shift.start + filter, 0.0);
            set(places1.mean.start + filter, running(places1.mean.start + filter, mean));
            let batch_variance = unbiased(variance, n * shape.channels);
            set(places1.variance.start + filter, running(places1.variance.start + filter, batch_variance));
        }
        let m = &self.lags[..shape.temporal_taps];
        for (filter, filtered) in self.filtered.iter().enumerate() {
            let Filtered { mean, variance, slope } = *filtered;
            let start = self.places.temporal.start + filter * shape.temporal_taps;
            let rh = &self.filter_lags[filter * shape.temporal_taps..(filter + 1) * shape.temporal_taps];
            let scale_pull = gradient[places1.scale.start + filter].to_f64() * (variance + epsilon).sqrt();
            let pull = -scale_pull * slope / (2.0 * (variance + epsilon));
            let entries = gradient[start..start + shape.temporal_taps].iter_mut();
            for ((entry, rh), m) in entries.zip(rh).zip(m) {
                *entry += T::from_f64(2.0 * pull * (rh - mean * m));
            }
        }
    }

    pub(super) fn logits(
        &mut self,
        parameters: &ParamSet<T>,
        examples: &EegExamples<T>,
        batch: &[usize],
        logits: &mut [T],
    ) -> Result<(), Error> {
        check_batch(batch, examples.trials.len())?;
        let (found, expected) = (logits.len(), batch.len() * self.shape.classes);
        if found != expected {
            return Err(Error::Length { what: "the output", expected, found });
        }
        let (shape, simd, values) = (self.shape, self.simd, parameters.values());
        // At most the size of a large training batch, so that memory does not grow with the number
        // of trials.
        for (batch, logits) in batch.chunks(4 * TILE).zip(logits.chunks_mut(4 * TILE * shape.classes)) {
            self.load(parameters, examples, batch)?;
            let BatchNorm { epsilon, .. } = self.batch_norm;
            let [places1, places2, places3] = &self.places.norms;
            let [first, second] = &mut self.norms;
            let running = |places: &NormPlaces, row: usize| {
                let [scale, shift, mean, variance] =
                    [&places.scale, &places.shift, &places.mean, &places.variance]
                        .map(|place| values[place.start + row].to_f64());
                (scale / (variance + epsilon).sqrt(), mean, shift)
            };
            for row in 0..shape.first {
                let (slope1, mean1, shift1) = running(places1, row / shape.depth);
                let (slope2, mean2, shift2) = running(places2, row);
                let total = spatial_total(&shape, &self.kernels.weights.spatial, row);
                first.scale[row] = T::from_f64(slope1 * slope2);
                let constant = (shift1 - slope1 * mean1) * total;
                first.offset[row] = T::from_f64(slope2 * (constant - mean2) + shift2);
            }
            for row in 0..shape.second {
                let (slope, mean, shift) = running(places3, row);
                second.scale[row] = T::from_f64(slope);
                second.offset[row] = T::from_f64(shift - slope * mean);
            }
            let tiles = &mut self.tiles[..batch.len().div_ceil(TILE)];
            let kernels = &self.kernels;
            in_tiles(&mut self.workers, tiles, &|worker, tile| {
                for slot in &mut tile.slots[..tile.used] {
                    first_block(&shape, simd, kernels, examples, slot);
                    second_block(&shape, simd, kernels, first, false, slot);
                    activate_second(&shape, simd, second, false, slot);
                    head(&shape, simd, kernels, slot, &mut worker.logits);
                    slot.logits.copy_from_slice(&worker.logits);
                }
                Ok(())
            })?;
            for (row, slot) in logits.chunks_exact_mut(shape.classes).zip(slots(tiles)) {
                row.copy_from_slice(&slot.logits);
            }
        }
        match logits.iter().find(|logit| !logit.is_finite()) {
            None => Ok(()),
            Some(logit) => Err(Error::Diverged { what: "a logit", value: logit.to_f64() }),
        }
    }
}

/// Returns the slots in use, in the order of the batch.
fn slots<T>(tiles: &[Tile<T>]) -> impl Iterator<Item = &Slot<T>> + Clone {
    tiles.iter().flat_map(|tile| &tile.slots[..tile.used])
}

/// Returns the sum of the weights of a spatial filter: its output for a constant input.
fn spatial_total<T: Real>(shape: &Shape, spatial: &[T], row: usize) -> f64 {
    spatial[row..].iter().step_by(shape.first_lanes).map(|w| w.to_f64()).sum()
}

fn dot<T: Real>(h: &[T], row: &[f64]) -> f64 {
    h.iter().zip(row).map(|(h, x)| h.to_f64() * x).sum()
}

/// Assigns a run of tiles to each worker.
fn in_tiles<T: Real>(
    workers: &mut [Worker<T>],
    tiles: &mut [Tile<T>],
    work: &(impl Fn(&mut Worker<T>, &mut Tile<T>) -> Result<(), Error> + Sync),
) -> Result<(), Error> {
    if workers.len() == 1 || tiles.len() == 1 {
        let worker = &mut workers[0];
        return tiles.iter_mut().try_for_each(|tile| work(worker, tile));
    }
    let (left, right) = workers.split_at_mut(workers.len().div_ceil(2));
    let (left_tiles, right_tiles) = tiles.split_at_mut(tiles.len().div_ceil(2));
    let (a, b) = rayon::join(|| in_tiles(left, left_tiles, work), || in_tiles(right, right_tiles, work));
    a.and(b)
}
