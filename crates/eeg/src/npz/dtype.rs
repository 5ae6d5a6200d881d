//! Value types of arrays.

use std::fmt;

use crate::number::{ByteOrder, Number};

/// The value type of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dtype {
    Bool,
    Number(Number, ByteOrder),
    /// Text of this many code points; shorter texts are padded with zeros.
    Text(usize, ByteOrder),
    /// Text of this many bytes, padded in the same way.
    Bytes(usize),
}

/// The kind of values in an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// `False` and `True`.
    Boolean,
    /// Integers of any size.
    Integer,
    /// Floating-point numbers.
    Float,
    /// Texts, as code points or as bytes.
    Text,
}

impl Dtype {
    pub(super) fn kind(self) -> ValueKind {
        match self {
            Self::Bool => ValueKind::Boolean,
            Self::Number(number, _) if number.is_float() => ValueKind::Float,
            Self::Number(..) => ValueKind::Integer,
            Self::Text(..) | Self::Bytes(_) => ValueKind::Text,
        }
    }

    /// Parses NumPy's notation of a type.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut letters = text.chars();
        let mark = letters.next()?;
        let kind = letters.next()?;
        let digits = letters.as_str();
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) || digits.starts_with('0')
        {
            return None;
        }
        let size: usize = digits.parse().ok()?;
        let number = match (kind, size) {
            ('b', 1) => return (mark == '|').then_some(Self::Bool),
            ('S', _) => return (mark == '|').then_some(Self::Bytes(size)),
            ('U', _) => return order(mark).map(|order| Self::Text(size, order)),
            ('i', 1) => return (mark == '|').then_some(Self::Number(Number::I8, ByteOrder::Little)),
            ('u', 1) => return (mark == '|').then_some(Self::Number(Number::U8, ByteOrder::Little)),
            ('i', 2) => Number::I16,
            ('u', 2) => Number::U16,
            ('i', 4) => Number::I32,
            ('u', 4) => Number::U32,
            ('i', 8) => Number::I64,
            ('u', 8) => Number::U64,
            ('f', 4) => Number::F32,
            ('f', 8) => Number::F64,
            _ => return None,
        };
        order(mark).map(|order| Self::Number(number, order))
    }

    /// The size of a value in bytes; `None` on overflow.
    pub(super) fn size(self) -> Option<usize> {
        match self {
            Self::Bool => Some(1),
            Self::Number(number, _) => Some(number.size()),
            Self::Text(length, _) => length.checked_mul(4),
            Self::Bytes(length) => Some(length),
        }
    }
}

fn order(mark: char) -> Option<ByteOrder> {
    match mark {
        '<' => Some(ByteOrder::Little),
        '>' => Some(ByteOrder::Big),
        _ => None,
    }
}

/// Writes NumPy's notation of the type.
impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = |order: &ByteOrder| if *order == ByteOrder::Little { '<' } else { '>' };
        match self {
            Self::Bool => f.write_str("|b1"),
            Self::Bytes(length) => write!(f, "|S{length}"),
            Self::Text(length, order) => write!(f, "{}U{length}", mark(order)),
            Self::Number(number, order) => match number {
                Number::I8 => f.write_str("|i1"),
                Number::U8 => f.write_str("|u1"),
                Number::I16 | Number::I32 | Number::I64 => write!(f, "{}i{}", mark(order), number.size()),
                Number::U16 | Number::U32 | Number::U64 => write!(f, "{}u{}", mark(order), number.size()),
                Number::F32 | Number::F64 => write!(f, "{}f{}", mark(order), number.size()),
            },
        }
    }
}
