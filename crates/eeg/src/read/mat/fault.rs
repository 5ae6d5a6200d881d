//! Faults of a MAT-file.

use std::fmt;

use thiserror::Error;

use super::MatClass;
use crate::Expansion;
use crate::names::list;
use crate::shape::MOST_DIMENSIONS;
use crate::trouble::Trouble;

/// Faults of reading a MAT-file or one of its variables.
///
/// Places are bytes from the beginning of the file.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum MatFault {
    /// The file is empty.
    #[error("the file is empty")]
    Empty,
    /// The file begins like another format.
    #[error("not a MATLAB file")]
    NotMat,
    /// The file has version 7.3.
    #[error("a MATLAB file of version 7.3, which is an HDF5 file inside")]
    Hdf5,
    /// The file has level 4.
    #[error("a MATLAB file of level 4, the format before 1996")]
    Level4,
    /// The file has an unknown version.
    #[error("a MATLAB file of version {found:#06x}; only 0x0100 is known")]
    Version {
        /// The version.
        found: u16,
    },
    /// The file ends within its header.
    #[error("cut off after {found} of the 128 bytes of the header")]
    TornHeader {
        /// The bytes present.
        found: u64,
    },
    /// The file ends within the tag of an element.
    #[error("cut off at byte {place}: the file has {left} of the 8 bytes of a tag")]
    TornTag {
        /// The byte at which the tag begins.
        place: u64,
        /// The bytes present.
        left: u64,
    },
    /// The file ends within an element.
    #[error("cut off: the element at byte {place} declares {declared} bytes, of which {left} are there")]
    TornElement {
        /// The byte at which the element begins.
        place: u64,
        /// Its declared size.
        declared: u64,
        /// The bytes present.
        left: u64,
    },
    /// An element of the file is not a variable.
    #[error("the element at byte {place} is of type {kind}, which is not a variable")]
    NotVariable {
        /// The byte at which it begins.
        place: u64,
        /// The code of its type.
        kind: u32,
    },
    /// A compressed element does not hold a variable.
    #[error(
        "the compressed element at byte {place} holds an element of type {kind}, which is not a variable"
    )]
    NotVariableInside {
        /// The byte at which it begins.
        place: u64,
        /// The code of the type inside.
        kind: u32,
    },
    /// A compressed element expands above the limit.
    #[error("the compressed element at byte {place} {expansion}")]
    Expansion {
        /// The byte at which it begins.
        place: u64,
        /// The declared expansion.
        expansion: Expansion,
    },
    /// A compressed element cannot be inflated, or has the wrong checksum.
    #[error("the compressed element at byte {place} is damaged ({reason})")]
    Damaged {
        /// The byte at which it begins.
        place: u64,
        /// The message of the decoder.
        reason: String,
    },
    /// A part of a variable reaches beyond the variable.
    #[error("the {part} of the variable at byte {place} would take {needed} bytes, of which {left} are left")]
    Overrun {
        /// The byte at which the variable begins.
        place: u64,
        /// The part.
        part: VariablePart,
        /// The bytes required.
        needed: u64,
        /// Bytes left in the variable.
        left: u64,
    },
    /// A part of a variable has the wrong type or size.
    #[error("the {part} of the variable at byte {place} is {size} bytes of type {kind}; {expected}")]
    Malformed {
        /// The byte at which the variable begins.
        place: u64,
        /// The part.
        part: VariablePart,
        /// Its size.
        size: u32,
        /// The code of its type.
        kind: u32,
        /// The expected type and size.
        expected: &'static str,
    },
    /// A dimension is negative.
    #[error("the variable at byte {place} has a dimension of {length}")]
    Negative {
        /// The byte at which the variable begins.
        place: u64,
        /// The dimension.
        length: i32,
    },
    /// A name is not text.
    #[error("the name of the variable at byte {place} is not text")]
    Name {
        /// The byte at which the variable begins.
        place: u64,
    },
    /// The product of the dimensions overflows.
    #[error("`{name}` with dimensions {dims:?} has more numbers than can be counted")]
    Uncountable {
        /// The variable.
        name: String,
        /// Its dimensions.
        dims: Vec<usize>,
    },
    /// Numbers are stored in a type that is not numeric.
    #[error("the {part} of `{name}` is of type {kind}, which is not a type of numbers")]
    NotNumbers {
        /// The variable.
        name: String,
        /// Real or imaginary part.
        part: VariablePart,
        /// The code of its type.
        kind: u32,
    },
    /// Dimensions and number of bytes do not match.
    #[error("the {part} of `{name}` with dimensions {dims:?} needs {expected} bytes and has {found}")]
    Disagreement {
        /// The variable.
        name: String,
        /// Real or imaginary part.
        part: VariablePart,
        /// Its dimensions.
        dims: Vec<usize>,
        /// The bytes required.
        expected: u64,
        /// The bytes found.
        found: u64,
    },
    /// A variable has bytes after its last part.
    #[error("`{name}` is followed by unexpected bytes")]
    Leftover {
        /// The variable.
        name: String,
    },
    /// The requested variable is missing.
    #[error("there is no variable `{name}`; the file has {there}", there = list(there))]
    Missing {
        /// The requested name.
        name: String,
        /// The variables of the file.
        there: Vec<String>,
    },
    /// Two variables have the same name.
    #[error("there are two variables `{name}`")]
    Duplicate {
        /// Their name.
        name: String,
    },
    /// A variable is not a numeric array.
    #[error("`{name}` is of class {class}, not an array of numbers")]
    Class {
        /// The variable.
        name: String,
        /// Its class.
        class: MatClass,
    },
    /// A variable is complex where real numbers are needed.
    #[error("`{name}` is complex where real numbers are needed")]
    Complex {
        /// The variable.
        name: String,
    },
}

/// The parts of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariablePart {
    /// Class and properties.
    Flags,
    /// Dimensions.
    Dimensions,
    /// Name.
    Name,
    /// The numbers, or their real parts.
    Real,
    /// The imaginary parts of complex numbers.
    Imaginary,
}

impl fmt::Display for VariablePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flags => "block of array flags",
            Self::Dimensions => "list of dimensions",
            Self::Name => "name",
            Self::Real => "data",
            Self::Imaginary => "imaginary data",
        })
    }
}

/// The expected dimensions of a variable.
pub(super) const DIMENSIONS: &str = "2 to 32 numbers of type 5 are possible";
const _: () = assert!(MOST_DIMENSIONS == 32, "the message says so");

impl MatFault {
    /// Returns a hint for the user, if there is one.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Hdf5 | Self::Level4 => Some("in MATLAB, load it and save it again with `save(..., '-v7')`".into()),
            Self::Empty
            | Self::TornHeader { .. }
            | Self::TornTag { .. }
            | Self::TornElement { .. }
            | Self::Damaged { .. } => Some("the copy is incomplete or damaged: copy it again from the original".into()),
            Self::Expansion { .. } => Some(
                "the compression ratio is implausible for EEG; if the file is correct, save it uncompressed with `save(..., '-v6')`".into(),
            ),
            Self::Class { .. } => Some("only arrays of numbers are read: save the field or cell that is needed as a variable of its own".into()),
            _ => None,
        }
    }
}

impl From<MatFault> for Trouble<MatFault> {
    fn from(fault: MatFault) -> Self {
        Self::Fault(fault)
    }
}
