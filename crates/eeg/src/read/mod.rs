//! Readers of file formats. They stream: no file is held in memory as a whole, and allocations
//! never exceed the bytes present.

mod edf;
mod kind;
mod mat;

pub use edf::{EdfFault, EdfFile, EdfFormat, EdfHeader, EdfSignal, Field, Gap};
pub use kind::FileKind;
pub use mat::{MatArray, MatClass, MatFault, MatFile, MatVariable, VariablePart};
