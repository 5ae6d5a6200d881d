//! Batched decomposition of symmetric matrices.

mod chunk;
mod eigen;
mod ql;
mod tridiagonal;

pub use chunk::check_symmetric;
pub(crate) use chunk::{Chunk, Decompose, Prepare, check_batch, pack, place_triangle};
pub use eigen::SymmetricEigen;
