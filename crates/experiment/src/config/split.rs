//! `[split]`: which trials train, which choose, which judge.

use fedspd_eeg::dataset::Selection;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::conflict::Conflict;

/// How far shares may be from adding up to 1.
const SUM_TOLERANCE: f64 = 1e-9;

/// Which trials train, which choose, which judge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Split {
    /// How the trials of a client are divided.
    pub kind: SplitKind,
    /// Stratified: the share of trials to train with.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub train: f64,
    /// Stratified: the share that steers the learning rate and early stopping.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub val: f64,
    /// Stratified: the share that is touched for reporting only; 0 where others report.
    #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 1))]
    pub test: f64,
    /// Leave-run-out: which fold is the test, counted from 0.
    pub fold: usize,
    /// Leave-run-out: how many folds.
    #[schemars(range(min = 2, max = 1000))]
    pub folds: usize,
    /// A seed for who has which trials and what they are for; each run's own seed if absent. With it, seeds differ in initial weights, batches and sampling alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub seed: Option<u64>,
    /// Subjects that no client trains with, such as "11-12", for a score on unseen subjects.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "selection"))]
    pub held_out_subjects: Option<Selection>,
}

/// How the trials of a client are divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SplitKind {
    /// At random, in shares that are the same for every subject and label, as in the paper.
    #[default]
    Stratified,
    /// Whole runs are held out, so that neighbours in time are never on both sides.
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
                // Twelve digits: 0.1 + 0.2 is 0.3 to a reader.
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
