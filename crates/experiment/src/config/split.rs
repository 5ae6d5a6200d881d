//! `[split]`: the split into training, validation and test trials.

use fedspd_eeg::dataset::Selection;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::conflict::Conflict;

/// Tolerance of the sum of the shares, which must be 1.
const SUM_TOLERANCE: f64 = 1e-9;

/// Split into training, validation and test trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Split {
    /// Split of the trials of a client.
    pub kind: SplitKind,
    /// Share of training trials.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub train: f64,
    /// Share of validation trials, which control the learning rate and early stopping.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub val: f64,
    /// Stratified: share of test trials, which are used for reporting only. 0: no test.
    #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 1))]
    pub test: f64,
    /// Leave-run-out: index of the test fold, counted from 0.
    pub fold: usize,
    /// Leave-run-out: number of folds.
    #[schemars(range(min = 2, max = 1000))]
    pub folds: usize,
    /// Seed of the assignment to clients and of the split. Default: the seed of each run. If set,
    /// runs differ only in initial weights, batches and sampling.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub seed: Option<u64>,
    /// Subjects that no client trains on, such as "11-12", for a score on unseen subjects.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "selection"))]
    pub held_out_subjects: Option<Selection>,
}

/// Split of the trials of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SplitKind {
    /// Random split with the same shares for every subject and label, as in the paper.
    #[default]
    Stratified,
    /// Holds out whole runs, so that trials close in time are never in both training and test. The
    /// other trials are split in the ratio of `train` to `val`.
    LeaveRunOut,
}

impl Default for Split {
    fn default() -> Self {
        Self {
            kind: SplitKind::default(),
            train: 0.75,
            val: 0.10,
            test: 0.15,
            fold: 0,
            folds: 5,
            seed: None,
            held_out_subjects: None,
        }
    }
}

impl Split {
    pub(crate) fn check(&self) -> Result<(), Conflict> {
        let Self { train, val, test, fold, folds, .. } = self;
        match self.kind {
            SplitKind::Stratified => {
                let sum = train + val + test;
                if (sum - 1.0).abs() <= SUM_TOLERANCE {
                    return Ok(());
                }
                // Round to twelve digits, so that 0.1 + 0.2 reads 0.3.
                let sum = (sum * 1e12).round() / 1e12;
                let found =
                    format!("`split.train`, `val` and `test` are {train}, {val} and {test}, together {sum},");
                Err(Conflict::new(&["split", "train"], found, "they must add up to 1")
                    .or_at(&["split", "val"])
                    .or_at(&["split", "test"]))
            }
            SplitKind::LeaveRunOut if fold >= folds => {
                let found = format!("`split.fold` is {fold} of {folds} folds");
                let rule = format!("it must be between 0 and {}", folds - 1);
                Err(Conflict::new(&["split", "fold"], found, rule).or_at(&["split", "folds"]))
            }
            SplitKind::LeaveRunOut => Ok(()),
        }
    }
}
