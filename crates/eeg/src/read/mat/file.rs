//! Reading of a MAT-file, variable by variable.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::body::Body;
use super::element::{COMPRESSED, MATRIX, TAG};
use super::{MatFault, MatVariable, VariablePart, header};
use crate::number::ByteOrder;
use crate::trouble::Trouble;
use crate::{Error, Expansion, regular};

/// A MAT-file of level 5.
///
/// ```no_run
/// # fn main() -> Result<(), fedspd_eeg::Error> {
/// use fedspd_eeg::read::MatFile;
///
/// let mut file = MatFile::open("subject_1.mat")?;
/// let labels = file.numbers("label")?.values;
/// let mut data = file.find("data")?;
/// let mut trial = vec![0.0; data.dims()[0] * data.dims()[1]];
/// while data.read(&mut trial)? > 0 {
///     // channels x samples, the channels next to each other
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct MatFile<R> {
    reader: R,
    path: PathBuf,
    order: ByteOrder,
    length: u64,
    /// The byte at which the next element begins.
    next: u64,
}

/// The numbers of a variable, the first index running fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct MatArray {
    /// The dimensions, at least two.
    pub dims: Vec<usize>,
    /// The values, as many as the product of the dimensions.
    pub values: Vec<f64>,
}

impl MatFile<BufReader<File>> {
    /// Opens a file.
    ///
    /// # Errors
    /// [`Error::File`] if it cannot be read; [`Error::Mat`] if it is not a MAT-file of level 5.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let file = regular::open(path).map_err(|source| error(path, Trouble::File(source)))?;
        Self::new(BufReader::new(file), path)
    }
}

impl<R: Read + Seek> MatFile<R> {
    /// Reads the header. Errors name the path.
    ///
    /// # Errors
    /// [`Error::File`] if it cannot be read; [`Error::Mat`] if it is not a MAT-file of level 5.
    pub fn new(mut reader: R, path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        let (order, length) = begin(&mut reader).map_err(|trouble| error(&path, trouble))?;
        Ok(Self { reader, path, order, length, next: header::LENGTH as u64 })
    }

    /// Returns the next variable; `None` at the end. Skips the rest of the previous one.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::Mat`] if the file is cut off here or the variable is malformed.
    /// The walk can continue after a malformed variable.
    pub fn next_variable(&mut self) -> Result<Option<MatVariable<'_, R>>, Error> {
        let Self { reader, path, order, length, next } = self;
        let variable = next_element(reader, *order, *length, next).and_then(|body| match body {
            Some(body) => MatVariable::read_header(body, *order, path).map(Some),
            None => Ok(None),
        });
        variable.map_err(|trouble| error(path, trouble))
    }

    /// Returns to the first variable.
    pub fn rewind(&mut self) {
        self.next = header::LENGTH as u64;
    }

    /// Finds a variable by name. The walk continues after it.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::Mat`] if the variable is missing or not unique, or if any variable
    /// is malformed.
    pub fn find(&mut self, name: &str) -> Result<MatVariable<'_, R>, Error> {
        let mut there = Vec::new();
        let mut found = None;
        self.rewind();
        loop {
            let place = self.next;
            let Some(variable) = self.next_variable()? else { break };
            if variable.name() != name {
                there.push(variable.name().to_owned());
            } else if found.replace(place).is_some() {
                return Err(self.at(MatFault::Duplicate { name: name.to_owned() }));
            }
        }
        let name = name.to_owned();
        let Some(place) = found else {
            return Err(self.at(MatFault::Missing { name, there }));
        };
        self.next = place;
        let missing = self.at(MatFault::Missing { name, there: Vec::new() });
        self.next_variable()?.ok_or(missing)
    }

    /// Reads all numbers of a real variable into memory.
    ///
    /// # Errors
    /// As [`find`](Self::find) and [`MatVariable::read`]; [`Error::Mat`] if it is complex.
    pub fn numbers(&mut self, name: &str) -> Result<MatArray, Error> {
        let path = self.path.clone();
        let mut variable = self.find(name)?;
        if variable.is_complex() {
            return Err(Error::Mat { path, fault: MatFault::Complex { name: name.to_owned() } });
        }
        // Memory grows with the numbers received, whatever the declared dimensions are.
        let mut values = Vec::new();
        let mut piece = [0.0; 1024];
        loop {
            match variable.read(&mut piece)? {
                0 => break,
                found => values.extend_from_slice(&piece[..found]),
            }
        }
        Ok(MatArray { dims: variable.dims().to_vec(), values })
    }

    fn at(&self, fault: MatFault) -> Error {
        error(&self.path, Trouble::Fault(fault))
    }
}

/// Returns the error for the file at this path.
pub(super) fn error(path: &Path, trouble: Trouble<MatFault>) -> Error {
    let path = path.to_owned();
    match trouble {
        Trouble::File(source) => Error::File { path, source },
        Trouble::Fault(fault) => Error::Mat { path, fault },
    }
}

fn begin<R: Read + Seek>(reader: &mut R) -> Result<(ByteOrder, u64), Trouble<MatFault>> {
    let mut beginning = Vec::with_capacity(header::LENGTH);
    reader.rewind()?;
    reader.by_ref().take(header::LENGTH as u64).read_to_end(&mut beginning)?;
    let order = header::parse(&beginning)?;
    Ok((order, reader.seek(SeekFrom::End(0))?))
}

/// The variable in the next element, inflated if necessary.
fn next_element<'file, R: Read + Seek>(
    reader: &'file mut R,
    order: ByteOrder,
    length: u64,
    next: &mut u64,
) -> Result<Option<Body<'file, R>>, Trouble<MatFault>> {
    let place = *next;
    let left = length.saturating_sub(place);
    if left == 0 {
        return Ok(None);
    }
    // After an error that hides the next element, the walk ends.
    *next = length;
    if left < TAG {
        return Err(MatFault::TornTag { place, left }.into());
    }
    reader.seek(SeekFrom::Start(place))?;
    let mut tag = [[0; 4]; 2];
    reader.read_exact(tag.as_flattened_mut())?;
    let [kind, size] = tag.map(|word| order.u32(word));
    let (declared, left) = (u64::from(size), left - TAG);
    if kind != MATRIX && kind != COMPRESSED {
        return Err(MatFault::NotVariable { place, kind }.into());
    }
    if declared > left {
        return Err(MatFault::TornElement { place, declared, left }.into());
    }
    *next = place + TAG + declared;
    if kind == MATRIX {
        return Ok(Some(Body::plain(reader, place, declared)));
    }
    let mut body = Body::deflated(reader, place, declared);
    body.fill(VariablePart::Flags, tag.as_flattened_mut())?;
    let [kind, size] = tag.map(|word| order.u32(word));
    if kind != MATRIX {
        return Err(MatFault::NotVariableInside { place, kind }.into());
    }
    body.left = size.into();
    Expansion::check(declared, body.left + TAG)
        .map_err(|expansion| MatFault::Expansion { place, expansion })?;
    Ok(Some(body))
}
