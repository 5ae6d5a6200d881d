//! Writing of an array row by row.

use std::marker::PhantomData;

use super::NpzFault;
use super::writer::NpzWriter;
use crate::Error;
use crate::trouble::Trouble;

/// `f32` or `f64`.
pub trait Float: sealed::Sealed + Copy {}

impl Float for f32 {}
impl Float for f64 {}

mod sealed {
    use std::io::{self, Write};

    use super::super::writer::write_numbers;

    /// The part of the trait that only the writer uses.
    pub trait Sealed: Sized {
        /// The size of a value in bytes.
        const SIZE: usize;

        fn write(values: &[Self], out: &mut impl Write) -> io::Result<()>;
    }

    impl Sealed for f32 {
        const SIZE: usize = 4;

        fn write(values: &[Self], out: &mut impl Write) -> io::Result<()> {
            write_numbers(out, values, Self::to_le_bytes)
        }
    }

    impl Sealed for f64 {
        const SIZE: usize = 8;

        fn write(values: &[Self], out: &mut impl Write) -> io::Result<()> {
            write_numbers(out, values, Self::to_le_bytes)
        }
    }
}

/// An array that is written row by row. The archive cannot be finished before this array.
pub struct NpzRowWriter<'archive, T> {
    writer: &'archive mut NpzWriter,
    name: String,
    rows: usize,
    row_len: usize,
    written: usize,
    values: PhantomData<T>,
}

impl<'archive, T: Float> NpzRowWriter<'archive, T> {
    pub(super) fn new(writer: &'archive mut NpzWriter, name: String, rows: usize, row_len: usize) -> Self {
        Self { writer, name, rows, row_len, written: 0, values: PhantomData }
    }

    /// Appends a row.
    ///
    /// # Errors
    /// [`Error::Npz`] if the row has the wrong length or is one too many; [`Error::File`].
    pub fn push(&mut self, row: &[T]) -> Result<(), Error> {
        self.append(row).map_err(|trouble| self.writer.at(trouble))
    }

    /// Completes the array.
    ///
    /// # Errors
    /// [`Error::Npz`] if rows are missing.
    pub fn finish(self) -> Result<(), Error> {
        if self.written != self.rows {
            return Err(self.writer.at(self.count(self.written).into()));
        }
        self.writer.end();
        Ok(())
    }

    fn append(&mut self, row: &[T]) -> Result<(), Trouble<NpzFault>> {
        if row.len() != self.row_len {
            let name = self.name.clone();
            return Err(NpzFault::RowLength { name, expected: self.row_len, found: row.len() }.into());
        }
        if self.written == self.rows {
            return Err(self.count(self.written + 1).into());
        }
        T::write(row, self.writer.output())?;
        self.written += 1;
        Ok(())
    }

    fn count(&self, found: usize) -> NpzFault {
        NpzFault::Rows { name: self.name.clone(), expected: self.rows, found }
    }
}
