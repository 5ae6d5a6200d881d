//! Archives of NumPy arrays.

mod bad_archives;
mod bad_arrays;
mod read;
mod write;

use std::io::Cursor;

use fedspd_eeg::Error;
use fedspd_eeg::npz::{NpyArray, NpzFault, NpzFile};

fn array<T: Clone>(shape: &[usize], values: &[T]) -> NpyArray<T> {
    NpyArray { shape: shape.to_vec(), values: values.to_vec() }
}

fn open(bytes: &[u8]) -> Result<NpzFile<Cursor<&[u8]>>, Error> {
    NpzFile::new(Cursor::new(bytes), "x.npz")
}

/// Reads all arrays of a file, each by its type.
fn walk(bytes: &[u8]) -> Result<usize, Error> {
    let mut file = open(bytes)?;
    let names: Vec<String> = file.names().map(ToOwned::to_owned).collect();
    let other_kind =
        |error: &Error| matches!(error, Error::Npz { fault, .. } if matches!(**fault, NpzFault::Kind { .. }));
    let mut count = 0;
    for name in &names {
        count += match file.floats(name) {
            Ok(array) => array.values.len(),
            Err(error) if other_kind(&error) => match file.integers(name) {
                Ok(array) => array.values.len(),
                Err(error) if other_kind(&error) => file.strings(name)?.values.len(),
                Err(error) => return Err(error),
            },
            Err(error) => return Err(error),
        };
    }
    Ok(count)
}
