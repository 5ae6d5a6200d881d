//! Where records do not follow each other.

use std::fmt;

use serde::Serialize;

/// How far a record may begin from where the one before it ended, in samples of the fastest signal. The times of records are decimal
/// numbers with the digits that a program chose to write; less than half a sample cannot be told from rounding.
const LARGEST_ROUNDING: f64 = 0.5;

/// A place where a record does not begin when the one before it ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Gap {
    /// The record after it.
    pub record: usize,
    /// When it begins, in seconds after the first sample.
    pub start: f64,
    /// Its length in seconds; negative if the records overlap.
    pub duration: f64,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Differences of decimal numbers: nothing below a microsecond is more than rounding.
        let microseconds = |seconds: f64| (seconds * 1e6).round() / 1e6;
        let (start, duration) = (microseconds(self.start), microseconds(self.duration));
        if duration < 0.0 {
            return write!(f, "an overlap of {} s at {start} s", -duration);
        }
        write!(f, "a gap of {duration} s at {start} s")
    }
}

/// The gaps between records that begin at these times and last that long, each with as many samples of the fastest signal.
///
/// A record is compared with its place counted from the last gap, so that small differences add up and are noticed.
pub(super) fn gaps(times: &[f64], duration: f64, samples: usize) -> Vec<Gap> {
    let tolerance = LARGEST_ROUNDING * duration / samples as f64;
    let (mut found, mut late) = (Vec::new(), 0.0);
    for (record, time) in times.iter().enumerate() {
        let start = record as f64 * duration + late;
        let difference = time - times[0] - start;
        if difference.abs() > tolerance {
            found.push(Gap { record, start, duration: difference });
            late += difference;
        }
    }
    found
}
