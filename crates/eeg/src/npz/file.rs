//! Reading of an archive of arrays.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use zip::ZipArchive;
use zip::read::{ArchiveOffset, Config};
use zip::result::ZipError;

use super::array::Array;
use super::dtype::Dtype;
use super::{NpzFault, ValueKind, directory};
use crate::Error;
use crate::number::ByteOrder;
use crate::regular;
use crate::trouble::{self, Trouble, is_content_error};

const EXTENSION: &str = ".npy";

/// An archive of NumPy arrays.
///
/// ```no_run
/// # fn main() -> Result<(), fedspd_eeg::Error> {
/// use fedspd_eeg::npz::NpzFile;
///
/// let mut file = NpzFile::open("trials.npz")?;
/// let labels = file.integers("labels")?.values;
/// let trials = file.floats("trials")?;
/// # Ok(())
/// # }
/// ```
pub struct NpzFile<R> {
    archive: ZipArchive<R>,
    path: PathBuf,
    length: u64,
    /// The names of the arrays, and their indices in the list of entries.
    arrays: Vec<(String, usize)>,
}

/// An array in C order: the last index runs fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct NpyArray<T> {
    /// The shape; empty for a single value.
    pub shape: Vec<usize>,
    /// The values, as many as the product of the shape.
    pub values: Vec<T>,
}

impl NpzFile<BufReader<File>> {
    /// Opens a file.
    ///
    /// # Errors
    /// [`Error::File`] if it cannot be read; [`Error::Npz`] if it is not an archive, is cut off, or
    /// has two arrays of the same name.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let file = regular::open(path).map_err(|source| error(path, Trouble::File(source)))?;
        Self::new(BufReader::new(file), path)
    }
}

impl<R: Read + Seek> NpzFile<R> {
    /// Reads the list of entries. Errors name the path.
    ///
    /// # Errors
    /// As [`open`](NpzFile::open).
    pub fn new(reader: R, path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        match begin(reader) {
            Ok((archive, length, arrays)) => Ok(Self { archive, path, length, arrays }),
            Err(trouble) => Err(error(&path, trouble)),
        }
    }

    /// The names of the arrays, in the order of the archive. Entries that are not `.npy` are not
    /// arrays.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.arrays.iter().map(|(name, _)| name.as_str())
    }

    /// The length of the file in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Reads the shape of an array, from its header alone.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::Npz`] if the array is missing, or its header is damaged.
    pub fn shape(&mut self, name: &str) -> Result<Vec<usize>, Error> {
        let array = open(&mut self.archive, &self.arrays, self.length, name);
        array.map(|array| array.header.shape).map_err(|trouble| error(&self.path, trouble))
    }

    /// Reads the kind of an array's values, from its header alone.
    ///
    /// # Errors
    /// As [`shape`](Self::shape).
    pub fn kind(&mut self, name: &str) -> Result<ValueKind, Error> {
        let array = open(&mut self.archive, &self.arrays, self.length, name);
        array.map(|array| array.header.dtype.kind()).map_err(|trouble| error(&self.path, trouble))
    }

    /// Reads the numbers of an array, floating-point or integer. Integers beyond 2^53 are rounded
    /// to the nearest.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::Npz`] if the array is missing, does not hold numbers, or is
    /// damaged.
    pub fn floats(&mut self, name: &str) -> Result<NpyArray<f64>, Error> {
        self.whole(name, |array| {
            let Dtype::Number(number, order) = array.header.dtype else {
                return Err(array.kind("numbers").into());
            };
            array.collect(|_, bytes| {
                let mut value = [0.0];
                number.floats(order, bytes, &mut value);
                Ok(value[0])
            })
        })
    }

    /// Reads the integers of an array; `False` and `True` are 0 and 1.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::Npz`] if the array is missing, does not hold integers, has one
    /// beyond `i64`, or is damaged.
    pub fn integers(&mut self, name: &str) -> Result<NpyArray<i64>, Error> {
        self.whole(name, |array| {
            let fault = |place, problem| NpzFault::Value { name: name.to_owned(), place, problem };
            match array.header.dtype {
                Dtype::Bool => array.collect(|place, bytes| match bytes {
                    [0] => Ok(0),
                    [1] => Ok(1),
                    _ => Err(fault(place, "neither `False` nor `True`")),
                }),
                Dtype::Number(number, order) if !number.is_float() => array.collect(|place, bytes| {
                    number
                        .integer(order, bytes)
                        .ok_or_else(|| fault(place, "beyond the largest signed integer"))
                }),
                _ => Err(array.kind("integers").into()),
            }
        })
    }

    /// Reads the texts of an array, of type `U`, or `S` if they are UTF-8. Zeros at the end are not
    /// part of a text.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::Npz`] if the array is missing, does not hold text, has a text that
    /// is not Unicode, or is damaged.
    pub fn strings(&mut self, name: &str) -> Result<NpyArray<String>, Error> {
        self.whole(name, |array| {
            let fault = |place, problem| NpzFault::Value { name: name.to_owned(), place, problem };
            match array.header.dtype {
                Dtype::Text(_, order) => array
                    .collect(|place, bytes| text(order, bytes).ok_or_else(|| fault(place, "not Unicode"))),
                Dtype::Bytes(_) => array.collect(|place, bytes| {
                    let length = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
                    let text = str::from_utf8(&bytes[..length]).map_err(|_| fault(place, "not UTF-8"))?;
                    Ok(text.to_owned())
                }),
                _ => Err(array.kind("texts").into()),
            }
        })
    }

    fn whole<T: Default>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut Array<'_, R>) -> Result<Vec<T>, Trouble<NpzFault>>,
    ) -> Result<NpyArray<T>, Error> {
        let array = open(&mut self.archive, &self.arrays, self.length, name).and_then(|mut array| {
            let mut values = read(&mut array)?;
            let shape = std::mem::take(&mut array.header.shape);
            if array.header.fortran {
                values = in_c_order(&shape, values);
            }
            Ok(NpyArray { shape, values })
        });
        array.map_err(|trouble| error(&self.path, trouble))
    }
}

/// The archive, the length of the file and the arrays.
type Begun<R> = (ZipArchive<R>, u64, Vec<(String, usize)>);

fn begin<R: Read + Seek>(mut reader: R) -> Result<Begun<R>, Trouble<NpzFault>> {
    let length = directory::check(&mut reader)?;
    let config = Config { archive_offset: ArchiveOffset::Known(0) };
    let archive = ZipArchive::with_config(config, reader).map_err(|error| match reason(error) {
        Ok(reason) => NpzFault::Entries { reason }.into(),
        Err(error) => Trouble::File(error),
    })?;
    if archive.has_duplicate_names() {
        return Err(NpzFault::Duplicate { name: None }.into());
    }
    let mut arrays = Vec::new();
    for (index, name) in archive.file_names_raw().enumerate() {
        let Ok(name) = str::from_utf8(name) else {
            return Err(NpzFault::Entries { reason: "a name that is not UTF-8".to_owned() }.into());
        };
        arrays.extend(name.strip_suffix(EXTENSION).map(|name| (name.to_owned(), index)));
    }
    Ok((archive, length, arrays))
}

fn open<'file, R: Read + Seek>(
    archive: &'file mut ZipArchive<R>,
    arrays: &[(String, usize)],
    length: u64,
    name: &str,
) -> Result<Array<'file, R>, Trouble<NpzFault>> {
    let Some(&(_, index)) = arrays.iter().find(|(there, _)| there == name) else {
        let there = arrays.iter().map(|(name, _)| name.clone()).collect();
        return Err(NpzFault::Missing { name: name.to_owned(), there }.into());
    };
    Array::open(archive, index, name.to_owned(), length)
}

/// Decodes a text of code points, without its zero padding.
fn text(order: ByteOrder, bytes: &[u8]) -> Option<String> {
    let points = bytes.as_chunks().0;
    let length = points.iter().rposition(|point| *point != [0; 4]).map_or(0, |last| last + 1);
    points[..length].iter().map(|&point| char::from_u32(order.u32(point))).collect()
}

/// Reorders values from Fortran order (first index fastest) to C order (last index fastest).
fn in_c_order<T: Default>(shape: &[usize], mut values: Vec<T>) -> Vec<T> {
    let mut index = vec![0; shape.len()];
    let mut place = 0;
    let mut ordered = Vec::with_capacity(values.len());
    for _ in 0..values.len() {
        ordered.push(std::mem::take(&mut values[place]));
        // The next index: advances the last axis that is not at its end, and resets the axes after
        // it.
        let mut stride = values.len();
        for (position, &length) in index.iter_mut().zip(shape).rev() {
            stride /= length;
            if *position + 1 < length {
                *position += 1;
                place += stride;
                break;
            }
            place -= *position * stride;
            *position = 0;
        }
    }
    ordered
}

/// Returns the error for the file at this path.
pub(super) fn error(path: &Path, trouble: Trouble<NpzFault>) -> Error {
    let path = path.to_owned();
    match trouble {
        Trouble::File(source) => Error::File { path, source },
        Trouble::Fault(fault) => Error::Npz { path, fault: Box::new(fault) },
    }
}

/// Classifies an error of the zip reader in an array.
pub(super) fn damaged(name: &str, error: ZipError) -> Trouble<NpzFault> {
    match reason(error) {
        Ok(reason) => NpzFault::Damaged { name: name.to_owned(), reason }.into(),
        Err(error) => Trouble::File(error),
    }
}

/// The message of the zip reader or writer about the content, in lower case like our messages.
/// Errors of the system are returned unchanged.
pub(super) fn reason(error: ZipError) -> Result<String, std::io::Error> {
    let text = match error {
        ZipError::Io(error) if !is_content_error(&error) => return Err(error),
        ZipError::Io(error) => trouble::reason(&error),
        ZipError::InvalidArchive(text) => text.into_owned(),
        other => other.to_string(),
    };
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_lowercase().to_string()).unwrap_or_default();
    Ok(first + letters.as_str())
}
