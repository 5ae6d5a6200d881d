//! Evaluation: scores, trained models on other data, and the interpretation of networks.

mod arrays;
mod interpretation;
mod new_data;
mod online;
mod pool;
mod prediction_table;
mod predictions;
mod predictor;
mod saved_model;
mod scores;

pub(crate) use interpretation::InterpretationData;
pub use new_data::NewData;
pub(crate) use pool::pool_folds;
pub(crate) use prediction_table::run_table;
pub use predictions::{Calibration, PredictedTrial, Predictions};
pub use predictor::Predictor;
pub use saved_model::{ModelScores, model_of_run};
pub(crate) use scores::{Confusions, Detail, Predicted, RoundScores, Score, Validation, confusion, finals};
