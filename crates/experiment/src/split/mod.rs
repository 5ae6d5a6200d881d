//! The split of a seed: assigns subjects to clients, and trials to training, validation and test.

mod apportion;
mod classes;
pub mod deal;
mod design;
mod error;
pub(crate) mod facts;
mod folds;
pub mod partition;
pub mod trials;

pub(crate) use design::unscored;
pub use design::{Design, Newcomer, Part};
pub use error::{LostClass, SharingError};
pub use folds::{Fold, fold_count};
