//! Functions of the eigenvalues of symmetric matrices, with exact derivatives.

mod function;
mod map;
mod tape;

pub use function::SpectralFunction;
pub use map::SpectralMap;
pub use tape::SpectralTape;
pub(crate) use tape::{Differentiate, Evaluate, PrepareValues};
