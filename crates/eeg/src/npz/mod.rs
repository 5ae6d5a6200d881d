//! Archives of NumPy arrays (`.npz`), as written by `numpy.savez` and `numpy.savez_compressed` and
//! read by `numpy.load(path)`.
//!
//! An archive is a zip file. Each entry `<name>.npy` holds a header (type, order, shape) and the
//! values. Arrays are returned in C order, whatever their order in the file. Pickled objects are
//! never read.
//!
//! Source: `numpy.lib.format`, versions 1.0 to 3.0.

mod array;
mod directory;
mod dtype;
mod fault;
mod file;
mod header;
mod neighbour;
mod write_rows;
mod writer;

pub use dtype::ValueKind;
pub use fault::NpzFault;
pub use file::{NpyArray, NpzFile};
pub use write_rows::{Float, NpzRowWriter};
pub use writer::NpzWriter;
