//! Readers of files, one format each. They stream: no file is held in memory as a whole, and nothing is allocated that the bytes actually
//! there do not warrant.

mod edf;
mod kind;
mod mat;

pub use edf::{EdfFault, EdfFile, EdfFormat, EdfHeader, EdfSignal, Field, Gap};
pub use kind::FileKind;
pub use mat::{MatArray, MatClass, MatFault, MatFile, MatVariable, Part};
