//! Parameters: named tensors, each with the three facts that the rest of the system reads.

mod layout;
mod set;

pub use layout::{Geometry, Layout, Parameter, Role, Scope, Tensor};
pub use set::ParamSet;
