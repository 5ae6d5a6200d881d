//! Classes of variables.

use std::fmt;

/// The class of a variable, as MATLAB's `class` returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MatClass {
    /// `double`
    Double,
    /// `single`
    Single,
    /// `int8`
    Int8,
    /// `uint8`
    Uint8,
    /// `int16`
    Int16,
    /// `uint16`
    Uint16,
    /// `int32`
    Int32,
    /// `uint32`
    Uint32,
    /// `int64`
    Int64,
    /// `uint64`
    Uint64,
    /// `char`; its numbers are the codes of the characters.
    Char,
    /// `logical`; its numbers are 0 and 1.
    Logical,
    /// `cell`
    Cell,
    /// `struct`
    Struct,
    /// An object of an old-style class.
    Object,
    /// A sparse matrix.
    Sparse,
    /// A function handle.
    Function,
    /// An object of a new-style class: `string`, `table`, `datetime` and others.
    Opaque,
    /// A code that the format does not define.
    Unknown(u8),
}

impl MatClass {
    /// The class of a code in the format.
    pub(super) fn of(code: u8, logical: bool) -> Self {
        let class = match code {
            1 => Self::Cell,
            2 => Self::Struct,
            3 => Self::Object,
            4 => Self::Char,
            5 => Self::Sparse,
            6 => Self::Double,
            7 => Self::Single,
            8 => Self::Int8,
            9 => Self::Uint8,
            10 => Self::Int16,
            11 => Self::Uint16,
            12 => Self::Int32,
            13 => Self::Uint32,
            14 => Self::Int64,
            15 => Self::Uint64,
            16 => Self::Function,
            17 => Self::Opaque,
            other => Self::Unknown(other),
        };
        if logical && class.is_numeric() { Self::Logical } else { class }
    }

    /// Whether its content can be read as numbers.
    pub fn is_numeric(self) -> bool {
        !matches!(
            self,
            Self::Cell
                | Self::Struct
                | Self::Object
                | Self::Sparse
                | Self::Function
                | Self::Opaque
                | Self::Unknown(_)
        )
    }
}

impl fmt::Display for MatClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Double => "double",
            Self::Single => "single",
            Self::Int8 => "int8",
            Self::Uint8 => "uint8",
            Self::Int16 => "int16",
            Self::Uint16 => "uint16",
            Self::Int32 => "int32",
            Self::Uint32 => "uint32",
            Self::Int64 => "int64",
            Self::Uint64 => "uint64",
            Self::Char => "char",
            Self::Logical => "logical",
            Self::Cell => "cell",
            Self::Struct => "struct",
            Self::Object => "object",
            Self::Sparse => "sparse",
            Self::Function => "function handle",
            Self::Opaque => "opaque object",
            Self::Unknown(code) => return write!(f, "{code}"),
        })
    }
}
