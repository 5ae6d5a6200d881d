//! Small dense matrices: what the geometry needs of linear algebra beyond eigenvalues.
//!
//! Everything here runs in one fixed order of operations, so results are the same on every instruction set; that is
//! why a few textbook factorisations are written out instead of taken from a library.

mod inverse;
mod matrix;
mod product;
mod svd;

pub(crate) use inverse::{inverse, solve};
pub use matrix::Matrix;
pub(crate) use matrix::frobenius_norm;
pub use product::{
    Left, Triangle, multiply, multiply_add, multiply_symmetric, multiply_transposed_and_fetch,
};
pub(crate) use product::{Product, mirror};
pub(crate) use svd::one_sided_jacobi;
