//! Parameters: named tensors, each with the three facts that the rest of the system reads.

mod layout;
mod set;

pub use layout::{Geometry, Layout, Parameter, Role, Scope, Tensor};
pub use set::ParamSet;

/// How far from orthonormal (`|W^T W - I|`) the columns of a Stiefel parameter may be when it comes in from outside: what `f32` can hold, and far less than
/// any mistake makes.
pub(crate) const LARGEST_INFEASIBILITY: f64 = 1e-4;
