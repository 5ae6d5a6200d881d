//! The split of a seed: assigns subjects to clients, and trials to training, validation and test.

mod apportion;
mod design;
mod error;
pub(crate) mod facts;
pub mod partition;
pub mod trials;

pub use design::Design;
pub(crate) use design::unscored;
pub use error::SharingError;
