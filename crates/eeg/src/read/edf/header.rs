//! The header, checked against the length of the file.

use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

use super::fault::{EdfFault, Field};

/// The size of the fixed part of the header, and of the part of each signal.
const BLOCK: u64 = 256;
/// The length of the version, the first field. It determines the width of samples.
const VERSION: usize = 8;
/// The labels of annotation signals.
const ANNOTATIONS: [&str; 2] = ["EDF Annotations", "BDF Annotations"];

/// The formats of the family. They share their layout; BDF has wider samples, and the plus stands
/// for annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdfFormat {
    /// EDF: samples of 16 bits.
    Edf,
    /// EDF with annotations.
    EdfPlus,
    /// BDF: samples of 24 bits.
    Bdf,
    /// BDF with annotations.
    BdfPlus,
}

impl std::fmt::Display for EdfFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Edf => "EDF",
            Self::EdfPlus => "EDF+",
            Self::Bdf => "BDF",
            Self::BdfPlus => "BDF+",
        })
    }
}

impl EdfFormat {
    /// The bytes per sample.
    pub fn sample_bytes(self) -> usize {
        match self {
            Self::Edf | Self::EdfPlus => 2,
            Self::Bdf | Self::BdfPlus => 3,
        }
    }

    /// The variant with annotations.
    fn plus(self) -> Self {
        match self {
            Self::Edf | Self::EdfPlus => Self::EdfPlus,
            Self::Bdf | Self::BdfPlus => Self::BdfPlus,
        }
    }
}

/// The header of a file. The patient's identity is not kept, because nothing here needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct EdfHeader {
    /// The format.
    pub format: EdfFormat,
    /// Whether the file declares its records as contiguous. A file that does not may still be
    /// contiguous.
    pub continuous: bool,
    /// The start date as written: day, month and year, two digits each, if the program follows the
    /// format.
    pub start_date: String,
    /// The start time as written: hours, minutes and seconds, two digits each, if the program
    /// follows the format.
    pub start_time: String,
    /// The number of records.
    pub records: usize,
    /// The duration of a record, in seconds.
    pub record_duration: f64,
    /// The signals of each record.
    pub signals: Vec<EdfSignal>,
}

/// The header of a signal.
#[derive(Clone, Debug, PartialEq)]
pub struct EdfSignal {
    /// Its name, without surrounding blanks.
    pub label: String,
    /// The transducer.
    pub transducer: String,
    /// Its physical dimension, such as `uV`.
    pub unit: String,
    /// The physical value of the digital minimum. If it exceeds the maximum, the polarity is
    /// inverted.
    pub physical_minimum: f64,
    /// The physical value of the digital maximum.
    pub physical_maximum: f64,
    /// The smallest digital value of a sample.
    pub digital_minimum: i32,
    /// The largest digital value of a sample.
    pub digital_maximum: i32,
    /// The filter applied at recording.
    pub prefilter: String,
    /// The number of samples per record; for annotations, the equivalent number.
    pub samples_per_record: usize,
    /// Whether it holds annotations instead of samples.
    pub annotations: bool,
    /// Its bytes within a record.
    pub(super) bytes: Range<usize>,
}

impl EdfHeader {
    /// The sampling rate of a signal; `None` if the signal does not exist or holds annotations.
    pub fn sfreq(&self, signal: usize) -> Option<f64> {
        let signal = self.signals.get(signal).filter(|signal| !signal.annotations)?;
        Some(signal.samples_per_record as f64 / self.record_duration)
    }

    /// The indices of the signals that hold samples.
    pub fn sampled(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.signals.len()).filter(|&signal| !self.signals[signal].annotations)
    }

    /// The number of bytes before the first record.
    pub(super) fn bytes(&self) -> u64 {
        BLOCK * (1 + self.signals.len() as u64)
    }

    pub(super) fn record_bytes(&self) -> usize {
        self.signals.last().map_or(0, |signal| signal.bytes.end)
    }

    /// Reads and checks the header. Allocations never exceed the length of the file.
    pub(super) fn read<R: Read + Seek>(reader: &mut R) -> Result<Self, EdfFault> {
        let length = reader.seek(SeekFrom::End(0))?;
        reader.seek(SeekFrom::Start(0))?;
        let mut start = [0; BLOCK as usize];
        // No loss: at most 256.
        let there = length.min(BLOCK) as usize;
        reader.read_exact(&mut start[..there])?;
        let format = format(&start[..there])?;
        if length < BLOCK {
            return Err(EdfFault::ShortHeader { needed: BLOCK, found: length });
        }
        let file = |name, range: Range<usize>| (Field { name, signal: None }, &start[range]);

        let declared = whole(file("number of signals", 252..256))?;
        let count = u64::try_from(declared).ok().filter(|&count| count > 0);
        let count = count.ok_or(EdfFault::SignalCount { declared })?;
        // No overflow: the field has four digits.
        let expected = BLOCK * (1 + count);
        let declared = whole(file("size of the header", 184..192))?;
        if u64::try_from(declared) != Ok(expected) {
            return Err(EdfFault::HeaderSize { declared, expected, signals: count });
        }
        if length < expected {
            return Err(EdfFault::ShortHeader { needed: expected, found: length });
        }
        let declared_records = record_count(file("number of records", 236..244))?;
        let record_duration = real(file("duration of a record", 244..252))?;

        let mut block = vec![0; (BLOCK * count) as usize];
        reader.read_exact(&mut block)?;
        let signals = signals(&block, count as usize, format.sample_bytes())?;
        check_duration(record_duration, &signals)?;
        let record_bytes = signals.last().map_or(0, |signal| signal.bytes.end as u64);
        let records = records(declared_records, length - expected, record_bytes)?;

        let kind = text(&start[192..236]);
        let plus = kind.strip_prefix("EDF+").or_else(|| kind.strip_prefix("BDF+"));
        Ok(Self {
            format: if plus.is_some() { format.plus() } else { format },
            continuous: !plus.is_some_and(|kind| kind.starts_with('D')),
            start_date: text(&start[168..176]),
            start_time: text(&start[176..184]),
            records,
            record_duration,
            signals,
        })
    }
}

/// The format without the plus, by the first bytes of the file.
fn format(start: &[u8]) -> Result<EdfFormat, EdfFault> {
    if start.is_empty() {
        return Err(EdfFault::Empty);
    }
    let version = &start[..start.len().min(VERSION)];
    // The file may end within its version.
    if b"\xffBIOSEMI".starts_with(version) {
        return Ok(EdfFormat::Bdf);
    }
    if version[0] == b'0' && version[1..].iter().all(|byte| matches!(byte, b' ' | 0)) {
        return Ok(EdfFormat::Edf);
    }
    Err(EdfFault::Foreign { start: version.escape_ascii().to_string() })
}

/// Parses the headers of all signals: first all labels, then all transducers and so on.
fn signals(block: &[u8], count: usize, sample_bytes: usize) -> Result<Vec<EdfSignal>, EdfFault> {
    let mut end = 0;
    let signal = |signal| {
        // `start` is the sum of the widths of all previous fields.
        let bytes = |start: usize, width: usize| &block[start * count + width * signal..][..width];
        let number = |name, start| (Field { name, signal: Some(signal) }, bytes(start, 8));
        let label = text(bytes(0, 16));
        let declared = whole(number("number of samples per record", 216))?;
        let samples_per_record = usize::try_from(declared).ok().filter(|&samples| samples > 0);
        let Some(samples_per_record) = samples_per_record else {
            return Err(EdfFault::SampleCount { signal, label, declared });
        };
        let first = end;
        let bytes_to_here = first as u128 + samples_per_record as u128 * sample_bytes as u128;
        end = usize::try_from(bytes_to_here).map_err(|_| EdfFault::Memory { bytes: bytes_to_here })?;
        Ok(EdfSignal {
            transducer: text(bytes(16, 80)),
            unit: text(bytes(96, 8)),
            physical_minimum: real(number("physical minimum", 104))?,
            physical_maximum: real(number("physical maximum", 112))?,
            digital_minimum: digital(number("digital minimum", 120))?,
            digital_maximum: digital(number("digital maximum", 128))?,
            prefilter: text(bytes(136, 80)),
            samples_per_record,
            annotations: ANNOTATIONS.contains(&label.as_str()),
            label,
            bytes: first..end,
        })
    };
    (0..count).map(signal).collect()
}

/// Checks that signals have a sampling rate. In a file with annotations only, records may have no
/// duration.
fn check_duration(seconds: f64, signals: &[EdfSignal]) -> Result<(), EdfFault> {
    let sampled = signals.iter().filter(|signal| !signal.annotations);
    let most = sampled.map(|signal| signal.samples_per_record).max();
    let sound = match most {
        Some(most) => seconds > 0.0 && (most as f64 / seconds).is_finite(),
        None => seconds >= 0.0,
    };
    if sound { Ok(()) } else { Err(EdfFault::RecordDuration { seconds }) }
}

/// The declared number of records. By the format, -1 means that it is not known yet.
fn record_count(number: (Field, &[u8])) -> Result<Option<u64>, EdfFault> {
    let declared = whole(number)?;
    if declared == -1 {
        return Ok(None);
    }
    let (field, expected) = (number.0, "a number of records");
    u64::try_from(declared).map(Some).map_err(|_| EdfFault::Number {
        field,
        text: declared.to_string(),
        expected,
    })
}

/// The number of records, from the declared number and the bytes present. An incomplete record at
/// the end is padding.
fn records(declared: Option<u64>, there: u64, record_bytes: u64) -> Result<usize, EdfFault> {
    let present = there / record_bytes;
    // The writing program was stopped, so the file has no further records.
    let declared = declared.unwrap_or(present);
    if declared > present {
        let missing = declared.saturating_mul(record_bytes).saturating_sub(there);
        return Err(EdfFault::Truncated { declared, present, missing });
    }
    if declared < present {
        return Err(EdfFault::Trailing { declared, present, extra: there - declared * record_bytes });
    }
    usize::try_from(present).map_err(|_| EdfFault::Memory { bytes: u128::from(there) })
}

/// Decodes text of the header. It should be ASCII, but units have a micro sign in UTF-8 or Latin-1,
/// and names have accents.
fn text(bytes: &[u8]) -> String {
    let text =
        str::from_utf8(bytes).map_or_else(|_| bytes.iter().copied().map(char::from).collect(), str::to_owned);
    text.trim_matches(blank).to_owned()
}

/// Whether a character is padding: blanks by the format, zeros by some programs.
fn blank(letter: char) -> bool {
    letter == '\0' || letter.is_whitespace()
}

fn ascii((field, bytes): (Field, &[u8])) -> Result<&str, EdfFault> {
    if let Some(&byte) = bytes.iter().find(|byte| !byte.is_ascii()) {
        return Err(EdfFault::NotAscii { field, byte });
    }
    Ok(str::from_utf8(bytes).unwrap_or_default().trim_matches(blank))
}

fn whole((field, bytes): (Field, &[u8])) -> Result<i64, EdfFault> {
    let text = ascii((field, bytes))?;
    text.parse().map_err(|_| EdfFault::Number { field, text: text.to_owned(), expected: "a whole number" })
}

/// Parses a finite number. Some programs write a decimal comma.
fn real((field, bytes): (Field, &[u8])) -> Result<f64, EdfFault> {
    let text = ascii((field, bytes))?;
    let number = text.replace(',', ".").parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| EdfFault::Number { field, text: text.to_owned(), expected: "a number" })
}

/// Parses a whole number. Some programs write it with a decimal point.
fn digital((field, bytes): (Field, &[u8])) -> Result<i32, EdfFault> {
    let number = real((field, bytes))?;
    let limits = f64::from(i32::MIN)..=f64::from(i32::MAX);
    if number.fract() == 0.0 && limits.contains(&number) {
        return Ok(number as i32);
    }
    let text = ascii((field, bytes))?.to_owned();
    Err(EdfFault::Number { field, text, expected: "a whole number of 32 bits" })
}
