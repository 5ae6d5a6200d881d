//! Filtering forward and backward, in lanes across channels.

use fedspd_manifold::simd::{Kernel, Lanes, Simd};

use super::{Band, Section, band_pass};
use crate::Error;

/// A filter run forward and backward: no phase, twice the attenuation.
///
/// As in MNE: the signal is padded at both ends by its odd reflection, as long as the filter rings; each pass starts in the steady state of
/// its first sample.
#[derive(Clone, Debug)]
pub struct ZeroPhase {
    sections: Vec<Section>,
    /// For each section, its state after an endless input of ones.
    steady: Vec<[f64; 2]>,
    padding: usize,
}

/// Samples that all sections process before the next ones come: a block of them stays in the first-level cache.
const BLOCK: usize = 256;

impl ZeroPhase {
    /// The band-pass that MNE's `raw.filter(low, high, method="iir")` uses.
    ///
    /// # Errors
    /// [`Error::Band`] unless `0 < low < high < sfreq / 2`.
    pub fn band_pass(band: Band, sfreq: f64) -> Result<Self, Error> {
        let sections = band_pass(band, sfreq)?;
        let (steady, padding) = (steady_states(&sections), ringing(&sections));
        Ok(Self { sections, steady, padding })
    }

    /// The sections.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Samples of padding at each end of a long signal; a shorter one has at most its length less one.
    pub fn padding(&self) -> usize {
        self.padding
    }

    /// Filters samples (one after the other, each with all channels) in place.
    ///
    /// # Panics
    /// If the samples are not a multiple of the channels.
    pub fn apply(&self, simd: Simd, channels: usize, samples: &mut [f64]) {
        assert!(channels > 0 && samples.len().is_multiple_of(channels), "{channels} channels");
        if !samples.is_empty() {
            simd.run(Pass { filter: self, channels, samples });
        }
    }
}

/// The state of each section after an endless input of ones to the first.
fn steady_states(sections: &[Section]) -> Vec<[f64; 2]> {
    let mut input = 1.0;
    let state = |&Section { b, a }: &Section| {
        // y = g x with g the gain at zero frequency; then s0 = y - b0 x and s1 = b2 x - a2 y.
        let gain = b.iter().sum::<f64>() / (1.0 + a[0] + a[1]);
        let states = [(gain - b[0]) * input, (b[2] - a[1] * gain) * input];
        input *= gain;
        states
    };
    sections.iter().map(state).collect()
}

/// The index of the last sample of the impulse response above a thousandth of its peak, looking at a thousand samples at a time as MNE does.
fn ringing(sections: &[Section]) -> usize {
    const CHUNK: usize = 1000;
    const CHUNKS: usize = 100;
    let mut states = vec![[0.0; 2]; sections.len()];
    let (mut threshold, mut last) = (0.0_f64, CHUNK);
    for chunk in 0..CHUNKS {
        let response: Vec<f64> = (0..CHUNK)
            .map(|t| {
                let impulse = if chunk == 0 && t == 0 { 1.0 } else { 0.0 };
                let cascade = sections.iter().zip(&mut states);
                cascade.fold(impulse, |x, (Section { b, a }, state)| {
                    let y = b[0] * x + state[0];
                    *state = [b[1] * x - a[0] * y + state[1], b[2] * x - a[1] * y];
                    y
                })
            })
            .map(f64::abs)
            .collect();
        threshold = response.iter().fold(threshold, |threshold, h| threshold.max(0.001 * h));
        match response.iter().rposition(|&h| h > threshold) {
            Some(index) => last = index,
            None => return chunk.saturating_sub(1) * CHUNK + last,
        }
    }
    CHUNK * CHUNKS
}

struct Pass<'a> {
    filter: &'a ZeroPhase,
    channels: usize,
    samples: &'a mut [f64],
}

impl Kernel<f64> for Pass<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Scalar = f64>>(self) {
        let (channels, length) = (self.channels, self.samples.len() / self.channels);
        let padding = self.filter.padding.min(length - 1);
        let mut lanes = vec![0.0; (length + 2 * padding) * V::WIDTH];
        let mut states = vec![[V::zero(); 2]; self.filter.sections.len()];
        for first in (0..channels).step_by(V::WIDTH) {
            let width = V::WIDTH.min(channels - first);
            let rows = lanes[padding * V::WIDTH..].chunks_exact_mut(V::WIDTH);
            for (row, sample) in rows.zip(self.samples.chunks_exact(channels)) {
                row[..width].copy_from_slice(&sample[first..first + width]);
            }
            reflect::<V>(&mut lanes, padding, length);
            both_ways::<V>(self.filter, &mut states, &mut lanes);
            let rows = lanes[padding * V::WIDTH..].chunks_exact(V::WIDTH);
            for (row, sample) in rows.zip(self.samples.chunks_exact_mut(channels)) {
                sample[first..first + width].copy_from_slice(&row[..width]);
            }
        }
    }
}

/// Fills the padding with the odd reflections `2 x_0 - x_i` of the signal between.
#[inline(always)]
fn reflect<V: Lanes<Scalar = f64>>(lanes: &mut [f64], padding: usize, length: usize) {
    let at = |row: usize| row * V::WIDTH..(row + 1) * V::WIDTH;
    let (start, end) = (padding, padding + length - 1);
    let first = V::load(&lanes[at(start)]) * V::splat(2.0);
    let last = V::load(&lanes[at(end)]) * V::splat(2.0);
    for i in 1..=padding {
        let (before, after) = (V::load(&lanes[at(start + i)]), V::load(&lanes[at(end - i)]));
        (first - before).store(&mut lanes[at(start - i)]);
        (last - after).store(&mut lanes[at(end + i)]);
    }
}

#[inline(always)]
fn both_ways<V: Lanes<Scalar = f64>>(filter: &ZeroPhase, states: &mut [[V; 2]], lanes: &mut [f64]) {
    start(filter, states, V::load(&lanes[..V::WIDTH]));
    for block in lanes.chunks_mut(BLOCK * V::WIDTH) {
        for (section, state) in filter.sections.iter().zip(states.iter_mut()) {
            section_pass::<V>(section, state, block.chunks_exact_mut(V::WIDTH));
        }
    }
    start(filter, states, V::load(&lanes[lanes.len() - V::WIDTH..]));
    for block in lanes.rchunks_mut(BLOCK * V::WIDTH) {
        for (section, state) in filter.sections.iter().zip(states.iter_mut()) {
            section_pass::<V>(section, state, block.chunks_exact_mut(V::WIDTH).rev());
        }
    }
}

/// The steady state for an endless input of what comes first.
#[inline(always)]
fn start<V: Lanes<Scalar = f64>>(filter: &ZeroPhase, states: &mut [[V; 2]], first: V) {
    for (state, steady) in states.iter_mut().zip(&filter.steady) {
        *state = [first * V::splat(steady[0]), first * V::splat(steady[1])];
    }
}

#[inline(always)]
fn section_pass<'a, V: Lanes<Scalar = f64>>(
    section: &Section,
    state: &mut [V; 2],
    rows: impl Iterator<Item = &'a mut [f64]>,
) {
    let (b0, b1, b2) = (V::splat(section.b[0]), V::splat(section.b[1]), V::splat(section.b[2]));
    let (a1, a2) = (V::splat(section.a[0]), V::splat(section.a[1]));
    let [mut s0, mut s1] = *state;
    for row in rows {
        let x = V::load(row);
        let y = b0.mul_add(x, s0);
        s0 = a1.neg_mul_add(y, b1.mul_add(x, s1));
        s1 = a2.neg_mul_add(y, b2 * x);
        y.store(row);
    }
    *state = [s0, s1];
}
