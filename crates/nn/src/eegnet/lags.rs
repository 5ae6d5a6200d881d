//! Lag statistics of trials: the only data that batch normalisation after the temporal convolution
//! needs.
//!
//! With `x~` a trial padded by zeros (`p` before), over channels `c` and output samples `t`:
//!
//! ```text
//! m[k]    = sum x~[c, t+k-p]                    mean of the convolution with h:      h . m / N
//! R[k, l] = sum x~[c, t+k-p] x~[c, t+l-p]       mean of its square:              h^T R h / N
//! ```
//!
//! A row of R follows from the previous one by the samples that enter and leave the window:
//! `R[k+1, l+1] = R[k, l] - <x~[k-p], x~[l-p]> + <x~[T+k-p], x~[T+l-p]>`. Only the first row is a
//! sum over all samples.
//!
//! They are `f64` for any type of samples. The variance is the difference of a mean square and a
//! squared mean, in which a channel offset causes cancellation. R is symmetric, so its upper
//! triangle is enough.

use fedspd_manifold::Real;
use fedspd_manifold::simd::Simd;

use super::convolution::correlate;
use super::examples::RawTrials;
use super::shape::{LANES, padding};

/// The statistics of each trial: `m`, then the rows of R from their diagonals.
#[derive(Clone, Debug)]
pub(super) struct Lags {
    taps: usize,
    values: Vec<f64>,
}

impl Lags {
    /// Computes the statistics of all trials, for filters with `taps` taps.
    pub(super) fn new<T: Real>(simd: Simd, trials: &RawTrials<T>, taps: usize) -> Self {
        use rayon::prelude::*;
        let mut values = vec![0.0; trials.len() * size(taps)];
        values.par_chunks_exact_mut(size(taps)).enumerate().for_each_init(
            || Group::new(trials, taps),
            |group, (trial, out)| group.add_trial(simd, trials, trial, out),
        );
        Self { taps, values }
    }

    pub(super) fn taps(&self) -> usize {
        self.taps
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.values[..])
    }

    /// Returns `m` and R of a trial.
    pub(super) fn trial(&self, trial: usize) -> &[f64] {
        &self.values[trial * size(self.taps)..(trial + 1) * size(self.taps)]
    }
}

/// Returns the number of values per trial.
pub(super) fn size(taps: usize) -> usize {
    taps + taps * (taps + 1) / 2
}

/// Computes `R h` from the upper triangle of R.
pub(super) fn product<T: Real>(h: &[T], mut triangle: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for k in 0..h.len() {
        let (row, rest) = triangle.split_at(h.len() - k);
        triangle = rest;
        let own = h[k].to_f64();
        let mut sum = row[0] * own;
        // Entries right of the diagonal also count below it.
        for ((below, x), h) in out[k + 1..].iter_mut().zip(&row[1..]).zip(&h[k + 1..]) {
            sum += x * h.to_f64();
            *below += x * own;
        }
        out[k] += sum;
    }
}

/// Some channels of a trial in lanes, and the first row of their R.
struct Group {
    taps: usize,
    length: usize,
    /// `[time][lane]`, with padding around the samples; unused lanes are zero.
    padded: Vec<f64>,
    /// `[lag][lane]`
    first: Vec<f64>,
}

impl Group {
    fn new<T: Real>(trials: &RawTrials<T>, taps: usize) -> Self {
        let length = trials.length();
        Self { taps, length, padded: vec![0.0; (length + taps - 1) * LANES], first: vec![0.0; taps * LANES] }
    }

    /// Adds the statistics of a trial, one group of channels at a time.
    fn add_trial<T: Real>(&mut self, simd: Simd, trials: &RawTrials<T>, trial: usize, out: &mut [f64]) {
        let (x, channels) = (trials.trial(trial), trials.channels());
        for first in (0..channels).step_by(LANES) {
            let used = LANES.min(channels - first);
            let inside = self.padded.chunks_exact_mut(LANES).skip(padding(self.taps));
            for (lanes, sample) in inside.zip(x.chunks_exact(channels)) {
                for (lane, sample) in lanes.iter_mut().zip(&sample[first..first + used]) {
                    *lane = sample.to_f64();
                }
                lanes[used..].fill(0.0);
            }
            self.add(simd, out);
        }
    }

    /// Adds the statistics of the loaded channels.
    fn add(&mut self, simd: Simd, out: &mut [f64]) {
        let (taps, length, pad) = (self.taps, self.length, padding(self.taps));
        self.first.fill(0.0);
        correlate(simd, LANES, &self.padded[..length * LANES], &self.padded, &mut self.first);
        let row = |t: usize| &self.padded[t * LANES..(t + 1) * LANES];
        let (m, r) = out.split_at_mut(taps);
        let mut sum = total(&self.padded[..length * LANES]);
        m[0] += sum;
        for k in 1..taps {
            sum += total(row(length + k - 1)) - total(row(k - 1));
            m[k] += sum;
        }
        // Along the diagonals. Row k starts `taps - k + 1` entries after the previous row.
        for (lag, first) in self.first.chunks_exact(LANES).enumerate() {
            let mut sum = total(first);
            let mut place = lag;
            r[place] += sum;
            for k in 1..taps - lag {
                // Skip the padding, which makes up most of the entering and leaving samples.
                if k + lag <= pad {
                    sum += dot(row(length + k - 1), row(length + k + lag - 1));
                }
                if k > pad {
                    sum -= dot(row(k - 1), row(k + lag - 1));
                }
                place += taps - k + 1;
                r[place] += sum;
            }
        }
    }
}

/// Sums rows of lanes: first over the rows, then over the lanes.
fn total(rows: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    for row in rows.chunks_exact(LANES) {
        for (sum, x) in sums.iter_mut().zip(row) {
            *sum += x;
        }
    }
    sums.iter().sum()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    for (a, b) in a.chunks_exact(4).zip(b.chunks_exact(4)) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.iter().sum()
}
