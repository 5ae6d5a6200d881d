//! Sizes of the tensors.

use super::EegNetConfig;

/// Rows are padded with zeros to a multiple of this, which the lanes of every instruction set
/// divide.
pub(super) const LANES: usize = 16;

/// Returns the number of zeros before a signal that keep its length under a convolution; torch's
/// `same`.
pub(super) fn padding(taps: usize) -> usize {
    (taps - 1) / 2
}

/// Sizes shared by all parts of the network.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) channels: usize,
    pub(super) samples: usize,
    pub(super) classes: usize,
    pub(super) filters: usize,
    pub(super) depth: usize,
    /// Rows after the spatial convolution, without and with padding.
    pub(super) first: usize,
    pub(super) first_lanes: usize,
    /// Rows after the separable convolution, without and with padding.
    pub(super) second: usize,
    pub(super) second_lanes: usize,
    pub(super) temporal_taps: usize,
    pub(super) separable_taps: usize,
    pub(super) pools: [usize; 2],
    /// Samples after each pooling.
    pub(super) pooled: [usize; 2],
}

impl Shape {
    pub(super) fn of(config: &EegNetConfig) -> Self {
        let (first, second) = (config.spatial_rows(), config.rows);
        Self {
            channels: config.channels,
            samples: config.samples,
            classes: config.classes,
            filters: config.filters,
            depth: config.depth,
            first,
            first_lanes: first.next_multiple_of(LANES),
            second,
            second_lanes: second.next_multiple_of(LANES),
            temporal_taps: config.temporal_taps,
            separable_taps: config.separable_taps,
            pools: config.pools,
            pooled: config.pooled(),
        }
    }

    /// Returns the size of the head's input, with padding.
    pub(super) fn features(&self) -> usize {
        self.pooled[1] * self.second_lanes
    }
}
