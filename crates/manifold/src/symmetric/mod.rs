//! Batched decomposition of symmetric matrices.

mod chunk;
mod eigen;
mod ql;
mod rows;
mod tridiagonal;

pub use chunk::check_symmetric;
pub(crate) use chunk::{
    Chunk, Decompose, Prepare, Shape, Wanted, check_batch, on_lanes_in_use, pack, place, unpack,
};
pub use eigen::SymmetricEigen;
