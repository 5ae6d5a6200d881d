//! Band-pass filters equal to MNE's `raw.filter(low, high, method="iir")`: a Butterworth of order 4
//! per edge, run forward and backward.

mod butterworth;
mod resample;
mod zero_phase;

pub use butterworth::{Section, band_pass};
pub use resample::resample;
pub(crate) use resample::{ratio, resampled_length};
pub use zero_phase::ZeroPhase;

use serde::{Deserialize, Serialize};

/// A frequency band, in hertz.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "[f64; 2]", into = "[f64; 2]")]
pub struct Band {
    /// The lower edge.
    pub low: f64,
    /// The upper edge.
    pub high: f64,
}

impl Band {
    /// Returns the rule that the edges break, if any.
    pub fn fault(self) -> Option<&'static str> {
        let Self { low, high } = self;
        if !(low > 0.0) {
            return Some("its lower edge must be above 0 Hz");
        }
        if low < high { None } else { Some("its lower edge must come first") }
    }
}

impl From<[f64; 2]> for Band {
    fn from([low, high]: [f64; 2]) -> Self {
        Self { low, high }
    }
}

impl From<Band> for [f64; 2] {
    fn from(band: Band) -> Self {
        [band.low, band.high]
    }
}

impl std::fmt::Display for Band {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{} Hz", self.low, self.high)
    }
}
