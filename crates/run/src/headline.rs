//! The first numbers that a person wants of a run.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{Error, json, number};

/// The first numbers that a person wants: of the models that the seeds end with, over seeds. All of it can be computed from the results.
///
/// A number that is not finite is written as `null` and read as NaN.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Headline {
    /// Macro-F1 of all clients' test trials together.
    pub macro_f1: Summary,
    /// The mean over clients of their macro-F1.
    pub mean_client: Summary,
    /// That of the worst client.
    pub worst_client: Summary,
    /// The share of test trials whose class was predicted.
    pub accuracy: Summary,
    /// Cohen's kappa.
    pub kappa: Summary,
    /// Macro-F1 of subjects that nobody trained on; of no seed if there are none.
    pub held_out: Summary,
    /// The largest `|W^T W - I|` of the final models.
    #[serde(with = "number")]
    pub feasibility_error: f64,
}

/// Mean and spread of a number over seeds or clients.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The mean; NaN of no values.
    #[serde(with = "number")]
    pub mean: f64,
    /// The standard deviation of the sample (divided by n - 1): an estimate of how far another seed would be off. NaN of fewer than two
    /// values, which say nothing about it.
    #[serde(with = "number")]
    pub std: f64,
    /// How many values there are.
    pub count: usize,
}

impl Headline {
    /// Reads a headline.
    ///
    /// # Errors
    /// When the file cannot be read or is no headline.
    pub fn read(path: &Path) -> Result<Self, Error> {
        json::read(path)
    }

    /// Writes it as a whole.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        json::write(path, self)
    }
}
