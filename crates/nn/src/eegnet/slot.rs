//! The memory of one trial of a batch during a step.

use fedspd_manifold::Real;
use rand::Rng;

use super::aligned::Aligned;
use super::norm::{Moments, Pulls};
use super::shape::Shape;
use super::weights::Weights;
use crate::model::Dropout;

/// Intermediate results of a trial for later passes. Tensors are `[time][rows]`.
pub(super) struct Slot<T> {
    /// Index of the trial in the examples.
    pub(super) trial: usize,
    pub(super) label: usize,
    /// After the spatial mixing, padded with zeros for the temporal convolution.
    pub(super) mixed: Aligned<T>,
    /// After both convolutions of the first block.
    pub(super) first: Aligned<T>,
    /// After ELU; in the backward pass, the gradient with respect to the normalised tensor.
    pub(super) first_activated: Aligned<T>,
    /// After the first pooling, padded with zeros for the depthwise convolution.
    pub(super) pooled: Aligned<T>,
    /// After the depthwise convolution.
    pub(super) depthwise: Aligned<T>,
    /// After the pointwise convolution.
    pub(super) second: Aligned<T>,
    pub(super) second_activated: Aligned<T>,
    /// The input of the head.
    pub(super) features: Aligned<T>,
    /// Dropout masks after each pooling: 0, or one over the probability of being kept; empty
    /// without dropout.
    pub(super) kept: [Aligned<T>; 2],
    pub(super) first_moments: Moments<T>,
    pub(super) second_moments: Moments<T>,
    pub(super) first_pulls: Pulls<T>,
    pub(super) second_pulls: Pulls<T>,
    pub(super) loss: T,
    pub(super) logits: Vec<T>,
}

impl<T: Real> Slot<T> {
    pub(super) fn new(shape: &Shape, dropout: bool) -> Self {
        let zeros = |samples: usize, rows: usize| Aligned::zeros(samples * rows);
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

    /// Draws the dropout masks, sample by sample and row by row, from the trial's own generator. A
    /// word of 16 bits decides, so the probability of keeping a number is a multiple of 2^-16.
    /// Numbers are divided by this probability, so the mean is exact.
    pub(super) fn draw(&mut self, shape: &Shape, dropout: Dropout, place: u64, keep: f64) {
        let bound = (keep * 65536.0).round_ties_even().max(1.0) as u32;
        let scale = T::from_f64(65536.0 / f64::from(bound));
        let value = |word: u16| if u32::from(word) < bound { scale } else { T::ZERO };
        let mut words = Words { rng: dropout.stream.item(dropout.seen + place), bytes: [0; 256], used: 256 };
        let layers = [(shape.first, shape.first_lanes), (shape.second, shape.second_lanes)];
        for (kept, (rows, lanes)) in self.kept.iter_mut().zip(layers) {
            if rows == lanes {
                words.fill(kept, value);
            } else {
                kept.chunks_exact_mut(lanes).for_each(|sample| words.fill(&mut sample[..rows], value));
            }
        }
    }
}

/// Random 16-bit words. They are drawn many at a time, because the generator makes four blocks of
/// 64 bytes as fast as one.
struct Words<R> {
    rng: R,
    bytes: [u8; 256],
    used: usize,
}

impl<R: Rng> Words<R> {
    /// Fills entries with `value` of the next words.
    fn fill<T>(&mut self, mut places: &mut [T], value: impl Fn(u16) -> T) {
        while !places.is_empty() {
            if self.used == self.bytes.len() {
                self.rng.fill_bytes(&mut self.bytes);
                self.used = 0;
            }
            let words = self.bytes[self.used..].chunks_exact(2);
            let (now, later) = places.split_at_mut(places.len().min(words.len()));
            self.used += 2 * now.len();
            for (place, word) in now.iter_mut().zip(words) {
                *place = value(u16::from_le_bytes([word[0], word[1]]));
            }
            places = later;
        }
    }
}

/// A run of trials whose gradients are summed in order.
pub(super) struct Tile<T> {
    /// The index of its first trial in the batch.
    pub(super) first: usize,
    pub(super) slots: Vec<Slot<T>>,
    /// The number of slots in use.
    pub(super) used: usize,
    pub(super) sums: Weights<T>,
}
