//! Elements: a tag and its content.

use std::io::Read;

use super::body::Body;
use super::{MatFault, VariablePart};
use crate::number::{ByteOrder, Number};
use crate::trouble::Trouble;

/// The type of an element that is a variable.
pub(super) const MATRIX: u32 = 14;
/// The type of an element that holds a deflated element.
pub(super) const COMPRESSED: u32 = 15;

/// The size of a normal tag.
pub(super) const TAG: u64 = 8;

/// The tag before the content of a part.
#[derive(Clone, Copy)]
pub(super) struct Tag {
    pub(super) kind: u32,
    pub(super) size: u32,
    /// The padding after the content.
    pub(super) padding: usize,
}

impl Tag {
    /// Reads the tag of a part; its content must be within the variable.
    pub(super) fn read<R: Read>(
        body: &mut Body<'_, R>,
        order: ByteOrder,
        part: VariablePart,
    ) -> Result<Self, Trouble<MatFault>> {
        let mut word = [0; 4];
        body.fill(part, &mut word)?;
        let first = order.u32(word);
        // The small format: size and type share the first word, the content is the second.
        let (kind, size) = (first & 0xffff, first >> 16);
        if size > 0 {
            if size > 4 {
                let expected = "the small format has up to 4 bytes";
                return Err(MatFault::Malformed { place: body.place, part, size, kind, expected }.into());
            }
            body.check(part, size.into())?;
            return Ok(Self { kind, size, padding: 4 - size as usize });
        }
        body.fill(part, &mut word)?;
        let size = order.u32(word);
        body.check(part, size.into())?;
        Ok(Self { kind, size, padding: (size as usize).wrapping_neg() % 8 })
    }

    /// The storage type of its numbers, if it holds numbers. Text counts as numbers: the codes of
    /// its characters.
    pub(super) fn number(self) -> Option<Number> {
        match self.kind {
            1 => Some(Number::I8),
            2 | 16 => Some(Number::U8),
            3 => Some(Number::I16),
            4 | 17 => Some(Number::U16),
            5 => Some(Number::I32),
            6 | 18 => Some(Number::U32),
            7 => Some(Number::F32),
            9 => Some(Number::F64),
            12 => Some(Number::I64),
            13 => Some(Number::U64),
            _ => None,
        }
    }
}
