//! The Stiefel manifold `St(p, k)`: `p x k` matrices with orthonormal columns, `W^T W = I`.
//!
//! The metric is the embedded one, `<X, Y> = tr(X^T Y)`, unless a function says otherwise.

mod exponential;
mod inverse_retraction;
mod manifold;
mod polar;
mod qr;
mod random;
mod retraction;

pub use exponential::StiefelMetric;
pub use manifold::Stiefel;
pub use polar::Polar;
pub use qr::Qr;
pub use random::fill_standard_normal;
pub use retraction::{Retraction, RetractionKind};
