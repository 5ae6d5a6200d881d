//! The shape of an EEGNet.

use serde::{Deserialize, Serialize};

use crate::params::{Layout, Role, Scope, Tensor};
use crate::{Error, check};

/// Largest number of parameters, and of samples x rows of one trial. Sizes beyond any EEG are
/// refused before allocation.
const MOST_NUMBERS: usize = 1 << 24;
/// Largest number of taps of a temporal filter. Lag statistics take `4 Kt (Kt + 3)` bytes per
/// trial: 67 MB for this many.
const MOST_TAPS: usize = 4096;

/// The shape of an EEGNet.
///
/// ```
/// use fedspd_nn::EegNetConfig;
///
/// // The paper's network for PhysionetMI: 64 channels, 481 samples at 160 Hz, four classes.
/// assert_eq!(EegNetConfig::new(64, 481, 160.0, 4).parameter_count(), 3284);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EegNetConfig {
    /// Channels of a trial.
    pub channels: usize,
    /// Samples of a trial.
    pub samples: usize,
    /// The number of classes.
    pub classes: usize,
    /// Temporal filters, `F1`.
    pub filters: usize,
    /// Spatial filters for each temporal one, `D`.
    pub depth: usize,
    /// Rows after the separable convolution, `F2`.
    pub rows: usize,
    /// Taps of the temporal filters, `Kt`.
    pub temporal_taps: usize,
    /// Taps of the separable convolution, `Ks`.
    pub separable_taps: usize,
    /// The numbers of samples averaged after the spatial and after the separable convolution.
    pub pools: [usize; 2],
    /// The probability that a number is dropped in training, after each pooling.
    pub dropout: f64,
    /// Constants of batch normalisation.
    pub batch_norm: BatchNorm,
    /// The parts of batch normalisation that stay at their client.
    pub fedbn: FedBn,
    /// The largest norms of spatial filters and of rows of the head, if they are limited. An
    /// optimiser enforces them after each step. Initial values and averages of a server may exceed
    /// them.
    pub max_norm: Option<MaxNorm>,
}

/// Constants of batch normalisation, in torch's convention.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchNorm {
    /// The weight of a batch in the running statistics.
    pub momentum: f64,
    /// Added to variances.
    pub epsilon: f64,
}

impl BatchNorm {
    /// torch's defaults.
    pub const TORCH: Self = Self { momentum: 0.1, epsilon: 1e-5 };
    /// The constants of the original EEGNet.
    pub const ORIGINAL: Self = Self { momentum: 0.01, epsilon: 1e-3 };
}

/// The parts of batch normalisation that never leave a client (Li et al. 2021).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FedBn {
    /// Statistics, scales and shifts.
    #[default]
    All,
    /// Statistics only.
    Statistics,
}

/// The largest norms of weights. The defaults are those of the original EEGNet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaxNorm {
    /// Limit for each spatial filter.
    pub spatial: f64,
    /// Limit for each row of the head.
    pub head: f64,
}

impl Default for MaxNorm {
    fn default() -> Self {
        Self { spatial: 1.0, head: 0.25 }
    }
}

impl EegNetConfig {
    /// Creates the paper's network for trials at a sampling rate: `F1 = 8`, `D = 2`, `F2 = 16`,
    /// pools of 4 and 8, `Kt = max(round(fs/2), 32)`, `Ks = max(round(fs/8), 8)`, dropout 0.25. A
    /// rate that is not a positive number gives zero taps, which [`EegNetConfig::check`] refuses.
    pub fn new(channels: usize, samples: usize, sfreq: f64, classes: usize) -> Self {
        // The conversion saturates and maps NaN to 0.
        let taps = |seconds: f64, least: usize| {
            let taps = (seconds * sfreq).round_ties_even() as usize;
            if sfreq > 0.0 { taps.max(least) } else { 0 }
        };
        Self {
            channels,
            samples,
            classes,
            filters: 8,
            depth: 2,
            rows: 16,
            temporal_taps: taps(0.5, 32),
            separable_taps: taps(0.125, 8),
            pools: [4, 8],
            dropout: 0.25,
            batch_norm: BatchNorm::TORCH,
            fedbn: FedBn::All,
            max_norm: None,
        }
    }

    /// Returns the rows after the spatial convolution.
    pub fn spatial_rows(&self) -> usize {
        self.filters.saturating_mul(self.depth)
    }

    /// Returns the samples after each pooling.
    pub fn pooled(&self) -> [usize; 2] {
        let first = self.samples / self.pools[0].max(1);
        [first, first / self.pools[1].max(1)]
    }

    /// Returns the number of inputs of the head.
    pub fn features(&self) -> usize {
        self.rows.saturating_mul(self.pooled()[1])
    }

    /// Returns the number of trained numbers, or the largest `usize` if there are more.
    pub fn parameter_count(&self) -> usize {
        let (first, rows) = (self.spatial_rows(), self.rows);
        let norms = self.filters.saturating_add(first).saturating_add(rows).saturating_mul(2);
        let temporal = self.filters.saturating_mul(self.temporal_taps);
        let each = self.channels.saturating_add(self.separable_taps).saturating_add(rows);
        let head = self.classes.saturating_mul(self.features().saturating_add(1));
        [temporal, first.saturating_mul(each), head].into_iter().fold(norms, usize::saturating_add)
    }

    /// Checks that the network can be built.
    ///
    /// # Errors
    /// [`Error::Config`] with the name of the field, its value and the allowed values.
    pub fn check(&self) -> Result<(), Error> {
        // Check taps first: a rate that is not a positive number gives zero taps, and only this
        // message mentions the rate.
        check("temporal_taps", self.temporal_taps, (1..=MOST_TAPS).contains(&self.temporal_taps), || {
            format!("from 1 to {MOST_TAPS}; by default it is half the sampling rate")
        })?;
        let sizes = [
            ("channels", self.channels),
            ("samples", self.samples),
            ("filters", self.filters),
            ("depth", self.depth),
            ("rows", self.rows),
            ("separable_taps", self.separable_taps),
            ("pools", self.pools[0]),
            ("pools", self.pools[1]),
        ];
        for (name, size) in sizes {
            check(name, size, (1..=65536).contains(&size), || "from 1 to 65536".into())?;
        }
        check("classes", self.classes, (2..=65536).contains(&self.classes), || "from 2 to 65536".into())?;
        let needed = self.pools[0] * self.pools[1];
        check("samples", self.samples, self.pooled()[1] > 0, || {
            format!("at least {needed}, the product of both pools")
        })?;
        let count = self.parameter_count();
        check("parameter_count", count, count <= MOST_NUMBERS, || format!("at most {MOST_NUMBERS}"))?;
        let rows = self.spatial_rows().max(self.rows);
        let numbers = rows.saturating_mul(self.samples);
        check("samples x rows", numbers, numbers <= MOST_NUMBERS, || format!("at most {MOST_NUMBERS}"))?;
        let share = |name, value: f64| {
            check(name, value, (0.0..1.0).contains(&value), || "at least 0 and less than 1".into())
        };
        share("dropout", self.dropout)?;
        let BatchNorm { momentum, epsilon } = self.batch_norm;
        check("momentum", momentum, momentum > 0.0 && momentum <= 1.0, || "above 0, at most 1".into())?;
        check("epsilon", epsilon, epsilon > 0.0 && epsilon.is_finite(), || "positive and finite".into())?;
        if let Some(MaxNorm { spatial, head }) = self.max_norm {
            let positive = spatial > 0.0 && head > 0.0 && spatial.is_finite() && head.is_finite();
            check("max_norm", (spatial, head), positive, || "positive and finite".into())?;
        }
        Ok(())
    }

    /// Returns the parameters in the order of the layers.
    pub(crate) fn layout(&self) -> Result<Layout, Error> {
        let (first, max_norm) = (self.spatial_rows(), self.max_norm);
        let mut tensors = vec![Tensor::euclidean("temporal.weight", &[self.filters, self.temporal_taps])];
        self.norm(&mut tensors, "norm1", self.filters);
        let spatial = Tensor::euclidean("spatial.weight", &[first, self.channels]);
        tensors.push(spatial.max_norm(max_norm.map(|norms| norms.spatial)));
        self.norm(&mut tensors, "norm2", first);
        tensors.push(Tensor::euclidean("depthwise.weight", &[first, self.separable_taps]));
        tensors.push(Tensor::euclidean("pointwise.weight", &[self.rows, first]));
        self.norm(&mut tensors, "norm3", self.rows);
        let head = Tensor::euclidean("head.weight", &[self.classes, self.features()]);
        tensors.push(head.max_norm(max_norm.map(|norms| norms.head)));
        tensors.push(Tensor::euclidean("head.bias", &[self.classes]));
        Layout::new(tensors)
    }

    fn norm(&self, tensors: &mut Vec<Tensor>, name: &str, rows: usize) {
        let trained = match self.fedbn {
            FedBn::All => Scope::Local,
            FedBn::Statistics => Scope::Shared,
        };
        for (part, role, scope) in [
            ("scale", Role::Trained, trained),
            ("shift", Role::Trained, trained),
            ("mean", Role::Statistic, Scope::Local),
            ("variance", Role::Statistic, Scope::Local),
        ] {
            tensors.push(Tensor { role, scope, ..Tensor::euclidean(format!("{name}.{part}"), &[rows]) });
        }
    }
}
