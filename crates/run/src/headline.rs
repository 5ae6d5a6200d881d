//! Main scores of a run.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{Error, ResultRow, ResultTable, json, number};

/// Main scores of the final models, over seeds. All of them can be computed from the results.
/// `summary.json` and `fedspd run --format json` have these keys.
///
/// A number that is not finite is written as `null` and read as NaN.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Headline {
    /// Macro-F1 of all clients' test trials together.
    pub macro_f1: Summary,
    /// The mean over clients of their macro-F1.
    pub mean_client: Summary,
    /// The macro-F1 of the worst client.
    pub worst_client: Summary,
    /// The share of test trials with the correct prediction.
    pub accuracy: Summary,
    /// Cohen's kappa.
    pub kappa: Summary,
    /// Macro-F1 of held-out subjects; its count is 0 if there are none.
    pub held_out: Summary,
    /// The largest `|W^T W - I|` of the final models; none without Stiefel parameters.
    pub feasibility_error: Option<f64>,
    /// Macro-F1 of single folds, over folds and seeds; none without folds. The other scores pool
    /// the test trials of all folds first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub single_folds: Option<Summary>,
}

/// Mean and spread of a number over seeds or clients.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The mean; NaN without values.
    #[serde(with = "number")]
    pub mean: f64,
    /// The sample standard deviation (divisor n - 1), which estimates the spread over seeds. NaN
    /// for fewer than two values.
    #[serde(with = "number")]
    pub std: f64,
    /// The number of values.
    pub count: usize,
}

impl Headline {
    /// Reads a headline.
    ///
    /// # Errors
    /// When the file cannot be read or is not a headline.
    pub fn read(path: &Path) -> Result<Self, Error> {
        json::read(path)
    }

    /// Writes it atomically.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        json::write(path, self)
    }
}

/// Computes mean and standard deviation. A NaN value makes both NaN, because leaving it out would
/// hide a fault.
pub fn summary(values: &[f64]) -> Summary {
    let count = values.len();
    let mean = values.iter().sum::<f64>() / count as f64;
    let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    let std = if count < 2 { f64::NAN } else { (squares / (count - 1) as f64).sqrt() };
    Summary { mean, std, count }
}

/// Computes the headline from a table.
pub fn headline(table: &ResultTable) -> Headline {
    let over_seeds = |client, split, metric| summary(&table.values(client, split, metric));
    Headline {
        macro_f1: over_seeds("pooled", "test", "final_macro_f1"),
        mean_client: over_seeds("mean", "test", "final_macro_f1"),
        worst_client: over_seeds("worst", "test", "final_macro_f1"),
        accuracy: over_seeds("pooled", "test", "final_accuracy"),
        kappa: over_seeds("pooled", "test", "final_kappa"),
        held_out: over_seeds("pooled", "held-out", "final_macro_f1"),
        feasibility_error: feasibility_error(table),
        single_folds: {
            let folds = table.values_of_folds("pooled", "test", "final_macro_f1");
            (!folds.is_empty()).then(|| summary(&folds))
        },
    }
}

/// Returns the largest distance from orthonormal columns. Only a network without Stiefel parameters
/// has exactly zero.
fn feasibility_error(table: &ResultTable) -> Option<f64> {
    let errors = table.values("pooled", "model", "final_feasibility_error");
    errors.into_iter().reduce(f64::max).filter(|&largest| largest != 0.0)
}

/// Computes the macro-F1 on the pooled validation trials over seeds and folds: that of the round
/// whose model counts, otherwise of the last round. Hyper-parameters may be chosen by it.
pub fn validation_f1(table: &ResultTable) -> Summary {
    let chosen: BTreeMap<(u64, Option<usize>), f64> = table
        .rows
        .iter()
        .filter(|row| row.split == "model" && row.metric == "final_round")
        .map(|row| ((row.seed, row.fold), row.value))
        .collect();
    let mut last: BTreeMap<(u64, Option<usize>), (u32, f64)> = BTreeMap::new();
    let of_round =
        |row: &&ResultRow| row.client == "pooled" && row.split == "validation" && row.metric == "macro_f1";
    let counts = |row: &&ResultRow| {
        chosen.get(&(row.seed, row.fold)).is_none_or(|&round| f64::from(row.round) == round)
    };
    for row in table.rows.iter().filter(of_round).filter(counts) {
        let entry = last.entry((row.seed, row.fold)).or_insert((row.round, row.value));
        if row.round >= entry.0 {
            *entry = (row.round, row.value);
        }
    }
    summary(&last.values().map(|(_, value)| *value).collect::<Vec<_>>())
}
