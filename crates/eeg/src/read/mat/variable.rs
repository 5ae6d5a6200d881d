//! A variable of a MAT-file.

use std::fmt;
use std::io::Read;
use std::path::Path;

use super::body::Body;
use super::element::Tag;
use super::fault::DIMENSIONS;
use super::{MatClass, MatFault, VariablePart};
use crate::Error;
use crate::number::{ByteOrder, Number};
use crate::shape::{self, MOST_DIMENSIONS};
use crate::trouble::Trouble;

/// MATLAB allows 63; other writers are less strict.
const LONGEST_NAME: u32 = 1024;
/// Bytes converted at a time.
const PIECE: usize = 4096;

const COMPLEX: u32 = 0x0800;
const LOGICAL: u32 = 0x0200;

/// A variable whose header has been read. Its numbers are read on demand, in the order of the file,
/// and otherwise skipped.
pub struct MatVariable<'file, R> {
    name: String,
    class: MatClass,
    dims: Vec<usize>,
    complex: bool,
    path: &'file Path,
    body: Body<'file, R>,
    order: ByteOrder,
    /// `None` once all numbers are read and checked.
    run: Option<RemainingNumbers>,
}

/// The remaining numbers of the current part.
struct RemainingNumbers {
    part: VariablePart,
    number: Number,
    left: usize,
    padding: usize,
}

impl<'file, R: Read> MatVariable<'file, R> {
    /// Reads the parts before the numbers, and checks the size of the numbers against them.
    pub(super) fn read_header(
        mut body: Body<'file, R>,
        order: ByteOrder,
        path: &'file Path,
    ) -> Result<Self, Trouble<MatFault>> {
        let flags = read_flags(&mut body, order)?;
        let class = MatClass::of((flags & 0xff) as u8, flags & LOGICAL != 0);
        // Objects of new-style classes store their dimensions elsewhere.
        let dims = if class == MatClass::Opaque { Vec::new() } else { read_dimensions(&mut body, order)? };
        let name = read_name(&mut body, order)?;
        let complex = class.is_numeric() && flags & COMPLEX != 0;
        let mut variable = Self { name, class, dims, complex, path, body, order, run: None };
        if class.is_numeric() {
            variable.run = Some(variable.begin(VariablePart::Real)?);
        }
        Ok(variable)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its class. Only numeric classes can be read.
    pub fn class(&self) -> MatClass {
        self.class
    }

    /// Its dimensions: at least two. Those of an opaque object are unknown.
    ///
    /// For a numeric variable they match its bytes.
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// Whether the variable has imaginary parts.
    pub fn is_complex(&self) -> bool {
        self.complex
    }

    /// Reads numbers until the slice is full or the variable ends; returns their number. The first
    /// index runs fastest. In a complex variable all real parts come first, then all imaginary
    /// parts. Integers beyond 2^53 are rounded to the nearest.
    ///
    /// The call that reads the last number also checks the following bytes, including the checksum.
    ///
    /// # Errors
    /// [`Error::Mat`] if the variable is not numeric, or damaged; [`Error::File`].
    pub fn read(&mut self, out: &mut [f64]) -> Result<usize, Error> {
        self.read_numbers(out).map_err(|trouble| super::file::error(self.path, trouble))
    }

    fn read_numbers(&mut self, out: &mut [f64]) -> Result<usize, Trouble<MatFault>> {
        if !self.class.is_numeric() {
            return Err(MatFault::Class { name: self.name.clone(), class: self.class }.into());
        }
        let mut bytes = [0; PIECE];
        let mut done = 0;
        while let Some(run) = &mut self.run {
            if run.left > 0 && done == out.len() {
                break;
            }
            let size = run.number.size();
            let now = run.left.min(out.len() - done).min(PIECE / size);
            let bytes = &mut bytes[..now * size];
            self.body.fill(run.part, bytes)?;
            run.number.floats(self.order, bytes, &mut out[done..done + now]);
            run.left -= now;
            done += now;
            if run.left == 0 {
                self.go_on()?;
            }
        }
        Ok(done)
    }

    /// Begins the numbers of a part.
    fn begin(&mut self, part: VariablePart) -> Result<RemainingNumbers, Trouble<MatFault>> {
        let tag = Tag::read(&mut self.body, self.order, part)?;
        let name = || self.name.clone();
        let Some(number) = tag.number() else {
            return Err(MatFault::NotNumbers { name: name(), part, kind: tag.kind }.into());
        };
        let count = shape::count(&self.dims);
        let expected = count.and_then(|count| count.checked_mul(number.size()));
        let (Some(count), Some(expected)) = (count, expected) else {
            return Err(MatFault::Uncountable { name: name(), dims: self.dims.clone() }.into());
        };
        if expected as u64 != u64::from(tag.size) {
            let dims = self.dims.clone();
            let (expected, found) = (expected as u64, tag.size.into());
            return Err(MatFault::Disagreement { name: name(), part, dims, expected, found }.into());
        }
        Ok(RemainingNumbers { part, number, left: count, padding: tag.padding })
    }

    /// Continues after the last number of a part: with the imaginary part, or the end.
    fn go_on(&mut self) -> Result<(), Trouble<MatFault>> {
        let Some(RemainingNumbers { part, padding, .. }) = self.run.take() else { return Ok(()) };
        self.body.pad(part, padding)?;
        if self.complex && part == VariablePart::Real {
            self.run = Some(self.begin(VariablePart::Imaginary)?);
        } else if !self.body.ends()? {
            return Err(MatFault::Leftover { name: self.name.clone() }.into());
        }
        Ok(())
    }
}

impl<R> fmt::Debug for MatVariable<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, class, dims, complex, .. } = self;
        write!(f, "MatVariable({name}, {class}, {dims:?}, complex: {complex})")
    }
}

fn malformed<R>(
    body: &Body<'_, R>,
    part: VariablePart,
    tag: Tag,
    expected: &'static str,
) -> Trouble<MatFault> {
    MatFault::Malformed { place: body.place, part, size: tag.size, kind: tag.kind, expected }.into()
}

fn read_flags<R: Read>(body: &mut Body<'_, R>, order: ByteOrder) -> Result<u32, Trouble<MatFault>> {
    let part = VariablePart::Flags;
    let tag = Tag::read(body, order, part)?;
    if tag.number() != Some(Number::U32) || tag.size != 8 {
        return Err(malformed(body, part, tag, "8 bytes of type 6 were expected"));
    }
    // The second word is for sparse matrices only.
    let mut words = [[0; 4]; 2];
    body.fill(part, words.as_flattened_mut())?;
    Ok(order.u32(words[0]))
}

fn read_dimensions<R: Read>(
    body: &mut Body<'_, R>,
    order: ByteOrder,
) -> Result<Vec<usize>, Trouble<MatFault>> {
    let part = VariablePart::Dimensions;
    let tag = Tag::read(body, order, part)?;
    let count = tag.size as usize / 4;
    let fits = (2..=MOST_DIMENSIONS).contains(&count) && tag.size % 4 == 0;
    if tag.number() != Some(Number::I32) || !fits {
        return Err(malformed(body, part, tag, DIMENSIONS));
    }
    let mut words = [[0; 4]; MOST_DIMENSIONS];
    let words = &mut words[..count];
    body.fill(part, words.as_flattened_mut())?;
    body.pad(part, tag.padding)?;
    let place = body.place;
    let lengths = words.iter().map(|&word| {
        let length = order.u32(word).cast_signed();
        usize::try_from(length).map_err(|_| MatFault::Negative { place, length }.into())
    });
    lengths.collect()
}

fn read_name<R: Read>(body: &mut Body<'_, R>, order: ByteOrder) -> Result<String, Trouble<MatFault>> {
    let part = VariablePart::Name;
    let tag = Tag::read(body, order, part)?;
    // The format requires signed bytes; some files have unsigned bytes or UTF-8.
    if !matches!(tag.kind, 1 | 2 | 16) || tag.size > LONGEST_NAME {
        return Err(malformed(body, part, tag, "up to 1024 bytes of type 1 were expected"));
    }
    let mut bytes = vec![0; tag.size as usize];
    body.fill(part, &mut bytes)?;
    body.pad(part, tag.padding)?;
    String::from_utf8(bytes).map_err(|_| MatFault::Name { place: body.place }.into())
}
