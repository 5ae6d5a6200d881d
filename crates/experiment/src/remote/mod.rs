//! Federated training with every client on a machine of its own.
//!
//! ```text
//! Site::introduce ──► Coordinator::open ──► plan ──► Site::train ──► submit ──► close ──► Site::evaluate ──► judge ──► advance ──► plan
//! ```
//!
//! A [`Coordinator`] is the server with its run folder, a [`Site`] a client with its trials. Neither sends anything: who carries the bytes between them is
//! another's business, and the bytes that come out are those of a run in one process. Trials, labels and names of subjects never leave a site.

mod begin;
mod coordinator;
mod identity;
mod introduction;
mod keepsake;
mod machine;
mod own;
mod plan;
mod record;
mod site;
mod verdict;
mod words;
mod workbench;

pub use coordinator::Coordinator;
pub use identity::Identity;
pub use introduction::{Counts, Facts, Introduction};
pub use own::at_home;
pub use plan::{Asked, Examination, Plan};
pub use site::{Assignment, Site};
pub use words::one_line;
