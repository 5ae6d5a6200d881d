//! The bytes of one variable, inflated if necessary.

use std::io::{self, Read, Take};

use flate2::read::ZlibDecoder;

use super::{MatFault, VariablePart};
use crate::trouble::{Trouble, is_content_error, reason};

/// Reads within one variable, never beyond it.
pub(super) struct Body<'file, R> {
    bytes: Bytes<'file, R>,
    /// The byte at which its element begins in the file.
    pub(super) place: u64,
    /// Bytes left in the variable.
    pub(super) left: u64,
}

enum Bytes<'file, R> {
    Plain(&'file mut R),
    Deflated(ZlibDecoder<Take<&'file mut R>>),
}

impl<'file, R: Read> Body<'file, R> {
    /// Reads a variable of `size` uncompressed bytes.
    pub(super) fn plain(reader: &'file mut R, place: u64, size: u64) -> Self {
        Self { bytes: Bytes::Plain(reader), place, left: size }
    }

    /// Reads a deflated element of `size` bytes. Its inner tag of 8 bytes comes first.
    pub(super) fn deflated(reader: &'file mut R, place: u64, size: u64) -> Self {
        Self { bytes: Bytes::Deflated(ZlibDecoder::new(reader.take(size))), place, left: 8 }
    }

    /// Reads the bytes of a part.
    pub(super) fn fill(&mut self, part: VariablePart, out: &mut [u8]) -> Result<(), Trouble<MatFault>> {
        self.check(part, out.len() as u64)?;
        self.left -= out.len() as u64;
        match &mut self.bytes {
            Bytes::Plain(reader) => reader.read_exact(out).map_err(Trouble::File),
            Bytes::Deflated(decoder) => {
                let place = self.place;
                decoder.read_exact(out).map_err(|error| damaged(place, error))
            }
        }
    }

    /// Checks that this many bytes of a part are left.
    pub(super) fn check(&self, part: VariablePart, needed: u64) -> Result<(), MatFault> {
        if needed <= self.left {
            return Ok(());
        }
        Err(MatFault::Overrun { place: self.place, part, needed, left: self.left })
    }

    /// Skips padding. Some writers omit it at the end.
    pub(super) fn pad(&mut self, part: VariablePart, padding: usize) -> Result<(), Trouble<MatFault>> {
        let padding = padding.min(usize::try_from(self.left).unwrap_or(usize::MAX));
        self.fill(part, &mut [0; 8][..padding])
    }

    /// Whether the variable ends here. Reaching the end of a deflated variable compares its
    /// checksum.
    pub(super) fn ends(&mut self) -> Result<bool, Trouble<MatFault>> {
        if self.left > 0 {
            return Ok(false);
        }
        let Bytes::Deflated(decoder) = &mut self.bytes else { return Ok(true) };
        match decoder.read(&mut [0]) {
            Ok(found) => Ok(found == 0),
            Err(error) => Err(damaged(self.place, error)),
        }
    }
}

fn damaged(place: u64, error: io::Error) -> Trouble<MatFault> {
    if is_content_error(&error) {
        MatFault::Damaged { place, reason: reason(&error) }.into()
    } else {
        Trouble::File(error)
    }
}
