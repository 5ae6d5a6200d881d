//! Reading an array row by row.

use std::io::Read;
use std::path::Path;

use super::NpzFault;
use super::array::Array;
use super::dtype::Dtype;
use super::file::error;
use crate::Error;
use crate::trouble::Trouble;

/// The rows of an array of numbers that have not been read yet.
pub struct NpzRows<'file, R: Read> {
    array: Array<'file, R>,
    path: &'file Path,
    row_len: usize,
    left: usize,
    /// Whether the checksum is still to be compared.
    open: bool,
}

impl<'file, R: Read> NpzRows<'file, R> {
    pub(super) fn new(array: Array<'file, R>, path: &'file Path) -> Result<Self, Trouble<NpzFault>> {
        let name = || array.name.clone();
        if !matches!(array.header.dtype, Dtype::Number(..)) {
            return Err(array.kind("numbers").into());
        }
        let Some((&left, row)) = array.header.shape.split_first() else {
            return Err(NpzFault::NoRows { name: name() }.into());
        };
        // Of an array with one axis longer than 1 both orders are the same.
        if array.header.fortran && array.header.shape.iter().filter(|&&length| length != 1).count() > 1 {
            return Err(NpzFault::Fortran { name: name() }.into());
        }
        let row_len = crate::shape::count(row)
            .ok_or_else(|| NpzFault::Uncountable { name: name(), shape: array.header.shape.clone() })?;
        Ok(Self { array, path, row_len, left, open: true })
    }

    /// The shape of the whole array, which agrees with its bytes.
    pub fn shape(&self) -> &[usize] {
        &self.array.header.shape
    }

    /// The number of values of a row.
    pub fn row_len(&self) -> usize {
        self.row_len
    }

    /// The number of rows that are left.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Reads the next row; says whether there was one. With the last row the checksum of the array is compared.
    ///
    /// # Errors
    /// [`Error::Npz`] if the slice has another length than a row, or the array is damaged; [`Error::File`].
    pub fn read_row(&mut self, out: &mut [f64]) -> Result<bool, Error> {
        self.next(out).map_err(|trouble| error(self.path, trouble))
    }

    fn next(&mut self, out: &mut [f64]) -> Result<bool, Trouble<NpzFault>> {
        if out.len() != self.row_len {
            let (name, expected) = (self.array.name.clone(), self.row_len);
            return Err(NpzFault::RowLength { name, expected, found: out.len() }.into());
        }
        let there = self.left > 0;
        if there {
            self.array.floats(out)?;
            self.left -= 1;
        }
        if self.left == 0 && self.open {
            self.array.end()?;
            self.open = false;
        }
        Ok(there)
    }
}
