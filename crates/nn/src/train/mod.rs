//! Epochs of training, and evaluation.

mod trainer;

pub use trainer::{Evaluation, Trainer};
