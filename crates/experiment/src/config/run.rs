//! `[run]`: seeds, threads, intervals, and the model that counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::seeds::Seeds;

/// Seeds, threads, intervals, and the model that counts.
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
    /// Model that is saved and scored. Default: `best-validation` with early stopping, otherwise
    /// `last`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Select")]
    pub select: Option<Select>,
}

/// Model that is saved and scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Select {
    /// That of the last round.
    Last,
    /// That of the round with the highest macro-F1 on the pooled validation trials, the first of
    /// equals.
    BestValidation,
}

impl Select {
    /// Returns the name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Last => "last",
            Self::BestValidation => "best-validation",
        }
    }

    /// Describes the model in tables.
    pub fn title(self) -> &'static str {
        match self {
            Self::Last => "the model of the last round",
            Self::BestValidation => "the model of the round with the best validation score",
        }
    }
}

impl Default for Run {
    fn default() -> Self {
        Self {
            seeds: Seeds::default(),
            threads: 0,
            checkpoint_every: 1,
            eval_every: 1,
            validate_every: 1,
            select: None,
        }
    }
}
