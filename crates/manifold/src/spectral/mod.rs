//! Functions of the eigenvalues of symmetric matrices, with exact derivatives.

mod function;
mod map;

pub use function::SpectralFunction;
pub use map::SpectralMap;
