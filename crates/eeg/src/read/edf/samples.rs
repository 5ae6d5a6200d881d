//! Conversion of digital samples to microvolts, from signal by signal to sample by sample.

use std::array;
use std::ops::Range;

use super::fault::EdfFault;
use super::header::{EdfHeader, EdfSignal};
use crate::voltage::microvolts_per;

/// The number of signals written together. Records store signal by signal, the output is sample by
/// sample. Eight `f64` fill a cache line, so each line is written once, as a whole.
const LANES: usize = 8;

/// The selected signals and their conversion.
pub(super) struct Selection {
    columns: Vec<Column>,
    samples_per_record: usize,
    sample_bytes: usize,
    /// The required bytes of each record: from the first selected signal to the last.
    span: Range<usize>,
    /// The common sampling rate.
    pub(super) sfreq: f64,
}

/// The position of a signal, and its conversion to physical values.
struct Column {
    /// The byte in the span at which its samples begin.
    start: usize,
    gain: f64,
    offset: f64,
    microvolts: f64,
}

impl Selection {
    pub(super) fn new(header: &EdfHeader, signals: &[usize]) -> Result<Self, EdfFault> {
        let mut columns = Vec::with_capacity(signals.len());
        let (mut start, mut end) = (usize::MAX, 0);
        let mut rate: Option<(usize, &EdfSignal, f64)> = None;
        for &index in signals {
            let Some(signal) = header.signals.get(index) else {
                return Err(EdfFault::UnknownSignal { signal: index, signals: header.signals.len() });
            };
            let Some(sfreq) = header.sfreq(index) else {
                return Err(EdfFault::AnnotationSignal { signal: index, label: signal.label.clone() });
            };
            let (first, other, first_sfreq) = *rate.get_or_insert((index, signal, sfreq));
            if signal.samples_per_record != other.samples_per_record {
                return Err(EdfFault::Rates {
                    first,
                    first_label: other.label.clone(),
                    first_sfreq,
                    second: index,
                    second_label: signal.label.clone(),
                    second_sfreq: sfreq,
                });
            }
            (start, end) = (start.min(signal.bytes.start), end.max(signal.bytes.end));
            columns.push(Column::new(index, signal, header.format.sample_bytes())?);
        }
        let (_, signal, sfreq) = rate.ok_or(EdfFault::NoSignal)?;
        for column in &mut columns {
            column.start -= start;
        }
        let sample_bytes = header.format.sample_bytes();
        Ok(Self {
            columns,
            samples_per_record: signal.samples_per_record,
            sample_bytes,
            span: start..end,
            sfreq,
        })
    }

    /// The required bytes of each record.
    pub(super) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The number of values per record.
    fn numbers(&self) -> usize {
        self.samples_per_record * self.columns.len()
    }

    /// Allocates memory for this many records.
    pub(super) fn reserve(&self, records: usize) -> Result<Vec<f64>, EdfFault> {
        let numbers = self.numbers() as u128 * records as u128;
        let mut memory = Vec::new();
        match usize::try_from(numbers).map(|numbers| memory.try_reserve_exact(numbers)) {
            Ok(Ok(())) => Ok(memory),
            _ => Err(EdfFault::Memory { bytes: 8 * numbers }),
        }
    }

    /// Appends the samples of a record to `out`. `bytes` is the span of the record.
    pub(super) fn append(&self, bytes: &[u8], out: &mut Vec<f64>) {
        let first = out.len();
        out.resize(first + self.numbers(), 0.0);
        let out = &mut out[first..];
        if self.sample_bytes == 2 {
            self.scatter(bytes, out, |sample: [u8; 2]| i16::from_le_bytes(sample).into());
        } else {
            // The shift from the top byte extends the sign.
            self.scatter(bytes, out, |[low, middle, high]| i32::from_le_bytes([0, low, middle, high]) >> 8);
        }
    }

    fn scatter<const BYTES: usize>(
        &self,
        bytes: &[u8],
        out: &mut [f64],
        digital: impl Fn([u8; BYTES]) -> i32,
    ) {
        let signal =
            |column: &Column| &bytes[column.start..].as_chunks::<BYTES>().0[..self.samples_per_record];
        let width = self.columns.len();
        let (tiles, rest) = self.columns.as_chunks::<LANES>();
        for (tile, columns) in tiles.iter().enumerate() {
            let signals: [&[[u8; BYTES]]; LANES] = array::from_fn(|lane| signal(&columns[lane]));
            // Separate arrays, so that the compiler vectorises the loop.
            let gain: [f64; LANES] = array::from_fn(|lane| columns[lane].gain);
            let offset: [f64; LANES] = array::from_fn(|lane| columns[lane].offset);
            let microvolts: [f64; LANES] = array::from_fn(|lane| columns[lane].microvolts);
            for sample in 0..self.samples_per_record {
                let mut values = [0.0; LANES];
                for lane in 0..LANES {
                    values[lane] = f64::from(digital(signals[lane][sample]));
                }
                for lane in 0..LANES {
                    values[lane] = physical(values[lane], gain[lane], offset[lane], microvolts[lane]);
                }
                out[sample * width + tile * LANES..][..LANES].copy_from_slice(&values);
            }
        }
        for (column, place) in rest.iter().zip(tiles.len() * LANES..) {
            for (row, &sample) in out.chunks_exact_mut(width).zip(signal(column)) {
                row[place] = column.physical(digital(sample));
            }
        }
    }
}

impl Column {
    /// The conversion of a signal. Every possible digital value must give a finite physical value.
    fn new(index: usize, signal: &EdfSignal, sample_bytes: usize) -> Result<Self, EdfFault> {
        let (low, high) = (signal.digital_minimum, signal.digital_maximum);
        if low >= high {
            return Err(EdfFault::DigitalRange {
                signal: index,
                label: signal.label.clone(),
                minimum: low,
                maximum: high,
            });
        }
        let (minimum, maximum) = (signal.physical_minimum, signal.physical_maximum);
        let gain = (maximum - minimum) / (f64::from(high) - f64::from(low));
        let offset = minimum - f64::from(low) * gain;
        let column = Self { start: signal.bytes.start, gain, offset, microvolts: microvolts(&signal.unit) };
        let largest = 1 << (8 * sample_bytes - 1);
        let finite = [-largest, largest].iter().all(|&digital| column.physical(digital).is_finite());
        if gain == 0.0 || !finite {
            let label = signal.label.clone();
            return Err(EdfFault::PhysicalRange { signal: index, label, minimum, maximum });
        }
        Ok(column)
    }

    fn physical(&self, digital: i32) -> f64 {
        physical(f64::from(digital), self.gain, self.offset, self.microvolts)
    }
}

/// Converts a digital to a physical value. This order of operations gives the same bits as MNE,
/// before MNE converts to volts.
#[inline(always)]
fn physical(digital: f64, gain: f64, offset: f64, microvolts: f64) -> f64 {
    (digital * gain + offset) * microvolts
}

/// The number of microvolts in a unit. Other units stay unchanged. So does an empty unit, which
/// means microvolts in practice.
fn microvolts(unit: &str) -> f64 {
    microvolts_per(unit).unwrap_or(1.0)
}
