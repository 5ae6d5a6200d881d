//! `[run]`: seeds, threads and intervals. Trained models depend only on the seeds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::seeds::Seeds;

/// Seeds, threads and intervals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Run {
    /// Seeds, one run each: a list, a range such as "0..10" (0 to 9), one number, or text such as
    /// "0,4,7..9".
    pub seeds: Seeds,
    /// Number of threads. 0: all cores. No result depends on it.
    #[schemars(range(max = 4096))]
    pub threads: usize,
    /// Rounds between checkpoints.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub checkpoint_every: usize,
    /// Rounds between tests.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub eval_every: usize,
    /// Rounds between validations. The plateau schedule and early stopping need 1.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub validate_every: usize,
}

impl Default for Run {
    fn default() -> Self {
        Self { seeds: Seeds::default(), threads: 0, checkpoint_every: 1, eval_every: 1, validate_every: 1 }
    }
}
