//! Writing of an archive of arrays.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipWriter};

use super::NpzFault;
use super::dtype::Dtype;
use super::file::{error, reason};
use super::header::{self, Header};
use super::neighbour::{Abandon, Neighbour, Output};
use super::write_rows::{Float, NpzRowWriter};
use crate::Error;
use crate::number::{ByteOrder, Number};
use crate::shape::{self, MOST_DIMENSIONS};
use crate::trouble::Trouble;

const LONGEST_NAME: usize = 255;
/// From this size on an entry has 64-bit sizes, as in Python's `zipfile`.
const LARGE: u64 = (1 << 31) - 1;

/// Writes an archive of arrays. The archive appears under its name when it is finished. Until then,
/// or if it is never finished, an existing file stays unchanged.
///
/// The same arrays give the same bytes. Arrays given as a whole are deflated. Arrays given row by
/// row are stored uncompressed: they are large, and noise hardly compresses.
pub struct NpzWriter {
    // The order of the fields matters: an unfinished archive is abandoned, then closed, then
    // removed.
    _abandon: Abandon,
    archive: ZipWriter<Output>,
    neighbour: Neighbour,
    path: PathBuf,
    names: HashSet<String>,
    /// The array that is being written; kept if writing fails.
    current: Option<String>,
}

impl NpzWriter {
    /// Begins an archive.
    ///
    /// # Errors
    /// [`Error::File`] if no file can be created beside the path.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref().to_owned();
        let made = Neighbour::create(&path).map_err(|source| error(&path, Trouble::File(source)));
        let (neighbour, output, abandon) = made?;
        let (archive, names) = (ZipWriter::new(output), HashSet::new());
        Ok(Self { _abandon: abandon, archive, neighbour, path, names, current: None })
    }

    /// Writes an array of `float64`.
    ///
    /// # Errors
    /// [`Error::Npz`] if the name is taken or not valid, or if shape and values do not match;
    /// [`Error::File`].
    pub fn floats(&mut self, name: &str, shape: &[usize], values: &[f64]) -> Result<(), Error> {
        self.numbers(name, shape, Number::F64, values, f64::to_le_bytes)
    }

    /// Writes an array of `float32`.
    ///
    /// # Errors
    /// As [`floats`](Self::floats).
    pub fn floats32(&mut self, name: &str, shape: &[usize], values: &[f32]) -> Result<(), Error> {
        self.numbers(name, shape, Number::F32, values, f32::to_le_bytes)
    }

    /// Writes an array of `int64`.
    ///
    /// # Errors
    /// As [`floats`](Self::floats).
    pub fn integers(&mut self, name: &str, shape: &[usize], values: &[i64]) -> Result<(), Error> {
        self.numbers(name, shape, Number::I64, values, i64::to_le_bytes)
    }

    /// Writes an array of texts, each padded to the length of the longest.
    ///
    /// # Errors
    /// As [`floats`](Self::floats); [`Error::Npz`] if a text ends in a zero, which NumPy takes for
    /// padding.
    pub fn strings(&mut self, name: &str, shape: &[usize], values: &[impl AsRef<str>]) -> Result<(), Error> {
        let length = values.iter().map(|text| text.as_ref().chars().count()).max().unwrap_or(0).max(1);
        let dtype = Dtype::Text(length, ByteOrder::Little);
        if let Some(place) = values.iter().position(|text| text.as_ref().ends_with('\0')) {
            let problem = "a text that ends in a zero, which would be lost";
            return Err(self.at(NpzFault::Value { name: name.to_owned(), place, problem }.into()));
        }
        self.whole(name, shape, dtype, values.len(), |out| {
            for text in values {
                let points = text.as_ref().chars().map(u32::from).chain(std::iter::repeat(0));
                points.take(length).try_for_each(|point| out.write_all(&point.to_le_bytes()))?;
            }
            Ok(())
        })
    }

    /// Begins an array of `float64` (`T = f64`) or `float32` (`T = f32`) that is written row by
    /// row. A row holds all values with the same first index.
    ///
    /// # Errors
    /// [`Error::Npz`] if the name is taken or not valid, or if the shape has no first axis or too
    /// many values; [`Error::File`].
    pub fn float_rows<T: Float>(
        &mut self,
        name: &str,
        shape: &[usize],
    ) -> Result<NpzRowWriter<'_, T>, Error> {
        let dtype = Dtype::Number(if T::SIZE == 4 { Number::F32 } else { Number::F64 }, ByteOrder::Little);
        let begun = || -> Result<(usize, usize), Trouble<NpzFault>> {
            let Some((&rows, row)) = shape.split_first() else {
                return Err(NpzFault::NoRows { name: name.to_owned() }.into());
            };
            let row_len = shape::count(row).ok_or_else(|| uncountable(name, shape))?;
            Ok((rows, row_len))
        };
        let (rows, row_len) = begun().map_err(|trouble| self.at(trouble))?;
        self.begin(name, shape, dtype, CompressionMethod::Stored).map_err(|trouble| self.at(trouble))?;
        Ok(NpzRowWriter::new(self, name.to_owned(), rows, row_len))
    }

    /// Writes the list of entries, and gives the file its final name.
    ///
    /// # Errors
    /// [`Error::Npz`] if an array was not finished; [`Error::File`].
    pub fn finish(self) -> Result<(), Error> {
        if let Some(name) = &self.current {
            return Err(self.at(NpzFault::Unfinished { name: name.clone() }.into()));
        }
        let Self { archive, neighbour, path, .. } = self;
        let finished = archive.finish().map_err(unwritable);
        let placed = finished.and_then(|output| Ok(neighbour.rename(output)?));
        placed.map_err(|trouble| error(&path, trouble))
    }

    fn numbers<T: Copy, const N: usize>(
        &mut self,
        name: &str,
        shape: &[usize],
        number: Number,
        values: &[T],
        bytes: impl Fn(T) -> [u8; N],
    ) -> Result<(), Error> {
        let dtype = Dtype::Number(number, ByteOrder::Little);
        self.whole(name, shape, dtype, values.len(), |out| write_numbers(out, values, bytes))
    }

    fn whole(
        &mut self,
        name: &str,
        shape: &[usize],
        dtype: Dtype,
        given: usize,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Error> {
        let written = || -> Result<(), Trouble<NpzFault>> {
            let expected = shape::count(shape).ok_or_else(|| uncountable(name, shape))?;
            if expected != given {
                let (name, shape) = (name.to_owned(), shape.to_vec());
                return Err(NpzFault::Count { name, shape, expected, found: given }.into());
            }
            self.begin(name, shape, dtype, CompressionMethod::Deflated)?;
            write(&mut self.archive)?;
            self.end();
            Ok(())
        };
        written().map_err(|trouble| self.at(trouble))
    }

    /// Begins an entry, and writes the header of its array.
    fn begin(
        &mut self,
        name: &str,
        shape: &[usize],
        dtype: Dtype,
        method: CompressionMethod,
    ) -> Result<(), Trouble<NpzFault>> {
        if let Some(name) = &self.current {
            return Err(NpzFault::Unfinished { name: name.clone() }.into());
        }
        let plain = |letter: char| !letter.is_control() && letter != '/' && letter != '\\';
        if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(plain) {
            return Err(NpzFault::Name { name: name.to_owned(), most: LONGEST_NAME }.into());
        }
        if shape.len() > MOST_DIMENSIONS {
            return Err(NpzFault::Dimensions { name: name.to_owned(), most: MOST_DIMENSIONS }.into());
        }
        let count = shape::count(shape).zip(dtype.size());
        let bytes = count.and_then(|(count, size)| count.checked_mul(size));
        let bytes = bytes.ok_or_else(|| uncountable(name, shape))? as u64;
        if !self.names.insert(name.to_owned()) {
            return Err(NpzFault::Duplicate { name: Some(name.to_owned()) }.into());
        }
        let header = header::write(&Header { dtype, fortran: false, shape: shape.to_vec() });
        // Everything that could depend on the machine or the time is fixed.
        let options = SimpleFileOptions::default()
            .compression_method(method)
            .last_modified_time(DateTime::default())
            .system(System::Unix)
            .unix_permissions(0o644)
            .large_file(bytes.saturating_add(header.len() as u64) > LARGE);
        self.current = Some(name.to_owned());
        self.archive.start_file(format!("{name}.npy"), options).map_err(unwritable)?;
        self.archive.write_all(&header)?;
        Ok(())
    }

    /// Marks the current array as complete.
    pub(super) fn end(&mut self) {
        self.current = None;
    }

    /// The output for the values of the current array.
    pub(super) fn output(&mut self) -> &mut impl Write {
        &mut self.archive
    }

    pub(super) fn at(&self, trouble: Trouble<NpzFault>) -> Error {
        error(&self.path, trouble)
    }
}

/// Writes numbers in pieces.
pub(super) fn write_numbers<T: Copy, const N: usize>(
    out: &mut (impl Write + ?Sized),
    values: &[T],
    bytes: impl Fn(T) -> [u8; N],
) -> io::Result<()> {
    let mut piece = [[0; N]; 512];
    for values in values.chunks(piece.len()) {
        for (slot, &value) in piece.iter_mut().zip(values) {
            *slot = bytes(value);
        }
        out.write_all(piece[..values.len()].as_flattened())?;
    }
    Ok(())
}

fn uncountable(name: &str, shape: &[usize]) -> NpzFault {
    NpzFault::Uncountable { name: name.to_owned(), shape: shape.to_vec() }
}

fn unwritable(error: ZipError) -> Trouble<NpzFault> {
    match reason(error) {
        Ok(reason) => NpzFault::Unwritable { reason }.into(),
        Err(error) => Trouble::File(error),
    }
}
