//! `[run]`: how it is run, which changes no result but the seeds'.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::seeds::Seeds;

/// How it is run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Run {
    /// The seeds, a run for each: a list, a range such as "0..10" (0 to 9), or one number.
    pub seeds: Seeds,
    /// Threads; 0 takes all cores.
    #[schemars(range(max = 4096))]
    pub threads: usize,
    /// Rounds from one checkpoint to the next.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub checkpoint_every: usize,
    /// Rounds from one test to the next.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub eval_every: usize,
    /// Rounds from one validation to the next. The plateau schedule and early stopping need 1.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub validate_every: usize,
}

impl Default for Run {
    fn default() -> Self {
        Self { seeds: Seeds::default(), threads: 0, checkpoint_every: 1, eval_every: 1, validate_every: 1 }
    }
}
