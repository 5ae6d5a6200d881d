//! The shape of an SPDnet.

use fedspd_manifold::{Vectorisation, tolerance};
use serde::{Deserialize, Serialize};

use crate::params::{Layout, Tensor};
use crate::{Error, check};

/// The shape of an SPDnet.
///
/// ```
/// use fedspd_nn::SpdNetConfig;
///
/// // The paper's network for PhysionetMI: 64 channels, one BiMap to 18, four classes.
/// let config = SpdNetConfig::new(vec![64, 18], 4).threshold(1e-2);
/// assert_eq!(config.parameter_count(), 2452);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpdNetConfig {
    /// The size of the matrices, then the size after each BiMap. `[64, 18]` is one block from 64 to
    /// 18; `[64]` has no block (tangent-space logistic regression). Never increasing.
    pub dimensions: Vec<usize>,
    /// Matrices per trial (time windows, frequency bands). Each has its own blocks; the head uses
    /// them all.
    pub inputs: usize,
    /// The number of classes.
    pub classes: usize,
    /// The eigenvalue floor of `ReEig`, in the unit of the data.
    pub threshold: f64,
    /// The vectorisation of the logarithms into features.
    pub head: Vectorisation,
    /// The probability that an entry of a logarithm is dropped in training (an entry and its mirror
    /// image together).
    pub dropout: f64,
}

impl SpdNetConfig {
    /// Creates a network with one input, the paper's `vec` head, threshold 1e-4 and no dropout.
    pub fn new(dimensions: Vec<usize>, classes: usize) -> Self {
        Self { dimensions, inputs: 1, classes, threshold: 1e-4, head: Vectorisation::Vec, dropout: 0.0 }
    }

    /// Sets the threshold.
    #[must_use]
    pub fn threshold(self, threshold: f64) -> Self {
        Self { threshold, ..self }
    }

    /// Sets the head.
    #[must_use]
    pub fn head(self, head: Vectorisation) -> Self {
        Self { head, ..self }
    }

    /// Sets the number of matrices per trial.
    #[must_use]
    pub fn inputs(self, inputs: usize) -> Self {
        Self { inputs, ..self }
    }

    /// Sets the dropout before the head.
    #[must_use]
    pub fn dropout(self, dropout: f64) -> Self {
        Self { dropout, ..self }
    }

    /// Returns the number of BiRe blocks.
    pub fn blocks(&self) -> usize {
        self.dimensions.len().saturating_sub(1)
    }

    /// Returns the size of the input matrices.
    pub(crate) fn first(&self) -> usize {
        self.dimensions.first().copied().unwrap_or(0)
    }

    /// Returns the size of the matrices at `LogEig`.
    pub(super) fn last(&self) -> usize {
        self.dimensions.last().copied().unwrap_or(0)
    }

    /// Returns the number of entries in one triangle of a logarithm.
    pub(super) fn triangle(&self) -> usize {
        self.last() * (self.last() + 1) / 2
    }

    /// Returns the number of inputs of the head.
    pub fn features(&self) -> usize {
        self.inputs * self.head.length(self.last())
    }

    /// Returns the number of trained numbers.
    pub fn parameter_count(&self) -> usize {
        let blocks: usize = self.dimensions.windows(2).map(|pair| pair[0] * pair[1]).sum();
        self.inputs * blocks + self.classes * (self.features() + 1)
    }

    /// Checks that the network can be built.
    ///
    /// # Errors
    /// [`Error::Config`] with the name of the field, its value and the allowed values.
    pub fn check(&self) -> Result<(), Error> {
        let largest = tolerance::LARGEST_MATRIX;
        let sizes_fit = self.dimensions.iter().all(|size| (1..=largest).contains(size));
        check("dimensions", &self.dimensions, !self.dimensions.is_empty() && sizes_fit, || {
            format!("one or more sizes from 1 to {largest}")
        })?;
        let blocks = self.blocks();
        check("dimensions", &self.dimensions, blocks <= 64, || "at most 64 blocks".into())?;
        let descending = self.dimensions.is_sorted_by(|a, b| a >= b);
        check("dimensions", &self.dimensions, descending, || "never increasing".into())?;
        check("inputs", self.inputs, (1..=1024).contains(&self.inputs), || "from 1 to 1024".into())?;
        check("classes", self.classes, (2..=65536).contains(&self.classes), || "from 2 to 65536".into())?;
        let positive = self.threshold > 0.0 && self.threshold.is_finite();
        check("threshold", self.threshold, positive, || "positive and finite".into())?;
        let share = (0.0..1.0).contains(&self.dropout);
        check("dropout", self.dropout, share, || "at least 0 and less than 1".into())
    }

    /// Returns the parameters: `block{l}.weight` for each block (with the prefix `input{m}.` if
    /// there are several inputs), `head.weight` and `head.bias`.
    pub(crate) fn layout(&self) -> Result<Layout, Error> {
        let mut tensors = Vec::new();
        for input in 0..self.inputs {
            for (block, pair) in self.dimensions.windows(2).enumerate() {
                let prefix = if self.inputs > 1 { format!("input{input}.") } else { String::new() };
                tensors.push(Tensor::stiefel(format!("{prefix}block{block}.weight"), pair[0], pair[1]));
            }
        }
        tensors.push(Tensor::euclidean("head.weight", &[self.classes, self.features()]));
        tensors.push(Tensor::euclidean("head.bias", &[self.classes]));
        Layout::new(tensors)
    }
}
