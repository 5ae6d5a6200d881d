//! Number types in files, and their conversion.

/// The byte order of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    /// The least significant byte first.
    Little,
    /// The most significant byte first.
    Big,
}

impl ByteOrder {
    /// The bytes with the least significant first.
    fn little<const N: usize>(self, mut bytes: [u8; N]) -> [u8; N] {
        if self == Self::Big {
            bytes.reverse();
        }
        bytes
    }

    pub(crate) fn u32(self, bytes: [u8; 4]) -> u32 {
        u32::from_le_bytes(self.little(bytes))
    }
}

/// The storage type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Number {
    /// The size in bytes.
    pub(crate) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// Converts as many numbers as there are bytes for. Integers beyond 2^53 are rounded to the
    /// nearest.
    pub(crate) fn floats(self, order: ByteOrder, bytes: &[u8], out: &mut [f64]) {
        match self {
            Self::I8 => each(bytes, out, |[byte]| f64::from(byte.cast_signed())),
            Self::U8 => each(bytes, out, |[byte]| f64::from(byte)),
            Self::I16 => each(bytes, out, |b| f64::from(i16::from_le_bytes(order.little(b)))),
            Self::U16 => each(bytes, out, |b| f64::from(u16::from_le_bytes(order.little(b)))),
            Self::I32 => each(bytes, out, |b| f64::from(i32::from_le_bytes(order.little(b)))),
            Self::U32 => each(bytes, out, |b| f64::from(u32::from_le_bytes(order.little(b)))),
            Self::I64 => each(bytes, out, |b| i64::from_le_bytes(order.little(b)) as f64),
            Self::U64 => each(bytes, out, |b| u64::from_le_bytes(order.little(b)) as f64),
            Self::F32 => each(bytes, out, |b| f64::from(f32::from_le_bytes(order.little(b)))),
            Self::F64 => each(bytes, out, |b| f64::from_le_bytes(order.little(b))),
        }
    }

    /// Reads one integer from exactly [`size`](Self::size) bytes. Returns `None` for a
    /// floating-point type or a value beyond `i64`.
    pub(crate) fn integer(self, order: ByteOrder, bytes: &[u8]) -> Option<i64> {
        match (self, bytes) {
            (Self::I8, &[byte]) => Some(byte.cast_signed().into()),
            (Self::U8, &[byte]) => Some(byte.into()),
            (Self::I16, _) => bytes.try_into().ok().map(|b| i16::from_le_bytes(order.little(b)).into()),
            (Self::U16, _) => bytes.try_into().ok().map(|b| u16::from_le_bytes(order.little(b)).into()),
            (Self::I32, _) => bytes.try_into().ok().map(|b| i32::from_le_bytes(order.little(b)).into()),
            (Self::U32, _) => bytes.try_into().ok().map(|b| u32::from_le_bytes(order.little(b)).into()),
            (Self::I64, _) => bytes.try_into().ok().map(|b| i64::from_le_bytes(order.little(b))),
            (Self::U64, _) => {
                let number = bytes.try_into().ok().map(|b| u64::from_le_bytes(order.little(b)));
                number.and_then(|number| i64::try_from(number).ok())
            }
            _ => None,
        }
    }
}

/// Reads an integer of up to 8 bytes, the least significant first.
pub(crate) fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

fn each<const N: usize>(bytes: &[u8], out: &mut [f64], convert: impl Fn([u8; N]) -> f64) {
    for (value, bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
        *value = convert(*bytes);
    }
}
