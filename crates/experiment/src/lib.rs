//! Experiments: one TOML file in, a run folder out.
//!
//! | step | where |
//! |---|---|
//! | the file: its keys, their defaults, and every way in which it can be wrong | [`config`] |
//! | trials are loaded or made | [`Dataset`] |
//! | subjects go to clients, and their trials to training, validation and test | [`partition`], [`split`], [`Design`] |
//! | each subject is aligned after the split | `align` |
//! | training in any mode, seed by seed, from a checkpoint if there is one | [`Experiment`], [`run`], [`Resumable`] |
//! | the same with every client on a machine of its own | [`remote`] |
//! | several runs: the paper's, or all values of a setting | [`Several`], [`reproduction`], [`sweep`] |
//! | what a trained network looks at | `portrait` |
//! | what a run would do | [`Forecast`] |
//! | a saved model on other data | [`evaluate_model`], [`Predictor`] |

mod align;
mod apportion;
mod checkpoint;
mod complete;
pub mod config;
mod course;
mod data;
mod design;
mod diary;
mod error;
mod evaluate;
mod experiment;
mod forecast;
mod natural;
mod network;
mod observer;
pub mod partition;
mod portrait;
mod predict;
pub mod remote;
pub mod reproduction;
mod results;
mod resume_command;
mod round_event;
mod runner;
mod scores;
mod sealed;
mod seed_run;
mod sharing_error;
mod spectra;
pub mod split;
mod spread;
mod store;
pub mod sweep;

pub use complete::Several;
pub use data::{Content, Dataset, load};
pub use design::Design;
pub use error::Error;
pub use evaluate::{ModelScores, evaluate_model, model_of_run};
pub use experiment::Experiment;
pub use fedspd_run::{Headline, headline};
pub use forecast::Forecast;
pub use observer::{Ended, Observer, RoundProgress};
pub use predict::Predictor;
pub use resume_command::{resume_command, shell_word};
pub use runner::{Resumable, fit, in_memory, run};
pub use sharing_error::SharingError;
