//! The passes of a step for one trial.

use fedspd_manifold::simd::Simd;
use fedspd_manifold::{Left, Real, multiply, multiply_add};

use super::activation::{Activate, Affine, PullBack};
use super::aligned::Aligned;
use super::convolution::{convolve, correlate};
use super::examples::EegExamples;
use super::norm::Norm;
use super::shape::{Shape, padding};
use super::slot::Slot;
use super::weights::Weights;

/// The weights in the layout of the kernels, forward and backward.
pub(super) struct Kernels<T> {
    pub(super) weights: Weights<T>,
    pub(super) temporal_back: Aligned<T>,
    pub(super) depthwise_back: Aligned<T>,
    /// `[in row][out row]`
    pub(super) pointwise_forth: Aligned<T>,
}

/// The scratch memory of one thread.
pub(super) struct Worker<T> {
    /// The gradient after the temporal convolution, padded with zeros.
    pub(super) first: Aligned<T>,
    /// The gradient after the spatial mixture.
    pub(super) mixed: Aligned<T>,
    /// The gradient after the depthwise convolution, padded with zeros, and before it.
    pub(super) depthwise: Aligned<T>,
    pub(super) pooled: Aligned<T>,
    pub(super) second: Aligned<T>,
    pub(super) features: Aligned<T>,
    pub(super) logits: Aligned<T>,
}

/// Mixes channels, then convolves rows.
pub(super) fn first_block<T: Real>(
    shape: &Shape,
    simd: Simd,
    kernels: &Kernels<T>,
    examples: &EegExamples<T>,
    slot: &mut Slot<T>,
) {
    let rows = shape.first_lanes;
    let start = padding(shape.temporal_taps) * rows;
    let mixed = &mut slot.mixed[start..start + shape.samples * rows];
    let size = (shape.samples, shape.channels, rows);
    multiply(simd, Left::Plain, size, examples.trials.trial(slot.trial), &kernels.weights.spatial, mixed);
    convolve(simd, rows, &kernels.weights.temporal, &slot.mixed, &mut slot.first);
}

pub(super) fn second_block<T: Real>(
    shape: &Shape,
    simd: Simd,
    kernels: &Kernels<T>,
    norm: &Norm<T>,
    dropout: bool,
    slot: &mut Slot<T>,
) {
    let (rows, samples) = (shape.first_lanes, shape.pooled[0]);
    let start = padding(shape.separable_taps) * rows;
    Activate {
        rows,
        pool: shape.pools[0],
        scale: &norm.scale,
        offset: &norm.offset,
        input: &slot.first,
        mask: dropout.then_some(&slot.kept[0][..]),
        activated: &mut slot.first_activated,
        out: &mut slot.pooled[start..start + samples * rows],
    }
    .run_on(simd);
    convolve(simd, rows, &kernels.weights.depthwise, &slot.pooled, &mut slot.depthwise);
    let size = (samples, rows, shape.second_lanes);
    multiply(simd, Left::Plain, size, &slot.depthwise, &kernels.pointwise_forth, &mut slot.second);
}

pub(super) fn activate_second<T: Real>(
    shape: &Shape,
    simd: Simd,
    norm: &Norm<T>,
    dropout: bool,
    slot: &mut Slot<T>,
) {
    Activate {
        rows: shape.second_lanes,
        pool: shape.pools[1],
        scale: &norm.scale,
        offset: &norm.offset,
        input: &slot.second,
        mask: dropout.then_some(&slot.kept[1][..]),
        activated: &mut slot.second_activated,
        out: &mut slot.features,
    }
    .run_on(simd);
}

pub(super) fn head<T: Real>(
    shape: &Shape,
    simd: Simd,
    kernels: &Kernels<T>,
    slot: &Slot<T>,
    logits: &mut [T],
) {
    logits.copy_from_slice(&kernels.weights.bias);
    let size = (shape.classes, shape.features(), 1);
    multiply_add(simd, Left::Plain, size, &kernels.weights.head, &slot.features, logits);
}

/// Maps the gradient of the logits to the output of BN3.
#[allow(clippy::too_many_arguments)] // everything that a pass uses, by name
pub(super) fn head_back<T: Real>(
    shape: &Shape,
    simd: Simd,
    kernels: &Kernels<T>,
    norm: &Norm<T>,
    dropout: bool,
    slot: &mut Slot<T>,
    worker: &mut Worker<T>,
    sums: &mut Weights<T>,
) {
    let (classes, features) = (shape.classes, shape.features());
    for (sum, &g) in sums.bias.iter_mut().zip(worker.logits.iter()) {
        *sum += g;
    }
    multiply_add(simd, Left::Plain, (classes, 1, features), &worker.logits, &slot.features, &mut sums.head);
    let size = (1, classes, features);
    multiply(simd, Left::Plain, size, &worker.logits, &kernels.weights.head, &mut worker.features);
    PullBack {
        rows: shape.second_lanes,
        pool: shape.pools[1],
        means: &norm.means,
        input: &slot.second,
        mask: dropout.then_some(&slot.kept[1][..]),
        gradient: &worker.features,
        activated: &mut slot.second_activated,
        pulls: &mut slot.second_pulls,
    }
    .run_on(simd);
}

/// Maps the gradient from the output of BN3 to that of BN2.
#[allow(clippy::too_many_arguments)] // everything that a pass uses, by name
pub(super) fn separable_back<T: Real>(
    shape: &Shape,
    simd: Simd,
    kernels: &Kernels<T>,
    [first, second]: [&Norm<T>; 2],
    dropout: bool,
    slot: &mut Slot<T>,
    worker: &mut Worker<T>,
    sums: &mut Weights<T>,
) {
    let (f, g, samples) = (shape.first_lanes, shape.second_lanes, shape.pooled[0]);
    let [a, b, c] = &second.back;
    Affine {
        rows: g,
        coefficients: [a, b, c],
        gradient: &slot.second_activated,
        input: &slot.second,
        out: &mut worker.second,
    }
    .run_on(simd);
    let size = (g, samples, f);
    multiply_add(simd, Left::Transposed, size, &worker.second, &slot.depthwise, &mut sums.pointwise);
    // Padded with zeros: as many before it as the forward padding has after the signal.
    let start = (shape.separable_taps - 1 - padding(shape.separable_taps)) * f;
    let inner = start..start + samples * f;
    let size = (samples, g, f);
    multiply(
        simd,
        Left::Plain,
        size,
        &worker.second,
        &kernels.weights.pointwise,
        &mut worker.depthwise[inner.clone()],
    );
    correlate(simd, f, &worker.depthwise[inner], &slot.pooled, &mut sums.depthwise);
    convolve(simd, f, &kernels.depthwise_back, &worker.depthwise, &mut worker.pooled);
    PullBack {
        rows: f,
        pool: shape.pools[0],
        means: &first.means,
        input: &slot.first,
        mask: dropout.then_some(&slot.kept[0][..]),
        gradient: &worker.pooled,
        activated: &mut slot.first_activated,
        pulls: &mut slot.first_pulls,
    }
    .run_on(simd);
}

/// Maps the gradient from the output of BN2 to the filters of the first block.
#[allow(clippy::too_many_arguments)] // everything that a pass uses, by name
pub(super) fn first_block_back<T: Real>(
    shape: &Shape,
    simd: Simd,
    kernels: &Kernels<T>,
    norm: &Norm<T>,
    examples: &EegExamples<T>,
    slot: &mut Slot<T>,
    worker: &mut Worker<T>,
    sums: &mut Weights<T>,
) {
    let rows = shape.first_lanes;
    let start = (shape.temporal_taps - 1 - padding(shape.temporal_taps)) * rows;
    let inner = start..start + shape.samples * rows;
    let [a, b, c] = &norm.back;
    Affine {
        rows,
        coefficients: [a, b, c],
        gradient: &slot.first_activated,
        input: &slot.first,
        out: &mut worker.first[inner.clone()],
    }
    .run_on(simd);
    correlate(simd, rows, &worker.first[inner], &slot.mixed, &mut sums.temporal);
    convolve(simd, rows, &kernels.temporal_back, &worker.first, &mut worker.mixed);
    // Rows take the role of channels here, so that the channels fill whole vectors.
    let size = (rows, shape.samples, shape.channels);
    multiply_add(
        simd,
        Left::Transposed,
        size,
        &worker.mixed,
        examples.trials.trial(slot.trial),
        &mut sums.spatial_rows,
    );
}
