//! Faults of an EDF or BDF file.

use std::fmt;
use std::io;
use std::path::Path;

use fedspd_run::counted;
use thiserror::Error;

use super::gaps::Gap;

/// Faults of reading a file as EDF or BDF.
///
/// Signals and records count from zero.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EdfFault {
    /// The system could not read the file.
    #[error(transparent)]
    System(#[from] io::Error),
    /// The path is a folder.
    #[error("a folder, not a file")]
    Folder,
    /// The file is empty.
    #[error("an empty file")]
    Empty,
    /// The file does not begin like these formats.
    #[error("not an EDF or BDF file: it begins with \"{start}\"")]
    Foreign {
        /// Its first bytes; those that are not ASCII are escaped.
        start: String,
    },
    /// The file ends within its header.
    #[error("cut off in its header: the header takes {needed} bytes, the file has {found}")]
    ShortHeader {
        /// The length of the header.
        needed: u64,
        /// The length of the file.
        found: u64,
    },
    /// A number of the header has a byte that is not ASCII.
    #[error("the {field} has the byte 0x{byte:02x}, which is not ASCII")]
    NotAscii {
        /// The header field.
        field: Field,
        /// The first such byte.
        byte: u8,
    },
    /// A number of the header is not valid.
    #[error("the {field} is {text:?}, not {expected}")]
    Number {
        /// The header field.
        field: Field,
        /// Its text.
        text: String,
        /// The expected kind of number.
        expected: &'static str,
    },
    /// The declared size of the header contradicts the number of signals.
    #[error(
        "the header claims to take {}, but with {} it takes {expected}",
        counted(declared, "byte"),
        counted(signals, "signal")
    )]
    HeaderSize {
        /// The declared value.
        declared: i64,
        /// The size by the number of signals.
        expected: u64,
        /// The number of signals.
        signals: u64,
    },
    /// The number of signals is not positive.
    #[error("the header declares {declared} signals; there must be at least 1")]
    SignalCount {
        /// The declared value.
        declared: i64,
    },
    /// The duration of a record is not valid.
    #[error("a record lasts {seconds:?} s, so its signals have no sampling rate")]
    RecordDuration {
        /// The value in the header.
        seconds: f64,
    },
    /// The number of samples per record is not positive.
    #[error("signal {signal} (`{label}`) has {declared} samples per record; there must be at least 1")]
    SampleCount {
        /// The signal.
        signal: usize,
        /// Its label.
        label: String,
        /// The value in the header.
        declared: i64,
    },
    /// Records are missing.
    #[error(
        "cut off: the header declares {}, the file has {present} (missing bytes: {missing})",
        counted(declared, "record")
    )]
    Truncated {
        /// The number of records in the header.
        declared: u64,
        /// The number of complete records in the file.
        present: u64,
        /// The number of missing bytes.
        missing: u64,
    },
    /// There are more records than declared.
    #[error(
        "the header declares {}, the file has {present} ({} too many)",
        counted(declared, "record"),
        counted(extra, "byte")
    )]
    Trailing {
        /// The number of records in the header.
        declared: u64,
        /// The number of complete records in the file.
        present: u64,
        /// The number of surplus bytes.
        extra: u64,
    },
    /// The file became shorter during reading.
    #[error("cut off in record {record} while it was read")]
    Shrank {
        /// The record that could not be read.
        record: usize,
    },
    /// The samples do not fit into memory.
    #[error("its samples take {bytes} bytes of memory, more than is available")]
    Memory {
        /// The bytes required.
        bytes: u128,
    },
    /// No signal is selected.
    #[error("no signal is selected")]
    NoSignal,
    /// The selected signal does not exist.
    #[error("signal {signal} is selected, but signals are counted from 0 and their number is {signals}")]
    UnknownSignal {
        /// The selected signal.
        signal: usize,
        /// The number of signals.
        signals: usize,
    },
    /// The selected signal has no samples.
    #[error("signal {signal} (`{label}`) holds annotations, not samples")]
    AnnotationSignal {
        /// The signal.
        signal: usize,
        /// Its label.
        label: String,
    },
    /// The selected signals have different sampling rates.
    #[error(
        "signal {first} (`{first_label}`) has {first_sfreq} samples per second, signal {second} (`{second_label}`) has {second_sfreq}"
    )]
    Rates {
        /// The first selected signal.
        first: usize,
        /// Its label.
        first_label: String,
        /// Its sampling rate.
        first_sfreq: f64,
        /// The first signal with another rate.
        second: usize,
        /// Its label.
        second_label: String,
        /// Its sampling rate.
        second_sfreq: f64,
    },
    /// The digital range of a signal is empty.
    #[error(
        "signal {signal} (`{label}`) has the digital minimum {minimum}, which is not below its maximum {maximum}"
    )]
    DigitalRange {
        /// The signal.
        signal: usize,
        /// Its label.
        label: String,
        /// The digital minimum.
        minimum: i32,
        /// The digital maximum.
        maximum: i32,
    },
    /// The physical range of a signal is empty, or gives values that are not finite.
    #[error(
        "signal {signal} (`{label}`) cannot be scaled to its physical minimum {minimum:?} and maximum {maximum:?}"
    )]
    PhysicalRange {
        /// The signal.
        signal: usize,
        /// Its label.
        label: String,
        /// The physical minimum.
        minimum: f64,
        /// The physical maximum.
        maximum: f64,
    },
    /// An annotation is not valid.
    #[error("record {record}, byte {byte} of signal {signal} (`{label}`): {problem}")]
    Annotation {
        /// The record.
        record: usize,
        /// The signal.
        signal: usize,
        /// Its label.
        label: String,
        /// The byte within the signal's part of the record at which the annotation begins.
        byte: usize,
        /// The fault.
        problem: &'static str,
    },
    /// A record of a discontinuous file has no start time.
    #[error("discontinuous, but record {record} has no start time")]
    NoTime {
        /// The record.
        record: usize,
    },
    /// Records are not contiguous.
    #[error("{}", gaps(*count, first))]
    Gaps {
        /// The number of gaps.
        count: usize,
        /// The first gaps.
        first: Vec<Gap>,
    },
}

/// A number field of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its signal; `None` for a field of the whole file.
    pub signal: Option<usize>,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.signal {
            Some(signal) => write!(f, "{} of signal {signal}", self.name),
            None => f.write_str(self.name),
        }
    }
}

impl EdfFault {
    /// Returns the error of this fault for a file.
    pub fn at(self, path: &Path) -> crate::Error {
        match self {
            Self::System(source) => crate::Error::File { path: path.to_owned(), source },
            fault => crate::Error::Edf { path: path.to_owned(), fault },
        }
    }

    /// Returns a hint for the user, if there is one.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Folder => "name the file in it",
            Self::Empty | Self::ShortHeader { .. } | Self::Truncated { .. } => {
                "the copy is incomplete: copy or download it again"
            }
            Self::Shrank { .. } => "another program writes to the file: wait until it is done",
            Self::Trailing { .. } => {
                "the program that wrote it stopped before it could complete the header, or something was appended: export the recording again"
            }
            Self::Foreign { start } => return foreign(start).map(str::to_owned),
            Self::NotAscii { .. }
            | Self::Number { .. }
            | Self::HeaderSize { .. }
            | Self::SignalCount { .. }
            | Self::RecordDuration { .. }
            | Self::SampleCount { .. } => {
                "the header is damaged, or the program that wrote it does not follow the format: export the recording again"
            }
            Self::Rates { .. } => "select signals of one rate",
            Self::DigitalRange { .. } | Self::PhysicalRange { .. } => {
                "leave the signal out: its samples have no meaning without a scale"
            }
            Self::Gaps { .. } => {
                "a filter would run across the gaps: export each continuous stretch as a file of its own"
            }
            Self::System(_)
            | Self::Memory { .. }
            | Self::NoSignal
            | Self::UnknownSignal { .. }
            | Self::AnnotationSignal { .. }
            | Self::Annotation { .. }
            | Self::NoTime { .. } => return None,
        };
        Some(hint.to_owned())
    }
}

/// Recognises another format by its first bytes, and returns a hint.
fn foreign(start: &str) -> Option<&'static str> {
    let known = [
        ("GDF", "a GDF file: export the recording as EDF"),
        ("version ", "a placeholder for the file: fetch its content with git-annex or Git LFS"),
        ("/annex/", "a placeholder for the file: fetch its content with git-annex or Git LFS"),
        ("<", "a page of a web site was saved instead of the file: download it again"),
        ("\\x1f\\x8b", "a compressed file: unpack it first"),
        ("PK\\x03\\x04", "a compressed file: unpack it first"),
        ("\\xfd7zXZ", "a compressed file: unpack it first"),
    ];
    known.iter().find(|(prefix, _)| start.starts_with(prefix)).map(|&(_, hint)| hint)
}

fn gaps(count: usize, first: &[Gap]) -> String {
    let list: Vec<String> = first.iter().map(ToString::to_string).collect();
    let (list, more) = (list.join(", "), count.saturating_sub(first.len()));
    match (count, more) {
        (1, _) => format!("its records are not contiguous: {list}"),
        (_, 0) => format!("its records are not contiguous in {count} places: {list}"),
        _ => format!("its records are not contiguous in {count} places: {list} and {more} more"),
    }
}
