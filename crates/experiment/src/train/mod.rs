//! Training: experiments, their seeds, runs of one or several experiments.
//!
//! | file | content |
//! |---|---|
//! | `experiment` | configuration and data, ready to run |
//! | `network` | the one place that matches kind and precision of a network |
//! | `settings` | from the configuration to servers, methods and optimisers |
//! | `cohort` | clients that train one model together |
//! | `chosen` | what the first stage of a fold chose for the second |
//! | `seed`, `run` | all rounds of a seed, all seeds of a run |
//! | `series`, `reproduction`, `sweep` | several runs |
//! | `forecast`, `warnings` | `--dry-run` |

mod chosen;
mod cohort;
mod experiment;
mod forecast;
mod network;
mod observer;
pub mod reproduction;
mod run;
mod seed;
mod series;
pub(crate) mod settings;
pub mod sweep;
mod warnings;

pub use experiment::Experiment;
pub(crate) use experiment::{Inputs, in_pool, threads};
pub use forecast::Forecast;
pub(crate) use network::{Visitor, with_network, with_saved_network};
pub use observer::{Ended, Observer, RoundProgress};
pub use run::{Resumable, fit, run, run_network};
pub use series::RunSeries;
