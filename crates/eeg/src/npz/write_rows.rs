//! Writing an array row by row.

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

    /// What the writer needs to know of a type, and nobody else.
    pub trait Sealed: Sized {
        /// The bytes of a value.
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

/// An array of an archive to which rows are appended. If it is not finished, the archive cannot be.
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
    /// [`Error::Npz`] if it has another length than a row, or is one too many; [`Error::File`].
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
