//! MATLAB's MAT-files of level 5 (`save -v6` and `-v7`).
//!
//! A file is a header of 128 bytes and a row of elements, each a tag (type, bytes) and its content. A variable is an element of elements:
//! flags, dimensions, name, numbers. With `-v7` each variable is deflated on its own. Elements of numbers are padded to 8 bytes, and those
//! of up to 4 bytes share 8 bytes with their tag. Numbers are in column-major order, and may be stored in a smaller type than the
//! variable's class.
//!
//! Source: "MAT-File Format", `MathWorks`, sections on level 5.
//!
//! A [`MatFile`] is walked variable by variable; what is not read is skipped without being inflated. Declared sizes are checked against
//! the bytes of the file (and a limit on expansion) before a variable is handed out, so its dimensions can be trusted.

mod body;
mod class;
mod element;
mod fault;
mod file;
mod header;
mod variable;

pub(super) use header::{LENGTH as HEADER_LENGTH, is_mat};

pub use class::MatClass;
pub use fault::{MatFault, Part};
pub use file::{MatArray, MatFile};
pub use variable::MatVariable;
