//! EEGNet in its textbook form, with every tensor: the reference for the shortcut. With dual
//! numbers it also gives exact derivatives.

use std::ops::{Add, Mul, Sub};

use fedspd_nn::{EegExamples, EegNetConfig, ParamSet};

/// A number type for the network.
pub(crate) trait Number:
    Copy + From<f64> + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// Applies a function, given by its value and its derivative at this number.
    fn apply(self, function: impl Fn(f64) -> (f64, f64)) -> Self;
}

impl Number for f64 {
    fn apply(self, function: impl Fn(f64) -> (f64, f64)) -> Self {
        function(self).0
    }
}

/// A number and its derivative, for exact differentiation without a step size.
#[derive(Clone, Copy)]
pub(crate) struct Dual {
    pub(crate) value: f64,
    pub(crate) slope: f64,
}

impl From<f64> for Dual {
    fn from(value: f64) -> Self {
        Self { value, slope: 0.0 }
    }
}

impl Add for Dual {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { value: self.value + other.value, slope: self.slope + other.slope }
    }
}

impl Sub for Dual {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self { value: self.value - other.value, slope: self.slope - other.slope }
    }
}

impl Mul for Dual {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self { value: self.value * other.value, slope: self.slope * other.value + self.value * other.slope }
    }
}

impl Number for Dual {
    fn apply(self, function: impl Fn(f64) -> (f64, f64)) -> Self {
        let (value, slope) = function(self.value);
        Self { value, slope: slope * self.slope }
    }
}

/// Rows, each a list of signals.
type Rows<N> = Vec<Vec<Vec<N>>>;

fn sum<N: Number>(numbers: impl Iterator<Item = N>) -> N {
    numbers.fold(N::from(0.0), |sum, x| sum + x)
}

/// Computes a convolution that keeps the length.
fn same<N: Number>(signal: &[N], taps: &[N]) -> Vec<N> {
    let left = (taps.len() - 1) / 2;
    let at = |i: usize| if i >= left && i - left < signal.len() { signal[i - left] } else { N::from(0.0) };
    (0..signal.len()).map(|i| sum(taps.iter().enumerate().map(|(k, &w)| w * at(i + k)))).collect()
}

fn normalise<N: Number>(rows: &mut Rows<N>, scale: &[N], shift: &[N], epsilon: f64) {
    for (row, signals) in rows.iter_mut().enumerate() {
        let share = N::from(1.0 / signals.iter().map(Vec::len).sum::<usize>() as f64);
        let mean = sum(signals.iter().flatten().copied()) * share;
        let variance = sum(signals.iter().flatten().map(|&x| (x - mean) * (x - mean))) * share;
        let inverse = (variance + N::from(epsilon)).apply(|v| (1.0 / v.sqrt(), -0.5 / (v * v.sqrt())));
        for x in signals.iter_mut().flatten() {
            *x = scale[row] * inverse * (*x - mean) + shift[row];
        }
    }
}

fn elu_mean<N: Number>(signal: &[N], pool: usize) -> Vec<N> {
    let elu = |x: N| x.apply(|x| if x > 0.0 { (x, 1.0) } else { (x.exp_m1(), x.exp()) });
    let mean = |part: &[N]| sum(part.iter().map(|&x| elu(x))) * N::from(1.0 / pool as f64);
    signal.chunks_exact(pool).map(mean).collect()
}

/// Computes the mean loss of a batch in training, without dropout, at `values` in the layout of
/// `parameters`.
pub(crate) fn loss<N: Number>(
    config: &EegNetConfig,
    parameters: &ParamSet<f64>,
    values: &[N],
    examples: &EegExamples<f64>,
    batch: &[usize],
) -> N {
    let get = |name: &str| &values[parameters.layout().get(name).unwrap().range()];
    let norm = |rows: &mut Rows<N>, name: &str| {
        let (scale, shift) = (get(&format!("{name}.scale")), get(&format!("{name}.shift")));
        normalise(rows, scale, shift, config.batch_norm.epsilon);
    };
    let (c, t, b) = (config.channels, config.samples, batch.len());
    // One filter at a time: the signals of all trials and channels.
    let mut filtered: Rows<N> = get("temporal.weight")
        .chunks_exact(config.temporal_taps)
        .map(|taps| {
            let signal = |place: usize| {
                let trial = examples.trials().trial(batch[place / c]);
                let channel: Vec<N> = trial[place % c..].iter().step_by(c).map(|&x| N::from(x)).collect();
                same(&channel, taps)
            };
            (0..b * c).map(signal).collect()
        })
        .collect();
    norm(&mut filtered, "norm1");
    let mut first: Rows<N> = get("spatial.weight")
        .chunks_exact(c)
        .enumerate()
        .map(|(row, weights)| {
            let signals = &filtered[row / config.depth];
            let mixed = |trial: usize| {
                let at = |i: usize| sum((0..c).map(|k| weights[k] * signals[trial * c + k][i]));
                (0..t).map(at).collect()
            };
            (0..b).map(mixed).collect()
        })
        .collect();
    norm(&mut first, "norm2");
    let depthwise: Rows<N> = first
        .iter()
        .zip(get("depthwise.weight").chunks_exact(config.separable_taps))
        .map(|(signals, taps)| {
            signals.iter().map(|signal| same(&elu_mean(signal, config.pools[0]), taps)).collect()
        })
        .collect();
    let mut second: Rows<N> = get("pointwise.weight")
        .chunks_exact(first.len())
        .map(|weights| {
            let mixed = |trial: usize| {
                let at = |i: usize| sum(weights.iter().zip(&depthwise).map(|(&w, row)| w * row[trial][i]));
                (0..depthwise[0][trial].len()).map(at).collect()
            };
            (0..b).map(mixed).collect()
        })
        .collect();
    norm(&mut second, "norm3");
    let losses = batch.iter().enumerate().map(|(place, &trial)| {
        let features: Vec<N> = second.iter().flat_map(|row| elu_mean(&row[place], config.pools[1])).collect();
        let rows = get("head.weight").chunks_exact(features.len()).zip(get("head.bias"));
        let logits: Vec<N> =
            rows.map(|(row, &bias)| bias + sum(row.iter().zip(&features).map(|(&w, &v)| w * v))).collect();
        let total = sum(logits.iter().map(|z| z.apply(|z| (z.exp(), z.exp()))));
        total.apply(|total| (total.ln(), 1.0 / total)) - logits[examples.trials().labels()[trial]]
    });
    sum(losses) * N::from(1.0 / b as f64)
}
