//! Batched decomposition of symmetric matrices.

mod chunk;
mod eigen;
mod large;
mod ql;
mod tridiagonal;

pub(crate) use chunk::{Chunk, check_batch, check_symmetric, pack, place_triangle};
pub use eigen::SymmetricEigen;
