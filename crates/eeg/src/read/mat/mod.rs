//! MATLAB's MAT-files of level 5 (`save -v6` and `-v7`).
//!
//! A file is a header of 128 bytes and a sequence of elements. An element is a tag (type, bytes)
//! and its content. A variable is an element with inner elements: flags, dimensions, name, numbers.
//! With `-v7` each variable is deflated separately. Number elements are padded to 8 bytes; those of
//! up to 4 bytes share 8 bytes with their tag. Numbers are in column-major order, and may be stored
//! in a smaller type than the variable's class.
//!
//! Source: "MAT-File Format", `MathWorks`, sections on level 5.
//!
//! A [`MatFile`] is read variable by variable; unread variables are skipped without inflating them.
//! Before a variable is returned, its declared size is checked against the file and a limit on
//! expansion. Its dimensions can therefore be trusted.

mod body;
mod class;
mod element;
mod fault;
mod file;
mod header;
mod variable;

pub(super) use header::{LENGTH as HEADER_LENGTH, is_mat};

pub use class::MatClass;
pub use fault::{MatFault, VariablePart};
pub use file::{MatArray, MatFile};
pub use variable::MatVariable;
