//! Facts about trials and their split, for the caveats of a report.

use serde::{Deserialize, Serialize};

/// Facts about trials and their split. They name nobody.
///
/// A run is a recording: all trials with the same subject, session and run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialFacts {
    /// The number of runs.
    pub runs: usize,
    /// Runs that lack a class of their subject.
    pub partial_runs: usize,
    /// Subjects with training and test trials; the largest number of all splits.
    pub shared_subjects: usize,
    /// Runs with training and test trials; the largest number of all splits.
    pub shared_runs: usize,
    /// Pairs of subjects with the same trials, or nearly the same.
    pub copied_pairs: usize,
    /// The trials that are in two subjects.
    pub copied_trials: usize,
}
