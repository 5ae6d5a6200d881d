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
    /// Split of the trials.
    pub kind: SplitKind,
    /// Stratified: share of training trials.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub train: f64,
    /// Stratified: share of validation trials, which control the learning rate and early stopping.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub val: f64,
    /// Stratified: share of test trials, which are used for reporting only. 0: no test.
    #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 1))]
    pub test: f64,
    /// Leave-out splits: index of the only test fold, counted from 0. Default: all folds, one after
    /// the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize")]
    pub fold: Option<usize>,
    /// Leave-out splits: number of folds. Default: the largest number that keeps every class in
    /// training, validation and test of every client (runs, sessions); 5 (subjects, clients).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize", range(min = 2, max = 1000))]
    pub folds: Option<usize>,
    /// Leave-out splits: whether the final model trains on training and validation trials together,
    /// for the number of rounds and with the learning rates that were chosen without them.
    pub refit: bool,
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

/// Split of the trials. A leave-out split deals whole runs, sessions, subjects or clients to folds.
/// Each fold is the test once. Another fold is the validation, and the other folds are the training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SplitKind {
    /// Random split with the same shares for every subject and label, as in the paper.
    #[default]
    Stratified,
    /// Holds out whole runs, so that trials close in time are never in both training and test.
    LeaveRunOut,
    /// Holds out whole sessions.
    LeaveSessionOut,
    /// Holds out whole subjects, which are scored as new people.
    LeaveSubjectOut,
    /// Holds out whole clients, which do not train and are scored with the common model.
    LeaveClientOut,
}

impl SplitKind {
    /// Returns the name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stratified => "stratified",
            Self::LeaveRunOut => "leave-run-out",
            Self::LeaveSessionOut => "leave-session-out",
            Self::LeaveSubjectOut => "leave-subject-out",
            Self::LeaveClientOut => "leave-client-out",
        }
    }

    /// Whether the split has folds.
    pub fn has_folds(self) -> bool {
        self != Self::Stratified
    }

    /// Whether validation and test are on people whom nobody trains on.
    pub fn holds_out_people(self) -> bool {
        matches!(self, Self::LeaveSubjectOut | Self::LeaveClientOut)
    }
}

impl Default for Split {
    fn default() -> Self {
        Self {
            kind: SplitKind::default(),
            train: 0.75,
            val: 0.10,
            test: 0.15,
            fold: None,
            folds: None,
            refit: false,
            seed: None,
            held_out_subjects: None,
        }
    }
}

/// The values of `fold` and `folds` in former configurations, which always had both.
const FORMER_FOLD: (usize, usize) = (0, 5);

impl Split {
    /// Returns the split as in former versions, whose stratified configurations had fold and folds
    /// without effect. Hashes are computed from it, so that former runs can be resumed.
    pub(crate) fn for_hash(&self) -> Self {
        let mut split = self.clone();
        if split.kind == SplitKind::Stratified {
            split.fold.get_or_insert(FORMER_FOLD.0);
            split.folds.get_or_insert(FORMER_FOLD.1);
        }
        split
    }

    pub(crate) fn check(&self) -> Result<(), Conflict> {
        let Self { train, val, test, .. } = self;
        let kind = self.kind.name();
        if !self.kind.has_folds() {
            if self.refit {
                let found = format!("`split.refit` is true with the split \"{kind}\"");
                let rule = "only leave-out splits train a second time";
                let hint = "use a leave-out split, such as `split.kind = \"leave-run-out\"`";
                return Err(Conflict::new(&["split", "refit"], found, rule).hint(hint));
            }
            let sum = train + val + test;
            if (sum - 1.0).abs() <= SUM_TOLERANCE {
                return Ok(());
            }
            // Round to twelve digits, so that 0.1 + 0.2 reads 0.3.
            let sum = (sum * 1e12).round() / 1e12;
            let found =
                format!("`split.train`, `val` and `test` are {train}, {val} and {test}, together {sum},");
            return Err(Conflict::new(&["split", "train"], found, "they must add up to 1")
                .or_at(&["split", "val"])
                .or_at(&["split", "test"]));
        }
        if let (Some(fold), Some(folds)) = (self.fold, self.folds)
            && fold >= folds
        {
            let found = format!("`split.fold` is {fold} of {folds} folds");
            let rule = format!("it must be between 0 and {}", folds - 1);
            return Err(Conflict::new(&["split", "fold"], found, rule).or_at(&["split", "folds"]));
        }
        if !self.kind.holds_out_people() {
            return Ok(());
        }
        if let Some(folds @ ..LEAST_FOLDS_OF_PEOPLE) = self.folds {
            let found = format!("`split.folds` is {folds} with the split \"{kind}\"");
            let rule = format!("it needs at least {LEAST_FOLDS_OF_PEOPLE} folds");
            let hint = "one fold is the test, one the validation, and the others are the training";
            return Err(Conflict::new(&["split", "folds"], found, rule).hint(hint));
        }
        if self.held_out_subjects.is_some() {
            let found = format!("`split.held_out_subjects` is set with the split \"{kind}\"");
            let rule = "its folds hold out people already";
            let hint = "remove `split.held_out_subjects`, or use another `split.kind`";
            return Err(Conflict::new(&["split", "held_out_subjects"], found, rule).hint(hint));
        }
        Ok(())
    }
}

/// The least number of folds of people: one each for training, validation and test.
pub(crate) const LEAST_FOLDS_OF_PEOPLE: usize = 3;
