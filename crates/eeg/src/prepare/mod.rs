//! Preparation: from files to trials or covariances. A [`Plan`] first checks all headers and
//! annotations. The work then runs subject by subject, in parallel, with results in order.

mod features;
mod file;
mod plan;
mod progress;
mod work;

pub use features::Features;
pub(crate) use features::window_name;
pub use plan::{LeftOut, Plan, PlanOptions, PlannedRecording, files};
pub use progress::Progress;
