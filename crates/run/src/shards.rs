//! Shards: the trials of each client.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{Error, Unit, count, json};

/// The shards of all seeds and folds, because splits and shuffled assignments depend on them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shards {
    /// The names of the classes; counts are in this order.
    pub classes: Vec<String>,
    /// One for each seed and fold.
    pub seeds: Vec<SeedShards>,
}

/// The shards of one seed, or of one of its folds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeedShards {
    /// The seed.
    pub seed: u64,
    /// The test fold, counted from 0; none if the run has one fold only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fold: Option<usize>,
    /// The clients, in their order.
    pub clients: Vec<Shard>,
    /// The held-out subjects.
    pub held_out: Vec<HeldOutShard>,
    /// The exclusive or of the SHA-256 of the origin of each test trial, in hexadecimal digits; none
    /// over Flower.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_sha256: Option<String>,
}

/// The data of a client, as numbers of trials of each class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// The client.
    pub name: String,
    /// Its subjects.
    pub subjects: Vec<String>,
    /// Training trials.
    #[serde(deserialize_with = "count::by_class")]
    pub train: Vec<usize>,
    /// Validation trials.
    #[serde(deserialize_with = "count::by_class")]
    pub val: Vec<usize>,
    /// Test trials.
    #[serde(deserialize_with = "count::by_class")]
    pub test: Vec<usize>,
}

/// A held-out subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldOutShard {
    /// The subject.
    pub subject: String,
    /// Trials of each class.
    #[serde(deserialize_with = "count::by_class")]
    pub trials: Vec<usize>,
}

impl SeedShards {
    /// The unit that trains on these shards.
    pub fn unit(&self) -> Unit {
        Unit { seed: self.seed, fold: self.fold, stage: None }
    }
}

impl Shards {
    /// Reads shards.
    ///
    /// # Errors
    /// When the file cannot be read or is not a shards file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        json::read(path)
    }

    /// Writes them atomically.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        json::write(path, self)
    }
}
