//! Resampling by a polyphase filter.

use crate::Error;

/// The largest numerator or denominator of a ratio of rates.
const LARGEST_FACTOR: u64 = 1000;

/// The largest ratio. A recording at a much lower rate contains almost nothing of the requested
/// band, and a damaged header must not determine the memory use.
const LARGEST_RATIO: usize = 16;

/// The Kaiser window's parameter, and the zero crossings of the sinc on each side, as in
/// `scipy.signal.resample_poly`.
const BETA: f64 = 5.0;
const CROSSINGS: usize = 10;

/// Resamples from rate `from` to rate `to`. Samples are stored sample by sample with all channels
/// side by side.
///
/// The result has `ceil(length up / down)` samples, where `up / down` is the ratio of the rates.
/// The signal is zero beyond its ends, as in `scipy.signal.resample_poly`.
///
/// # Errors
/// [`Error::Rates`] unless the ratio of the rates is a fraction of whole numbers up to 1000, and at
/// most 16.
///
/// # Panics
/// If the samples are not a multiple of the channels.
pub fn resample(channels: usize, samples: &[f64], from: f64, to: f64) -> Result<Vec<f64>, Error> {
    assert!(channels > 0 && samples.len().is_multiple_of(channels), "{channels} channels");
    let (up, down) = ratio(from, to)?;
    let taps = low_pass(up, down);
    let (length, half) = (samples.len() / channels, taps.len() / 2);
    let resampled = resampled_length(length, (up, down));
    let mut out = vec![0.0; resampled * channels];
    for (m, row) in out.chunks_exact_mut(channels).enumerate() {
        // y[m] = sum_n x[n] h[m down - n up + half]
        let place = m * down + half;
        let first = (place + 1).saturating_sub(taps.len()).div_ceil(up);
        for n in first..=(place / up).min(length.saturating_sub(1)) {
            let tap = taps[place - n * up];
            for (y, x) in row.iter_mut().zip(&samples[n * channels..]) {
                *y += tap * x;
            }
        }
    }
    Ok(out)
}

/// `to / from` in lowest terms.
///
/// # Errors
/// [`Error::Rates`] unless numerator and denominator are at most 1000, and the ratio is at most 16.
pub(crate) fn ratio(from: f64, to: f64) -> Result<(usize, usize), Error> {
    let fraction = |down: u64| {
        let up = (to / from * down as f64).round();
        let near = (up * from - to * down as f64).abs() <= 1e-9 * to * down as f64;
        (near && up >= 1.0 && up <= LARGEST_FACTOR as f64).then_some((up as usize, down as usize))
    };
    let found = if from > 0.0 && to > 0.0 { (1..=LARGEST_FACTOR).find_map(fraction) } else { None };
    found.filter(|(up, down)| *up <= LARGEST_RATIO * down).ok_or(Error::Rates { from, to })
}

/// The number of samples after resampling.
pub(crate) fn resampled_length(length: usize, (up, down): (usize, usize)) -> usize {
    (length * up).div_ceil(down)
}

/// A windowed sinc with its cut-off at the lower of the two Nyquist frequencies, and gain `up`.
fn low_pass(up: usize, down: usize) -> Vec<f64> {
    let slowest = up.max(down);
    let half = CROSSINGS * slowest;
    let mut taps: Vec<f64> = (0..=2 * half)
        .map(|i| {
            let t = i as f64 - half as f64;
            let x = std::f64::consts::PI * t / slowest as f64;
            let sinc = if t == 0.0 { 1.0 } else { x.sin() / x };
            let window = bessel_i0(BETA * (1.0 - (t / half as f64).powi(2)).max(0.0).sqrt());
            sinc * window
        })
        .collect();
    let sum: f64 = taps.iter().sum();
    for tap in &mut taps {
        *tap *= up as f64 / sum;
    }
    taps
}

/// The modified Bessel function of order zero, by its power series.
fn bessel_i0(x: f64) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    for k in 1..40 {
        term *= (x / (2.0 * f64::from(k))).powi(2);
        sum += term;
    }
    sum
}
