//! Who had which trials.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{Error, json};

/// The shards of all seeds: splits, and assignments that are shuffled, depend on the seed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shards {
    /// The names of the classes; counts are in this order.
    pub classes: Vec<String>,
    /// One for each seed.
    pub seeds: Vec<SeedShards>,
}

/// The shards of one seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeedShards {
    /// The seed.
    pub seed: u64,
    /// The clients, in their order.
    pub clients: Vec<Shard>,
    /// The subjects that are kept away from training.
    pub held_out: Vec<HeldOutShard>,
}

/// What a client has: counts are trials of each class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// The client.
    pub name: String,
    /// Its subjects.
    pub subjects: Vec<String>,
    /// Trials to train on.
    pub train: Vec<usize>,
    /// Trials for validation.
    pub val: Vec<usize>,
    /// Trials for the test.
    pub test: Vec<usize>,
}

/// A subject that is kept away from training.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldOutShard {
    /// Who.
    pub subject: String,
    /// Trials of each class.
    pub trials: Vec<usize>,
}

impl Shards {
    /// Reads shards.
    ///
    /// # Errors
    /// When the file cannot be read, or is something else.
    pub fn read(path: &Path) -> Result<Self, Error> {
        json::read(path)
    }

    /// Writes them as a whole.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        json::write(path, self)
    }
}
