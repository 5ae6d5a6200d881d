//! Evaluation: scores, saved models on other data, and the interpretation of networks.

mod interpretation;
mod predict;
mod saved_model;
mod scores;

pub(crate) use interpretation::InterpretationData;
pub use predict::Predictor;
pub use saved_model::{ModelScores, evaluate_model, model_of_run};
pub(crate) use scores::{Confusions, Predicted, RoundScores, Score, Validation, confusion, finals};
