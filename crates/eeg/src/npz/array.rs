//! Reading of one array.

use std::io::{self, Read, Seek};

use zip::read::ZipFile;
use zip::{CompressionMethod, ZipArchive};

use super::NpzFault;
use super::file::damaged;
use super::header::{self, Header};
use crate::Expansion;
use crate::shape;
use crate::trouble::{Trouble, is_content_error};

/// Bytes converted at a time.
const PIECE: usize = 4096;

/// An array whose header has been read and matches its size. The values follow.
pub(super) struct Array<'file, R: Read> {
    entry: ZipFile<'file, R>,
    pub(super) name: String,
    pub(super) header: Header,
    /// The number of values.
    pub(super) count: usize,
    /// The size of a value in bytes.
    pub(super) size: usize,
}

impl<'file, R: Read + Seek> Array<'file, R> {
    /// Opens the entry at an index of the archive. `length` is the length of the file.
    pub(super) fn open(
        archive: &'file mut ZipArchive<R>,
        index: usize,
        name: String,
        length: u64,
    ) -> Result<Self, Trouble<NpzFault>> {
        check_entry(archive, index, &name, length)?;
        let mut entry = archive.by_index(index).map_err(|error| damaged(&name, error))?;
        let (header, taken) = header::read(&mut entry, &name).map_err(|trouble| match trouble {
            Trouble::File(error) => content(&name, error),
            fault @ Trouble::Fault(_) => fault,
        })?;
        let count = shape::count(&header.shape);
        let bytes = count.zip(header.dtype.size()).and_then(|(count, size)| count.checked_mul(size));
        let (Some(count), Some(size), Some(expected)) = (count, header.dtype.size(), bytes) else {
            return Err(NpzFault::Uncountable { name, shape: header.shape }.into());
        };
        // The zip reader never returns more bytes than this.
        let found = entry.size().saturating_sub(taken);
        let expected = expected as u64;
        if expected != found {
            let (dtype, shape) = (header.dtype.to_string(), header.shape);
            return Err(NpzFault::Disagreement { name, dtype, shape, expected, found }.into());
        }
        Ok(Self { entry, name, header, count, size })
    }
}

impl<R: Read> Array<'_, R> {
    /// Reads bytes of values.
    pub(super) fn fill(&mut self, out: &mut [u8]) -> Result<(), Trouble<NpzFault>> {
        self.entry.read_exact(out).map_err(|error| content(&self.name, error))
    }

    /// Reads to the end, where the zip reader compares the checksum.
    pub(super) fn end(&mut self) -> Result<(), Trouble<NpzFault>> {
        match self.entry.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => {
                let reason = "more bytes than declared".to_owned();
                Err(NpzFault::Damaged { name: self.name.clone(), reason }.into())
            }
            Err(error) => Err(content(&self.name, error)),
        }
    }

    /// Reads all values. Memory grows with the bytes received.
    pub(super) fn collect<T>(
        &mut self,
        mut convert: impl FnMut(usize, &[u8]) -> Result<T, NpzFault>,
    ) -> Result<Vec<T>, Trouble<NpzFault>> {
        let mut values = Vec::new();
        let mut bytes = Vec::new();
        while values.len() < self.count {
            let now = (self.count - values.len()).min(PIECE / self.size).max(1) * self.size;
            bytes.clear();
            // A long text exceeds a piece, and the file may be too short for it.
            while bytes.len() < now {
                let from = bytes.len();
                bytes.resize(now.min(from + PIECE), 0);
                self.fill(&mut bytes[from..])?;
            }
            for bytes in bytes.chunks_exact(self.size) {
                values.push(convert(values.len(), bytes)?);
            }
        }
        self.end()?;
        Ok(values)
    }

    /// The fault of an array of the wrong kind.
    pub(super) fn kind(&self, expected: &'static str) -> NpzFault {
        NpzFault::Kind { name: self.name.clone(), dtype: self.header.dtype.to_string(), expected }
    }
}

/// Checks the declared sizes of an entry before reading its content.
fn check_entry<R: Read + Seek>(
    archive: &ZipArchive<R>,
    index: usize,
    name: &str,
    length: u64,
) -> Result<(), Trouble<NpzFault>> {
    let entry = archive.by_index_data(index).map_err(|error| damaged(name, error))?;
    let name = name.to_owned();
    if entry.encrypted() {
        return Err(NpzFault::Encrypted { name }.into());
    }
    let (stored, declared) = (entry.compressed_size(), entry.size());
    if stored > length {
        return Err(NpzFault::BeyondFile { name, declared: stored, length }.into());
    }
    match entry.compression() {
        CompressionMethod::Stored if stored == declared => Ok(()),
        CompressionMethod::Stored => Err(NpzFault::Stored { name, stored, declared }.into()),
        CompressionMethod::Deflated => Expansion::check(stored, declared)
            .map_err(|expansion| NpzFault::Expansion { name, expansion }.into()),
        other => Err(NpzFault::Compression { name, method: other.to_string() }.into()),
    }
}

/// An error of the decoder is a fault of the array; an error of the system is not.
fn content(name: &str, error: io::Error) -> Trouble<NpzFault> {
    if is_content_error(&error) { damaged(name, error.into()) } else { Trouble::File(error) }
}
