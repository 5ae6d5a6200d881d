//! The first numbers that a person wants of a run.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{Error, ResultRow, ResultTable, json, number};

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

/// Mean and standard deviation. A value that is NaN makes both NaN: leaving it out would be a silent repair.
pub fn summary(values: &[f64]) -> Summary {
    let count = values.len();
    let mean = values.iter().sum::<f64>() / count as f64;
    let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    let std = if count < 2 { f64::NAN } else { (squares / (count - 1) as f64).sqrt() };
    Summary { mean, std, count }
}

/// Reads the headline off a table.
pub fn headline(table: &ResultTable) -> Headline {
    let over_seeds = |client, split, metric| summary(&table.values(client, split, metric));
    Headline {
        macro_f1: over_seeds("pooled", "test", "final_macro_f1"),
        mean_client: over_seeds("mean", "test", "final_macro_f1"),
        worst_client: over_seeds("worst", "test", "final_macro_f1"),
        accuracy: over_seeds("pooled", "test", "final_accuracy"),
        kappa: over_seeds("pooled", "test", "final_kappa"),
        held_out: over_seeds("pooled", "held-out", "final_macro_f1"),
        feasibility_error: table
            .values("pooled", "model", "final_feasibility_error")
            .into_iter()
            .fold(0.0, f64::max),
    }
}

/// The macro-F1 on the pooled validation trials of the last round of each seed, over seeds: what settings may be chosen by.
pub fn validation_f1(table: &ResultTable) -> Summary {
    let mut last: BTreeMap<u64, (u32, f64)> = BTreeMap::new();
    let of_round =
        |row: &&ResultRow| row.client == "pooled" && row.split == "validation" && row.metric == "macro_f1";
    for row in table.rows.iter().filter(of_round) {
        let entry = last.entry(row.seed).or_insert((row.round, row.value));
        if row.round >= entry.0 {
            *entry = (row.round, row.value);
        }
    }
    summary(&last.values().map(|(_, value)| *value).collect::<Vec<_>>())
}
