//! What can be wrong with an EDF or BDF file.

use std::fmt;
use std::io;
use std::path::Path;

use thiserror::Error;

use super::gaps::Gap;

/// Why a file could not be read as EDF or BDF.
///
/// Signals and records count from zero.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EdfFault {
    /// The system could not read it.
    #[error(transparent)]
    System(#[from] io::Error),
    /// It is a folder.
    #[error("a folder, not a file")]
    Folder,
    /// It has no bytes at all.
    #[error("an empty file")]
    Empty,
    /// It does not begin as these formats do.
    #[error("not an EDF or BDF file: it begins with \"{start}\"")]
    Foreign {
        /// Its first bytes, those that are not ASCII escaped.
        start: String,
    },
    /// It ends within its header.
    #[error("cut off in its header: the header takes {needed} bytes, the file has {found}")]
    ShortHeader {
        /// What the header takes.
        needed: u64,
        /// What is there.
        found: u64,
    },
    /// A number of the header has bytes that no number has.
    #[error("the {field} has the byte 0x{byte:02x}, which is not ASCII")]
    NotAscii {
        /// Where.
        field: Field,
        /// The first such byte.
        byte: u8,
    },
    /// A number of the header cannot be understood.
    #[error("the {field} is {text:?}, not {expected}")]
    Number {
        /// Where.
        field: Field,
        /// What it says.
        text: String,
        /// What it must be.
        expected: &'static str,
    },
    /// The header's own size and its number of signals contradict each other.
    #[error("the header claims to take {declared} bytes, but with {signals} signals it takes {expected}")]
    HeaderSize {
        /// What it says.
        declared: i64,
        /// What follows from the number of signals.
        expected: u64,
        /// The number of signals.
        signals: u64,
    },
    /// The number of signals makes no sense.
    #[error("the header declares {declared} signals; there must be at least 1")]
    SignalCount {
        /// What it says.
        declared: i64,
    },
    /// The duration of a record makes no sense.
    #[error("a record lasts {seconds:?} s, which gives its signals no rate")]
    RecordDuration {
        /// What the header says.
        seconds: f64,
    },
    /// A number of samples makes no sense.
    #[error("signal {signal} (`{label}`) has {declared} samples per record; there must be at least 1")]
    SampleCount {
        /// Which signal.
        signal: usize,
        /// Its label.
        label: String,
        /// What the header says.
        declared: i64,
    },
    /// Records are missing.
    #[error(
        "cut off: of the {declared} records declared, {present} are there and {missing} bytes of the others are missing"
    )]
    Truncated {
        /// The number of records in the header.
        declared: u64,
        /// The number of whole records in the file.
        present: u64,
        /// How many bytes the file is too short.
        missing: u64,
    },
    /// There are more records than declared.
    #[error("{declared} records are declared, but {present} are there ({extra} bytes too many)")]
    Trailing {
        /// The number of records in the header.
        declared: u64,
        /// The number of whole records in the file.
        present: u64,
        /// How many bytes the file is too long.
        extra: u64,
    },
    /// It became shorter meanwhile.
    #[error("cut off in record {record} while it was read")]
    Shrank {
        /// Which record could not be read.
        record: usize,
    },
    /// Its samples do not fit into memory.
    #[error("its samples take {bytes} bytes of memory, more than there is")]
    Memory {
        /// What they take.
        bytes: u128,
    },
    /// No signal was asked for.
    #[error("no signal is selected")]
    NoSignal,
    /// A signal that does not exist was asked for.
    #[error("signal {signal} is selected, but there are {signals} signals (counted from 0)")]
    UnknownSignal {
        /// Which one.
        signal: usize,
        /// The number of signals.
        signals: usize,
    },
    /// A signal without samples was asked for.
    #[error("signal {signal} (`{label}`) holds annotations, not samples")]
    AnnotationSignal {
        /// Which signal.
        signal: usize,
        /// Its label.
        label: String,
    },
    /// Signals of different rates were asked for at once.
    #[error(
        "signal {first} (`{first_label}`) has {first_sfreq} samples per second, signal {second} (`{second_label}`) has {second_sfreq}"
    )]
    Rates {
        /// The first signal that was asked for.
        first: usize,
        /// Its label.
        first_label: String,
        /// Its rate.
        first_sfreq: f64,
        /// The first of those with another rate.
        second: usize,
        /// Its label.
        second_label: String,
        /// Its rate.
        second_sfreq: f64,
    },
    /// The digital range of a signal is empty.
    #[error(
        "signal {signal} (`{label}`) has the digital minimum {minimum}, which is not below its maximum {maximum}"
    )]
    DigitalRange {
        /// Which signal.
        signal: usize,
        /// Its label.
        label: String,
        /// The digital minimum.
        minimum: i32,
        /// The digital maximum.
        maximum: i32,
    },
    /// The physical range of a signal is empty, or it makes numbers that `f64` does not have.
    #[error(
        "signal {signal} (`{label}`) cannot be scaled to its physical minimum {minimum:?} and maximum {maximum:?}"
    )]
    PhysicalRange {
        /// Which signal.
        signal: usize,
        /// Its label.
        label: String,
        /// The physical minimum.
        minimum: f64,
        /// The physical maximum.
        maximum: f64,
    },
    /// Annotations cannot be understood.
    #[error("record {record}, byte {byte} of signal {signal} (`{label}`): {problem}")]
    Annotation {
        /// Which record.
        record: usize,
        /// Which signal.
        signal: usize,
        /// Its label.
        label: String,
        /// Where in the signal's part of the record the annotation begins.
        byte: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A record of a discontinuous file does not say when it begins.
    #[error("discontinuous, but record {record} does not say when it begins")]
    NoTime {
        /// Which record.
        record: usize,
    },
    /// Records do not follow each other.
    #[error("{}", gaps(*count, first))]
    Gaps {
        /// How many gaps there are.
        count: usize,
        /// The first of them.
        first: Vec<Gap>,
    },
}

/// A number in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// What it is.
    pub name: &'static str,
    /// Whose it is, if not the whole file's.
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
    /// The error of this fault in a file.
    pub fn at(self, path: &Path) -> crate::Error {
        match self {
            Self::System(source) => crate::Error::File { path: path.to_owned(), source },
            fault => crate::Error::Edf { path: path.to_owned(), fault },
        }
    }

    /// What the user can do about it, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Folder => "name the file in it",
            Self::Empty | Self::ShortHeader { .. } | Self::Truncated { .. } => {
                "the file was cut off on the way: copy or download it again"
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

/// What a file is that is not EDF, if it tells, and what can be done with it.
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
        (1, _) => format!("its records do not follow each other: {list}"),
        (_, 0) => format!("its records do not follow each other {count} times: {list}"),
        _ => format!("its records do not follow each other {count} times: {list} and {more} more"),
    }
}
