//! Federated training with every client on a machine of its own.
//!
//! ```text
//! Site::introduce ──► Coordinator::open ──► plan ──► Site::train ──► submit ──► close
//!                                            ▲                                    │
//!                                            └─ advance ◄── score ◄── Site::evaluate
//! ```
//!
//! A [`Coordinator`] is the server with its run folder. A [`Site`] is a client with its trials.
//! Neither sends anything; Flower's app carries the messages. The results are byte for byte those
//! of a run in one process. Trials, labels and names of subjects never leave a site.

mod cache;
mod coordinator;
mod identity;
mod introduction;
mod one_line;
mod open;
mod plan;
mod policy;
mod rounds;
mod scores;
mod server;
mod site;
mod site_config;
mod state;
mod studies;
mod worker;

pub use coordinator::Coordinator;
pub use identity::Identity;
pub use introduction::{Counts, Facts, Introduction};
pub use one_line::one_line;
pub use plan::{ClientPlan, EvaluationPlan, Plan};
pub use policy::{Approval, Limits, SentScores, SiteData, SitePolicy};
pub use site::{Site, SiteTask};
pub use site_config::site_config;
pub use studies::{Studies, StudyHash};
