//! Evaluation: scores, trained models on other data, and the interpretation of networks.

mod arrays;
mod interpretation;
mod new_data;
mod pool;
mod predictions;
mod predictor;
mod saved_model;
mod scores;

pub(crate) use interpretation::InterpretationData;
pub use new_data::NewData;
pub(crate) use pool::pool_folds;
pub use predictions::{Calibration, PredictedTrial, Predictions};
pub use predictor::Predictor;
pub use saved_model::{ModelScores, model_of_run};
pub(crate) use scores::{Confusions, Detail, Predicted, RoundScores, Score, Validation, confusion, finals};
