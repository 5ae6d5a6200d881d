//! Zero-phase filtering, in SIMD lanes across channels.

use fedspd_manifold::simd::{Kernel, Lanes, Simd};

use super::{Band, Section, band_pass};
use crate::Error;

/// A filter run forward and backward: no phase, twice the attenuation.
///
/// As in MNE, both ends are padded by the odd reflection of the signal, for as long as the filter
/// rings. Each pass starts in the steady state of its first sample.
#[derive(Clone, Debug)]
pub struct ZeroPhase {
    sections: Vec<Section>,
    /// The state of each section after an infinite input of ones.
    steady: Vec<[f64; 2]>,
    padding: usize,
}

/// The number of samples that pass through all sections at a time: a block of one channel group
/// stays in the first-level cache.
const BLOCK: usize = 128;

/// The number of samples in which the slowest response decays to 1/e. Slower filters output only
/// rounding.
const LONGEST_RINGING: f64 = 1e6;

impl ZeroPhase {
    /// Creates the band-pass of MNE's `raw.filter(low, high, method="iir")`.
    ///
    /// # Errors
    /// [`Error::Band`] unless `0 < low < high < sfreq / 2`; [`Error::Unstable`] for a band that is
    /// too narrow or too low for floating-point numbers.
    pub fn band_pass(band: Band, sfreq: f64) -> Result<Self, Error> {
        let sections = band_pass(band, sfreq)?;
        let slowest = sections.iter().map(radius).fold(0.0, f64::max);
        if !(slowest < 1.0 - 1.0 / LONGEST_RINGING) {
            let Band { low, high } = band;
            return Err(Error::Unstable { low, high, sfreq, samples: LONGEST_RINGING });
        }
        let (steady, padding) = (steady_states(&sections), ringing(&sections));
        Ok(Self { sections, steady, padding })
    }

    /// The second-order sections.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The samples of padding at each end of a long signal. A shorter signal is padded by at most
    /// its length less one.
    pub fn padding(&self) -> usize {
        self.padding
    }

    /// Filters samples in place, stored sample by sample with all channels side by side.
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

/// The larger modulus of the two poles of a section, the roots of `z^2 + a1 z + a2`. The response
/// decays by this factor with each sample.
fn radius(section: &Section) -> f64 {
    let [a1, a2] = section.a;
    match a1 * a1 / 4.0 - a2 {
        real if real >= 0.0 => a1.abs() / 2.0 + real.sqrt(),
        _ => a2.sqrt(),
    }
}

/// The state of each section after an infinite input of ones to the first.
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

/// The index of the last sample of the impulse response above a thousandth of its peak. As in MNE,
/// a thousand samples are examined at a time.
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

    /// Each block of samples passes through all sections before the next block, so that memory is
    /// read and written once per direction.
    #[inline(always)]
    fn run<V: Lanes<Scalar = f64>>(self) {
        let Self { filter, channels, samples } = self;
        let length = samples.len() / channels;
        let padding = filter.padding.min(length - 1) * channels;
        let mut padded = [vec![0.0; padding], vec![0.0; padding]];
        reflect(channels, samples, &mut padded);
        let [before, after] = &mut padded;

        let mut cascade = Cascade::<V>::new(filter, channels);
        cascade.start(if padding > 0 { &before[..channels] } else { &samples[..channels] });
        for piece in [&mut before[..], &mut samples[..], &mut after[..]] {
            for block in piece.chunks_mut(BLOCK * channels) {
                cascade.pass(block, false);
            }
        }
        let last =
            if padding > 0 { &after[padding - channels..] } else { &samples[samples.len() - channels..] };
        cascade.start(last);
        for piece in [&mut after[..], &mut samples[..], &mut before[..]] {
            for block in piece.rchunks_mut(BLOCK * channels) {
                cascade.pass(block, true);
            }
        }
    }
}

/// Fills the padding with the odd reflections `2 x_0 - x_i` of the signal.
fn reflect(channels: usize, samples: &[f64], [before, after]: &mut [Vec<f64>; 2]) {
    let last = samples.len() - channels;
    let rows = before.chunks_exact_mut(channels).rev().zip(samples.chunks_exact(channels).skip(1));
    for (row, mirrored) in rows {
        for ((out, x), first) in row.iter_mut().zip(mirrored).zip(&samples[..channels]) {
            *out = 2.0 * first - x;
        }
    }
    let rows = after.chunks_exact_mut(channels).zip(samples.chunks_exact(channels).rev().skip(1));
    for (row, mirrored) in rows {
        for ((out, x), end) in row.iter_mut().zip(mirrored).zip(&samples[last..]) {
            *out = 2.0 * end - x;
        }
    }
}

/// All sections with their states for all channels, in groups of the vector width.
struct Cascade<'a, V> {
    filter: &'a ZeroPhase,
    channels: usize,
    /// The states of each group and section.
    states: Vec<[V; 2]>,
    /// One block of one channel group.
    lanes: Vec<f64>,
}

impl<'a, V: Lanes<Scalar = f64>> Cascade<'a, V> {
    fn new(filter: &'a ZeroPhase, channels: usize) -> Self {
        let states = vec![[V::zero(); 2]; channels.div_ceil(V::WIDTH) * filter.sections.len()];
        Self { filter, channels, states, lanes: vec![0.0; BLOCK * V::WIDTH] }
    }

    /// Sets the steady state for a constant input equal to the first sample.
    #[inline(always)]
    fn start(&mut self, first: &[f64]) {
        let groups = self.states.chunks_exact_mut(self.filter.sections.len());
        for (states, part) in groups.zip(first.chunks(V::WIDTH)) {
            let lanes = &mut self.lanes[..V::WIDTH];
            copy::<V>(part, lanes);
            let first = V::load(lanes);
            for (state, steady) in states.iter_mut().zip(&self.filter.steady) {
                *state = [first * V::splat(steady[0]), first * V::splat(steady[1])];
            }
        }
    }

    /// Filters a block in place, forward or backward.
    #[inline(always)]
    fn pass(&mut self, block: &mut [f64], backward: bool) {
        let (width, channels) = (V::WIDTH, self.channels);
        let groups = self.states.chunks_exact_mut(self.filter.sections.len());
        for (group, states) in groups.enumerate() {
            let part = group * width..channels.min((group + 1) * width);
            let lanes = &mut self.lanes[..block.len() / channels * width];
            for (row, sample) in lanes.chunks_exact_mut(width).zip(block.chunks_exact(channels)) {
                copy::<V>(&sample[part.clone()], row);
            }
            for (section, state) in self.filter.sections.iter().zip(states) {
                if backward {
                    section_pass::<V>(section, state, lanes.chunks_exact_mut(width).rev());
                } else {
                    section_pass::<V>(section, state, lanes.chunks_exact_mut(width));
                }
            }
            for (row, sample) in lanes.chunks_exact(width).zip(block.chunks_exact_mut(channels)) {
                copy::<V>(row, &mut sample[part.clone()]);
            }
        }
    }
}

/// Copies the common number of values. Whole vectors are copied at once, because calls for a few
/// bytes would cost more than the filter.
#[inline(always)]
fn copy<V: Lanes<Scalar = f64>>(from: &[f64], to: &mut [f64]) {
    if from.len() == V::WIDTH && to.len() == V::WIDTH {
        V::load(from).store(to);
    } else {
        let count = from.len().min(to.len());
        to[..count].copy_from_slice(&from[..count]);
    }
}

/// Transposed direct form II: `y = b0 x + s0`, `s0 <- b1 x - a1 y + s1`, `s1 <- b2 x - a2 y`. `y`
/// is substituted, so that each state depends on one operation less of the previous sample.
#[inline(always)]
fn section_pass<'a, V: Lanes<Scalar = f64>>(
    section: &Section,
    state: &mut [V; 2],
    rows: impl Iterator<Item = &'a mut [f64]>,
) {
    let Section { b, a } = *section;
    let (b0, a1, a2) = (V::splat(b[0]), V::splat(a[0]), V::splat(a[1]));
    let (c1, c2) = (V::splat(b[1] - a[0] * b[0]), V::splat(b[2] - a[1] * b[0]));
    let [mut s0, mut s1] = *state;
    for row in rows {
        let x = V::load(row);
        b0.mul_add(x, s0).store(row);
        let next = a1.neg_mul_add(s0, c1.mul_add(x, s1));
        s1 = a2.neg_mul_add(s0, c2 * x);
        s0 = next;
    }
    *state = [s0, s1];
}
