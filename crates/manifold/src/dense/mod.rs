//! Linear algebra of small dense matrices, apart from eigenvalues.
//!
//! All operations run in one fixed order, so results are the same on every instruction set. A few
//! textbook factorisations are therefore implemented here and not taken from a library.

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
