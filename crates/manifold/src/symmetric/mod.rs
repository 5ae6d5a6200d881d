//! Batched decomposition of symmetric matrices.

mod arrange;
mod chunk;
mod eigen;
mod prepare;
mod ql;
mod rows;
mod tridiagonal;

pub(crate) use arrange::{Arrange, Form, put, take};
pub use chunk::check_symmetric;
pub(crate) use chunk::{Chunk, Decompose, Shape, Wanted, check_batch, on_lanes_in_use, pack};
pub use eigen::SymmetricEigen;
pub(crate) use prepare::Prepare;
