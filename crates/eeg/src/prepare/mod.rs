//! From files to trials or covariances: first a [`Plan`], in which everything that headers and annotations can tell is checked, then the
//! work, subject by subject, in parallel and in order.

mod features;
mod file;
mod plan;
mod progress;
mod work;

pub use features::Features;
pub(crate) use features::window_name;
pub use plan::{LeftOut, Plan, PlanOptions, Run};
pub use progress::Progress;
