//! Conversion of `X` to microvolts.

use super::Note;
use crate::about::{MICROVOLTS, NO_UNIT, SQUARE_MICROVOLTS};
use crate::voltage::microvolts_per;

/// The permitted units of trials, for messages.
pub(super) const OF_TRIALS: &str = "uV, mV, V or nV, or 1 for dimensionless data";
/// The permitted units of covariances, for messages.
pub(super) const OF_COVARIANCES: &str = "uV^2, mV^2, V^2 or nV^2, or 1 for dimensionless data";

/// The unit of loaded data, and the factor that converts the numbers of a file to it.
pub(super) struct Conversion {
    pub(super) unit: &'static str,
    factor: f64,
}

impl Conversion {
    /// Returns the conversion from a unit; `None` for a unit that such data cannot have.
    pub(super) fn of(unit: &str, covariances: bool) -> Option<Self> {
        if unit == NO_UNIT {
            return Some(Self { unit: NO_UNIT, factor: 1.0 });
        }
        if !covariances {
            return Some(Self { unit: MICROVOLTS, factor: microvolts_per(unit)? });
        }
        let volts = ["^2", "\u{b2}", "**2"].into_iter().find_map(|square| unit.strip_suffix(square))?;
        Some(Self { unit: SQUARE_MICROVOLTS, factor: microvolts_per(volts)?.powi(2) })
    }

    /// Converts numbers in the unit `from`.
    pub(super) fn apply(&self, from: &str, numbers: &mut [f64], notes: &mut Vec<Note>) {
        if self.factor != 1.0 {
            for number in numbers {
                *number *= self.factor;
            }
            notes.push(Note::Converted { from: from.to_owned(), to: self.unit });
        }
    }
}
