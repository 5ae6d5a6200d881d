//! What can be wrong with an archive of arrays.

use thiserror::Error;

use crate::Expansion;
use crate::names::list;
use crate::trouble::Trouble;

/// Why an archive cannot be read, has not what is asked of it, or cannot be written.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum NpzFault {
    /// There is nothing in it.
    #[error("the file is empty")]
    Empty,
    /// It is a single array.
    #[error("a single array (.npy), not an archive of arrays (.npz)")]
    SingleArray,
    /// It begins as something else.
    #[error("not an archive of NumPy arrays (.npz)")]
    NotZip,
    /// The end of the archive, which says what is in it, is not there.
    #[error("cut off: it begins as an archive, but does not end as one")]
    Torn,
    /// The end of the archive contradicts its length.
    #[error(
        "damaged: {entries} entries in {size} bytes at byte {place} are declared, but the list ends at byte {end}"
    )]
    Directory {
        /// The declared number of entries.
        entries: u64,
        /// The declared size of the list of entries.
        size: u64,
        /// Where it is declared to begin.
        place: u64,
        /// Where it must end.
        end: u64,
    },
    /// The list of entries cannot be read.
    #[error("the list of its entries is damaged ({reason})")]
    Entries {
        /// What the reader said.
        reason: String,
    },
    /// Two arrays have the same name.
    #[error("two arrays have the same name{}", name.as_ref().map_or(String::new(), |name| format!(": `{name}`")))]
    Duplicate {
        /// Their name, where it is known.
        name: Option<String>,
    },
    /// There is no array of that name.
    #[error("there is no array `{name}`, only {there}", there = list(there))]
    Missing {
        /// What was asked for.
        name: String,
        /// What is there.
        there: Vec<String>,
    },
    /// An array is encrypted.
    #[error("`{name}` is encrypted")]
    Encrypted {
        /// Which array.
        name: String,
    },
    /// An array is compressed in a way that NumPy does not use.
    #[error("`{name}` is compressed by method {method}; only stored and deflated arrays are read")]
    Compression {
        /// Which array.
        name: String,
        /// The method.
        method: String,
    },
    /// An entry reaches beyond the file.
    #[error("`{name}` declares {declared} bytes in a file of {length}")]
    BeyondFile {
        /// Which array.
        name: String,
        /// Its declared size in the file.
        declared: u64,
        /// The length of the file.
        length: u64,
    },
    /// The two sizes of an entry that is not compressed differ.
    #[error("`{name}` is stored in {stored} bytes, but declares {declared}")]
    Stored {
        /// Which array.
        name: String,
        /// The size in the file.
        stored: u64,
        /// The size of the array.
        declared: u64,
    },
    /// An array expands too far.
    #[error("`{name}` {expansion}")]
    Expansion {
        /// Which array.
        name: String,
        /// How far.
        expansion: Expansion,
    },
    /// An array cannot be inflated, ends early, or has the wrong checksum.
    #[error("`{name}` is damaged ({reason})")]
    Damaged {
        /// Which array.
        name: String,
        /// What the reader said.
        reason: String,
    },
    /// An entry is not an array.
    #[error("`{name}` does not begin as a NumPy array does")]
    NotNpy {
        /// Which entry.
        name: String,
    },
    /// An array is in a format that nobody has written yet.
    #[error("`{name}` is in version {major}.{minor} of the .npy format; 1.0, 2.0 and 3.0 are known")]
    Version {
        /// Which array.
        name: String,
        /// The version.
        major: u8,
        /// Its second number.
        minor: u8,
    },
    /// A header is too long.
    #[error("`{name}` has a header of {length} bytes; at most {most} are read")]
    LongHeader {
        /// Which array.
        name: String,
        /// The declared length.
        length: u64,
        /// The most that is read.
        most: u64,
    },
    /// A header is not the dictionary that NumPy writes.
    #[error("the header of `{name}` is not one of NumPy's: {expected} expected at character {place}")]
    Header {
        /// Which array.
        name: String,
        /// What must be there.
        expected: &'static str,
        /// Where, from 0.
        place: usize,
    },
    /// A header has a key twice, or one that is not NumPy's.
    #[error("the header of `{name}` has the key '{key}' {problem}")]
    Key {
        /// Which array.
        name: String,
        /// Which key.
        key: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A header lacks a key.
    #[error("the header of `{name}` has no '{key}'")]
    NoKey {
        /// Which array.
        name: String,
        /// Which key.
        key: &'static str,
    },
    /// An array of Python objects.
    #[error("`{name}` holds pickled Python objects, which are never read")]
    Objects {
        /// Which array.
        name: String,
    },
    /// An array of records.
    #[error("`{name}` holds records with fields, not plain values")]
    Records {
        /// Which array.
        name: String,
    },
    /// A type of values that is not read.
    #[error("`{name}` is of type '{dtype}', which is not read")]
    Type {
        /// Which array.
        name: String,
        /// Its type.
        dtype: String,
    },
    /// An array of another kind than what is asked for.
    #[error("`{name}` is of type '{dtype}' where {expected} are needed")]
    Kind {
        /// Which array.
        name: String,
        /// Its type.
        dtype: String,
        /// What is needed.
        expected: &'static str,
    },
    /// The number of values is too large.
    #[error("`{name}` with shape {shape:?} has more values than can be counted")]
    Uncountable {
        /// Which array.
        name: String,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// Too many dimensions.
    #[error("`{name}` has more than {most} dimensions")]
    Dimensions {
        /// Which array.
        name: String,
        /// The most there can be.
        most: usize,
    },
    /// Shape and bytes do not agree.
    #[error("`{name}` of type '{dtype}' with shape {shape:?} needs {expected} bytes and has {found}")]
    Disagreement {
        /// Which array.
        name: String,
        /// Its type.
        dtype: String,
        /// Its shape.
        shape: Vec<usize>,
        /// The bytes that these need.
        expected: u64,
        /// The bytes that it has.
        found: u64,
    },
    /// A value that is not what its type says.
    #[error("value {place} of `{name}` is {problem}")]
    Value {
        /// Which array.
        name: String,
        /// Which value, in the order of the file.
        place: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// An array without rows.
    #[error("`{name}` is a single value and has no rows")]
    NoRows {
        /// Which array.
        name: String,
    },
    /// A slice for a row, or a row, has the wrong length.
    #[error("a row of `{name}` has {expected} values; the slice has {found}")]
    RowLength {
        /// Which array.
        name: String,
        /// The length that fits.
        expected: usize,
        /// The length it has.
        found: usize,
    },
    /// A name that cannot be the name of an array.
    #[error(
        "`{name}` cannot be the name of an array: 1 to {most} bytes without slashes and control characters"
    )]
    Name {
        /// The name.
        name: String,
        /// The most bytes.
        most: usize,
    },
    /// Shape and values do not agree.
    #[error("`{name}` with shape {shape:?} needs {expected} values; {found} were given")]
    Count {
        /// Which array.
        name: String,
        /// Its shape.
        shape: Vec<usize>,
        /// How many values the shape has.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// Too few or too many rows.
    #[error("`{name}` has {expected} rows; {found} were given")]
    Rows {
        /// Which array.
        name: String,
        /// The number of rows by its shape.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// The writer cannot go on after an array that was not finished.
    #[error("`{name}` was not finished, so the archive cannot be")]
    Unfinished {
        /// Which array.
        name: String,
    },
    /// The archive cannot be written in this format.
    #[error("the archive cannot be written ({reason})")]
    Unwritable {
        /// What the writer said.
        reason: String,
    },
}

impl NpzFault {
    /// What the user can do about it.
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
            | Self::Damaged { .. } => {
                "the file was cut off or changed on the way: copy it again from where it was made"
            }
            Self::Objects { .. } => {
                "in Python, save arrays of numbers or text with `allow_pickle=False`, which says which one is not"
            }
            Self::Records { .. } => "in Python, save each field as an array of its own",
            Self::Expansion { .. } => {
                "measured signals do not shrink that much; if it is what you want, save it with `numpy.savez`, uncompressed"
            }
            Self::Kind { expected: "integers", .. } => "in Python, save `array.astype('int64')`",
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
