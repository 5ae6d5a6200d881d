//! Lag statistics of trials: all that batch normalisation after the temporal convolution needs to know of the data.
//!
//! With `x~` a trial padded by zeros (`p` before), over channels `c` and output samples `t`:
//!
//! ```text
//! m[k]    = sum x~[c, t+k-p]                    mean of the convolution with h:      h . m / N
//! R[k, l] = sum x~[c, t+k-p] x~[c, t+l-p]       mean of its square:              h^T R h / N
//! ```
//!
//! A row of R follows from the one before by what enters and leaves the window, `R[k+1, l+1] = R[k, l] - <x~[k-p], x~[l-p]> + <x~[T+k-p], x~[T+l-p]>`, so
//! only the first row is a sum over all samples.

use fedspd_manifold::Real;

use super::examples::RawTrials;

/// The statistics of each trial: `m`, then the rows of `R`.
#[derive(Clone, Debug)]
pub(super) struct Lags<T> {
    taps: usize,
    values: Vec<T>,
}

impl<T: Real> Lags<T> {
    /// Of all trials, for filters with so many taps.
    pub(super) fn new(trials: &RawTrials<T>, taps: usize) -> Self {
        use rayon::prelude::*;
        let mut values = vec![T::ZERO; trials.len() * size(taps)];
        values.par_chunks_exact_mut(size(taps)).enumerate().for_each_init(
            || vec![0.0; size(taps)],
            |scratch, (trial, out)| {
                of_trial(trials, trial, taps, scratch);
                for (out, &value) in out.iter_mut().zip(&*scratch) {
                    *out = T::from_f64(value);
                }
            },
        );
        Self { taps, values }
    }

    pub(super) fn taps(&self) -> usize {
        self.taps
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.values[..])
    }

    /// `m` and `R` of a trial.
    pub(super) fn trial(&self, trial: usize) -> &[T] {
        &self.values[trial * size(self.taps)..(trial + 1) * size(self.taps)]
    }
}

/// The numbers of one trial.
pub(super) fn size(taps: usize) -> usize {
    taps * (taps + 1)
}

fn of_trial<T: Real>(trials: &RawTrials<T>, trial: usize, taps: usize, out: &mut [f64]) {
    let (x, channels) = (trials.trial(trial), trials.channels());
    let length = trials.length();
    let pad = super::shape::padding(taps);
    // The sample that tap k sees at output sample t, if it is inside the trial.
    let row = |t: usize, k: usize| {
        let place = (t + k).checked_sub(pad).filter(|&place| place < length)?;
        Some(&x[place * channels..(place + 1) * channels])
    };
    let dot = |a: Option<&[T]>, b: Option<&[T]>| match (a, b) {
        (Some(a), Some(b)) => a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a.to_f64() * b.to_f64()),
        _ => 0.0,
    };
    let total = |a: Option<&[T]>| a.map_or(0.0, |a| a.iter().fold(0.0, |sum, a| sum + a.to_f64()));
    let (m, r) = out.split_at_mut(taps);
    m[0] = (0..length).map(|t| total(row(t, 0))).sum();
    for k in 1..taps {
        m[k] = m[k - 1] - total(row(0, k - 1)) + total(row(length, k - 1));
    }
    for l in 0..taps {
        r[l] = (0..length).map(|t| dot(row(t, 0), row(t, l))).sum();
    }
    for k in 1..taps {
        for l in k..taps {
            let leaves = dot(row(0, k - 1), row(0, l - 1));
            let enters = dot(row(length, k - 1), row(length, l - 1));
            r[k * taps + l] = r[(k - 1) * taps + l - 1] - leaves + enters;
        }
    }
    for k in 1..taps {
        for l in 0..k {
            r[k * taps + l] = r[l * taps + k];
        }
    }
}
