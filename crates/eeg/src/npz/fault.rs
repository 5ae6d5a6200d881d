//! Faults of an archive of arrays.

use thiserror::Error;

use crate::Expansion;
use crate::names::list;
use crate::trouble::Trouble;

/// Faults of reading or writing an archive of arrays.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum NpzFault {
    /// The file is empty.
    #[error("the file is empty")]
    Empty,
    /// The file is a single array.
    #[error("a single array (.npy), not an archive of arrays (.npz)")]
    SingleArray,
    /// The file begins like another format.
    #[error("not an archive of NumPy arrays (.npz)")]
    NotZip,
    /// The end record of the archive is missing.
    #[error("incomplete or damaged archive: it has no end record")]
    Torn,
    /// The end record of the archive contradicts its length.
    #[error(
        "damaged: {entries} entries in {size} bytes at byte {place} are declared, but the list ends at byte {end}"
    )]
    Directory {
        /// The declared number of entries.
        entries: u64,
        /// The declared size of the list of entries.
        size: u64,
        /// The byte at which it is declared to begin.
        place: u64,
        /// The byte at which it must end.
        end: u64,
    },
    /// The list of entries cannot be read.
    #[error("the list of its entries is damaged ({reason})")]
    Entries {
        /// The message of the reader.
        reason: String,
    },
    /// Two arrays have the same name.
    #[error("two arrays have the same name{}", name.as_ref().map_or(String::new(), |name| format!(": `{name}`")))]
    Duplicate {
        /// Their name, if known.
        name: Option<String>,
    },
    /// The requested array is missing.
    #[error("there is no array `{name}`; the file has {there}", there = list(there))]
    Missing {
        /// The requested name.
        name: String,
        /// The arrays of the archive.
        there: Vec<String>,
    },
    /// An array is encrypted.
    #[error("`{name}` is encrypted")]
    Encrypted {
        /// The array.
        name: String,
    },
    /// An array is compressed by a method that NumPy does not use.
    #[error("`{name}` is compressed by method {method}; only stored and deflated arrays are read")]
    Compression {
        /// The array.
        name: String,
        /// The method.
        method: String,
    },
    /// An entry reaches beyond the file.
    #[error("`{name}` declares {declared} bytes in a file of {length}")]
    BeyondFile {
        /// The array.
        name: String,
        /// Its declared size in the file.
        declared: u64,
        /// The length of the file.
        length: u64,
    },
    /// The two sizes of an entry that is not compressed differ.
    #[error("`{name}` is stored in {stored} bytes, but declares {declared}")]
    Stored {
        /// The array.
        name: String,
        /// The size in the file.
        stored: u64,
        /// The size of the array.
        declared: u64,
    },
    /// An array expands above the limit.
    #[error("`{name}` {expansion}")]
    Expansion {
        /// The array.
        name: String,
        /// The declared expansion.
        expansion: Expansion,
    },
    /// An array cannot be inflated, ends early, or has the wrong checksum.
    #[error("`{name}` is damaged ({reason})")]
    Damaged {
        /// The array.
        name: String,
        /// The message of the reader.
        reason: String,
    },
    /// An entry is not an array.
    #[error("`{name}` is not a NumPy array (wrong first bytes)")]
    NotNpy {
        /// The entry.
        name: String,
    },
    /// An array has an unknown version of the format.
    #[error("`{name}` is in version {major}.{minor} of the .npy format; 1.0, 2.0 and 3.0 are known")]
    Version {
        /// The array.
        name: String,
        /// The major version.
        major: u8,
        /// The minor version.
        minor: u8,
    },
    /// A header is too long.
    #[error("`{name}` has a header of {length} bytes; at most {most} are read")]
    LongHeader {
        /// The array.
        name: String,
        /// The declared length.
        length: u64,
        /// The largest length that is read.
        most: u64,
    },
    /// A header is not the dictionary that NumPy writes.
    #[error("the header of `{name}` is not one of NumPy's: {expected} expected at character {place}")]
    Header {
        /// The array.
        name: String,
        /// The expected token.
        expected: &'static str,
        /// The character, from 0.
        place: usize,
    },
    /// A header has a key twice, or a key that NumPy does not write.
    #[error("the header of `{name}` has the key '{key}' {problem}")]
    Key {
        /// The array.
        name: String,
        /// The key.
        key: String,
        /// The fault.
        problem: &'static str,
    },
    /// A header lacks a key.
    #[error("the header of `{name}` has no '{key}'")]
    NoKey {
        /// The array.
        name: String,
        /// The key.
        key: &'static str,
    },
    /// An array holds Python objects.
    #[error("`{name}` holds pickled Python objects, which are never read")]
    Objects {
        /// The array.
        name: String,
    },
    /// An array holds records.
    #[error("`{name}` holds records with fields, not plain values")]
    Records {
        /// The array.
        name: String,
    },
    /// The value type is not supported.
    #[error("`{name}` is of type '{dtype}', which is not read")]
    Type {
        /// The array.
        name: String,
        /// Its type.
        dtype: String,
    },
    /// An array has another kind of values than requested.
    #[error("`{name}` is of type '{dtype}' where {expected} are needed")]
    Kind {
        /// The array.
        name: String,
        /// Its type.
        dtype: String,
        /// The requested kind.
        expected: &'static str,
    },
    /// The number of values is too large.
    #[error("`{name}` with shape {shape:?} has more values than can be counted")]
    Uncountable {
        /// The array.
        name: String,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// Too many dimensions.
    #[error("`{name}` has more than {most} dimensions")]
    Dimensions {
        /// The array.
        name: String,
        /// The largest number of dimensions.
        most: usize,
    },
    /// Shape and number of bytes do not match.
    #[error("`{name}` of type '{dtype}' with shape {shape:?} needs {expected} bytes and has {found}")]
    Disagreement {
        /// The array.
        name: String,
        /// Its type.
        dtype: String,
        /// Its shape.
        shape: Vec<usize>,
        /// The bytes required.
        expected: u64,
        /// The bytes found.
        found: u64,
    },
    /// A value is not valid for its type.
    #[error("value {place} of `{name}` is {problem}")]
    Value {
        /// The array.
        name: String,
        /// The index of the value, in the order of the file.
        place: usize,
        /// The fault.
        problem: &'static str,
    },
    /// An array has no rows.
    #[error("`{name}` is a single value and has no rows")]
    NoRows {
        /// The array.
        name: String,
    },
    /// A row has the wrong length.
    #[error("a row of `{name}` has {expected} values; the slice has {found}")]
    RowLength {
        /// The array.
        name: String,
        /// The expected length.
        expected: usize,
        /// The length found.
        found: usize,
    },
    /// A name is not valid for an array.
    #[error(
        "`{name}` cannot be the name of an array: 1 to {most} bytes without slashes and control characters"
    )]
    Name {
        /// The name.
        name: String,
        /// The largest number of bytes.
        most: usize,
    },
    /// Shape and number of values do not match.
    #[error("`{name}` with shape {shape:?} needs {expected} values; {found} were given")]
    Count {
        /// The array.
        name: String,
        /// Its shape.
        shape: Vec<usize>,
        /// The number of values by its shape.
        expected: usize,
        /// The number given.
        found: usize,
    },
    /// Too few or too many rows.
    #[error("`{name}` has {expected} rows; {found} were given")]
    Rows {
        /// The array.
        name: String,
        /// The number of rows by its shape.
        expected: usize,
        /// The number given.
        found: usize,
    },
    /// An array was not finished before the next step of the writer.
    #[error("array `{name}` of the archive was not finished")]
    Unfinished {
        /// The array.
        name: String,
    },
    /// The archive cannot be written in this format.
    #[error("the archive cannot be written ({reason})")]
    Unwritable {
        /// The message of the writer.
        reason: String,
    },
}

impl NpzFault {
    /// Returns a hint for the user, if there is one.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::SingleArray | Self::NotZip => {
                "in Python, write it with `numpy.savez(path, name=array, ...)`"
            }
            Self::Empty
            | Self::Torn
            | Self::Directory { .. }
            | Self::Entries { .. }
            | Self::BeyondFile { .. }
            | Self::Damaged { .. } => "the copy is incomplete or damaged: copy it again from the original",
            Self::Objects { .. } => {
                "in Python, convert the array before saving it: `.astype(str)` for names, `.astype(float)` for numbers"
            }
            Self::Type { .. } => {
                "in Python, convert the array before saving it: `.astype('float64')` for numbers, `.astype(str)` for anything else"
            }
            Self::Records { .. } => "in Python, save each field as an array of its own",
            Self::Expansion { .. } => {
                "the compression ratio is implausible for EEG; if the file is correct, save it uncompressed with `numpy.savez`"
            }
            Self::Kind { expected: "integers", .. } => "in Python, save `array.astype('int64')`",
            Self::Kind { expected: "texts", .. } => "in Python, save `array.astype(str)`",
            Self::Encrypted { .. } | Self::Compression { .. } => {
                "unpack it and pack it again as plain zip, or write it with `numpy.savez`"
            }
            _ => return None,
        };
        Some(hint.into())
    }
}

impl From<NpzFault> for Trouble<NpzFault> {
    fn from(fault: NpzFault) -> Self {
        Self::Fault(fault)
    }
}
