//! Parameters: named tensors, each with a geometry, a role and a scope.

mod layout;
mod set;

pub use layout::{Geometry, Layout, Parameter, Role, Scope, Space, Tensor};
pub use set::ParamSet;

/// The largest distance of an external parameter from its manifold. Rounding to `f32` stays below
/// it; mistakes are far above it.
pub(crate) const LARGEST_INFEASIBILITY: f64 = 1e-4;
