//! Experiments: one TOML file in, a run folder out.
//!
//! | step | where |
//! |---|---|
//! | the file: its keys, their defaults, every fault it can have | [`config`] |
//! | trials: loading, selection, alignment | [`data`] |
//! | subjects go to clients, trials to training, validation and test | [`split`] |
//! | training in any mode, seed by seed; several runs; forecasts | [`train`] |
//! | the files of a run folder | [`record`] |
//! | the same run with every client on a machine of its own | [`remote`] |
//! | scores, saved models on other data, interpretation of networks | [`evaluate`] |

pub mod config;
pub mod data;
mod error;
pub mod evaluate;
pub mod record;
pub mod remote;
pub mod split;
pub mod train;

pub use data::{Content, Dataset, load};
pub use error::Error;
pub use evaluate::{ModelScores, Predictor, evaluate_model, model_of_run};
pub use fedspd_run::{Headline, headline};
pub use record::{resume_command, shell_word};
pub use split::{Design, SharingError};
pub use train::{
    Ended, Experiment, Forecast, Observer, Resumable, RoundProgress, RunSeries, fit, reproduction, run,
    run_network, sweep,
};
