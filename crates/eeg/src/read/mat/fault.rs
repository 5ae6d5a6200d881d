//! What can be wrong with a MAT-file.

use std::fmt;

use thiserror::Error;

use super::MatClass;
use crate::Expansion;
use crate::names::list;
use crate::shape::MOST_DIMENSIONS;
use crate::trouble::Trouble;

/// Why a file is not a MAT-file that can be read, or has not what is asked of it.
///
/// Places are bytes from the beginning of the file.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum MatFault {
    /// There is nothing in it.
    #[error("the file is empty")]
    Empty,
    /// It begins as something else.
    #[error("not a MATLAB file")]
    NotMat,
    /// It is of version 7.3.
    #[error("a MATLAB file of version 7.3, which is an HDF5 file inside")]
    Hdf5,
    /// It is of level 4.
    #[error("a MATLAB file of level 4, the format before 1996")]
    Level4,
    /// It is of a version that nobody has written yet.
    #[error("a MATLAB file of version {found:#06x}; only 0x0100 is known")]
    Version {
        /// The version.
        found: u16,
    },
    /// It ends within its header.
    #[error("cut off after {found} of the 128 bytes of the header")]
    TornHeader {
        /// The bytes that are there.
        found: u64,
    },
    /// It ends within the tag of an element.
    #[error("cut off at byte {place}: {left} bytes of a tag of 8")]
    TornTag {
        /// Where the tag begins.
        place: u64,
        /// The bytes that are there.
        left: u64,
    },
    /// It ends within an element.
    #[error("cut off: the element at byte {place} declares {declared} bytes, of which {left} are there")]
    TornElement {
        /// Where the element begins.
        place: u64,
        /// Its declared size.
        declared: u64,
        /// The bytes that are there.
        left: u64,
    },
    /// An element of the file is no variable.
    #[error("the element at byte {place} is of type {kind}, which is not a variable")]
    NotVariable {
        /// Where it begins.
        place: u64,
        /// The code of its type.
        kind: u32,
    },
    /// A compressed element holds something else than a variable.
    #[error(
        "the compressed element at byte {place} holds an element of type {kind}, which is not a variable"
    )]
    NotVariableInside {
        /// Where it begins.
        place: u64,
        /// The code of the type inside.
        kind: u32,
    },
    /// A compressed element expands too far.
    #[error("the compressed element at byte {place} {expansion}")]
    Expansion {
        /// Where it begins.
        place: u64,
        /// How far.
        expansion: Expansion,
    },
    /// A compressed element cannot be inflated, or has the wrong checksum.
    #[error("the compressed element at byte {place} is damaged ({reason})")]
    Damaged {
        /// Where it begins.
        place: u64,
        /// What the decoder said.
        reason: String,
    },
    /// A part of a variable reaches beyond the variable.
    #[error("the {part} of the variable at byte {place} would take {needed} bytes, of which {left} are left")]
    Overrun {
        /// Where the variable begins.
        place: u64,
        /// Which part.
        part: Part,
        /// What it would take.
        needed: u64,
        /// What is left of the variable.
        left: u64,
    },
    /// A part of a variable is not of the type or size it must have.
    #[error("the {part} of the variable at byte {place} is {size} bytes of type {kind}; {expected}")]
    Malformed {
        /// Where the variable begins.
        place: u64,
        /// Which part.
        part: Part,
        /// Its size.
        size: u32,
        /// The code of its type.
        kind: u32,
        /// What it must be.
        expected: &'static str,
    },
    /// A dimension is negative.
    #[error("the variable at byte {place} has a dimension of {length}")]
    Negative {
        /// Where the variable begins.
        place: u64,
        /// The dimension.
        length: i32,
    },
    /// A name is not text.
    #[error("the name of the variable at byte {place} is not text")]
    Name {
        /// Where the variable begins.
        place: u64,
    },
    /// The product of the dimensions is too large.
    #[error("`{name}` with dimensions {dims:?} has more numbers than can be counted")]
    Uncountable {
        /// Which variable.
        name: String,
        /// Its dimensions.
        dims: Vec<usize>,
    },
    /// Numbers are stored in a type that is not numeric.
    #[error("the {part} of `{name}` is of type {kind}, which is not a type of numbers")]
    NotNumbers {
        /// Which variable.
        name: String,
        /// Real or imaginary part.
        part: Part,
        /// The code of its type.
        kind: u32,
    },
    /// The dimensions and the bytes do not agree.
    #[error("the {part} of `{name}` with dimensions {dims:?} needs {expected} bytes and has {found}")]
    Disagreement {
        /// Which variable.
        name: String,
        /// Real or imaginary part.
        part: Part,
        /// Its dimensions.
        dims: Vec<usize>,
        /// The bytes that these need.
        expected: u64,
        /// The bytes that it has.
        found: u64,
    },
    /// There is more in a variable than its parts.
    #[error("`{name}` is followed by bytes that belong to nothing")]
    Leftover {
        /// Which variable.
        name: String,
    },
    /// There is no variable of that name.
    #[error("there is no variable `{name}`, only {there}", there = list(there))]
    Missing {
        /// What was asked for.
        name: String,
        /// What is there.
        there: Vec<String>,
    },
    /// Two variables have the same name.
    #[error("there are two variables `{name}`")]
    Duplicate {
        /// Their name.
        name: String,
    },
    /// A variable is not an array of numbers.
    #[error("`{name}` is of class {class}, not an array of numbers")]
    Class {
        /// Which variable.
        name: String,
        /// Its class.
        class: MatClass,
    },
    /// A variable is complex where real numbers are needed.
    #[error("`{name}` is complex where real numbers are needed")]
    Complex {
        /// Which variable.
        name: String,
    },
}

/// The parts of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
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

impl fmt::Display for Part {
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

/// What the dimensions of a variable must be.
pub(super) const DIMENSIONS: &str = "2 to 32 numbers of type 5 are possible";
const _: () = assert!(MOST_DIMENSIONS == 32, "the message says so");

impl MatFault {
    /// What the user can do about it.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Hdf5 | Self::Level4 => Some("in MATLAB, load it and save it again with `save(..., '-v7')`".into()),
            Self::Empty
            | Self::TornHeader { .. }
            | Self::TornTag { .. }
            | Self::TornElement { .. }
            | Self::Damaged { .. } => Some("the file was cut off or changed on the way: copy it again from where it was made".into()),
            Self::Expansion { .. } => Some(
                "measured signals do not shrink that much; if it is what you want, save it uncompressed with `save(..., '-v6')`".into(),
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
