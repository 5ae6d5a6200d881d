//! Gaps between records.

use std::fmt;

use serde::Serialize;

/// The largest accepted distance between the end of a record and the start of the next, in samples
/// of the fastest signal. Start times are decimal numbers with as many digits as the program wrote;
/// less than half a sample may be rounding.
const LARGEST_ROUNDING: f64 = 0.5;

/// A gap: a record that does not begin at the end of the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Gap {
    /// The record after the gap.
    pub record: usize,
    /// Its start, in seconds after the first sample.
    pub start: f64,
    /// Its length in seconds; negative if the records overlap.
    pub duration: f64,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // These are differences of decimal numbers: digits below a microsecond are rounding.
        let microseconds = |seconds: f64| (seconds * 1e6).round() / 1e6;
        let (start, duration) = (microseconds(self.start), microseconds(self.duration));
        if duration < 0.0 {
            return write!(f, "an overlap of {} s at {start} s", -duration);
        }
        write!(f, "a gap of {duration} s at {start} s")
    }
}

/// Returns the gaps between records that begin at `times` and last `duration`. `samples` is the
/// number of samples of the fastest signal in a record.
///
/// A record is compared with its expected start since the last gap, so that small differences add
/// up and are detected.
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
