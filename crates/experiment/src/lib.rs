//! Experiments: one TOML file in, a run folder out.
//!
//! | step | where |
//! |---|---|
//! | the configuration file: keys, defaults and faults | [`config`] |
//! | trials: loading, selection, alignment | [`data`] |
//! | split: subjects to clients, trials to training, validation and test | [`split`] |
//! | training in any mode, seed by seed; several runs; forecasts | [`train`] |
//! | the files of a run folder | `record` |
//! | runs with every client on a machine of its own | [`remote`] |
//! | scores, saved models on other data, interpretation of networks | [`evaluate`] |

pub mod config;
pub mod data;
mod error;
pub mod evaluate;
mod record;
pub mod remote;
pub mod split;
pub mod train;

pub use data::{Content, Dataset, load};
pub use error::Error;
pub use evaluate::{Calibration, ModelScores, NewData, PredictedTrial, Predictions, Predictor, model_of_run};
pub use fedspd_run::{Headline, headline, resume_command, shell_word};
pub use split::{Design, SharingError};
pub use train::{
    Ended, Experiment, Forecast, Observer, Resumable, RoundProgress, RunSeries, fit, reproduction, run,
    run_network, sweep,
};
