//! The memory of one trial of a batch, from the first pass of a step to the last.

use fedspd_manifold::Real;
use rand::Rng;

use super::norm::{Moments, Pulls};
use super::shape::Shape;
use super::weights::Weights;
use crate::model::Dropout;

/// What a trial leaves behind for the passes to come. Tensors are `[time][rows]`.
pub(super) struct Slot<T> {
    /// Which trial of the examples.
    pub(super) trial: usize,
    pub(super) label: usize,
    /// Mixed in space, with zeros around it for the temporal convolution.
    pub(super) mixed: Vec<T>,
    /// After both convolutions of the first block.
    pub(super) first: Vec<T>,
    /// After ELU; on the way back, the gradient with respect to the normalised tensor.
    pub(super) first_activated: Vec<T>,
    /// After the first pooling, with zeros around it for the depthwise convolution.
    pub(super) pooled: Vec<T>,
    /// After the depthwise convolution.
    pub(super) depthwise: Vec<T>,
    /// After the pointwise convolution.
    pub(super) second: Vec<T>,
    pub(super) second_activated: Vec<T>,
    /// What the head sees.
    pub(super) features: Vec<T>,
    /// What is kept after each pooling, 0 or one over the probability of being kept; empty without dropout.
    pub(super) kept: [Vec<T>; 2],
    pub(super) first_moments: Moments<T>,
    pub(super) second_moments: Moments<T>,
    pub(super) first_pulls: Pulls<T>,
    pub(super) second_pulls: Pulls<T>,
    pub(super) loss: T,
    pub(super) logits: Vec<T>,
}

impl<T: Real> Slot<T> {
    pub(super) fn new(shape: &Shape, dropout: bool) -> Self {
        let zeros = |samples: usize, rows: usize| vec![T::ZERO; samples * rows];
        let (f, g) = (shape.first_lanes, shape.second_lanes);
        let kept = |samples: usize, rows: usize| zeros(if dropout { samples } else { 0 }, rows);
        Self {
            trial: 0,
            label: 0,
            mixed: zeros(shape.samples + shape.temporal_taps - 1, f),
            first: zeros(shape.samples, f),
            first_activated: zeros(shape.samples, f),
            pooled: zeros(shape.pooled[0] + shape.separable_taps - 1, f),
            depthwise: zeros(shape.pooled[0], f),
            second: zeros(shape.pooled[0], g),
            second_activated: zeros(shape.pooled[0], g),
            features: zeros(shape.pooled[1], g),
            kept: [kept(shape.pooled[0], f), kept(shape.pooled[1], g)],
            first_moments: Moments::new(f),
            second_moments: Moments::new(g),
            first_pulls: Pulls::new(f),
            second_pulls: Pulls::new(g),
            loss: T::ZERO,
            logits: vec![T::ZERO; shape.classes],
        }
    }

    /// Draws what is kept: sample by sample, row by row, from the trial's own generator. 16 bits decide, so a number is kept with a probability that is a
    /// multiple of 2^-16, and is divided by that one: the mean is exact.
    pub(super) fn draw(&mut self, shape: &Shape, dropout: Dropout, place: u64, keep: f64) {
        let bound = (keep * 65536.0).round_ties_even().max(1.0) as u32;
        let scale = T::from_f64(65536.0 / f64::from(bound));
        let mut rng = dropout.stream.item(dropout.seen + place);
        let (mut bits, mut left) = (0_u32, 0);
        let layers = [(shape.first, shape.first_lanes), (shape.second, shape.second_lanes)];
        for (kept, (rows, lanes)) in self.kept.iter_mut().zip(layers) {
            for sample in kept.chunks_exact_mut(lanes) {
                for kept in &mut sample[..rows] {
                    if left == 0 {
                        (bits, left) = (rng.next_u32(), 2);
                    }
                    *kept = if bits & 0xffff < bound { scale } else { T::ZERO };
                    bits >>= 16;
                    left -= 1;
                }
            }
        }
    }
}

/// A run of trials whose gradients are added up one after the other.
pub(super) struct Tile<T> {
    /// The place of its first trial in the batch.
    pub(super) first: usize,
    pub(super) slots: Vec<Slot<T>>,
    /// How many slots the batch uses.
    pub(super) used: usize,
    pub(super) sums: Weights<T>,
}
