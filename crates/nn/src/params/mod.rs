//! Parameters: named tensors, each with the three facts that the rest of the system reads.

mod layout;
mod set;

pub use layout::{Geometry, Layout, Parameter, Role, Scope, Space, Tensor};
pub use set::ParamSet;

/// The largest distance of a parameter from its set when it comes in from outside. Rounding to `f32`
/// stays below it, and mistakes are far above it.
pub(crate) const LARGEST_INFEASIBILITY: f64 = 1e-4;
