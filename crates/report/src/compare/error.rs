//! Errors of comparisons.

use thiserror::Error;

/// Errors that prevent a comparison.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A run could not be read.
    #[error(transparent)]
    Report(#[from] crate::Error),
    /// Fewer than two runs, or the same run twice.
    #[error("runs: {given} given, {found} different; a comparison needs two or more different runs")]
    Few {
        /// The number of different runs.
        found: usize,
        /// The number of runs given.
        given: usize,
    },
    /// The scores of two runs cannot be paired.
    #[error("{first} and {second} cannot be compared: {difference}")]
    Different {
        /// The first run.
        first: String,
        /// The second run.
        second: String,
        /// The difference.
        difference: String,
    },
    /// The runs have no finished seed in common.
    #[error("no seed was finished by all {runs} runs; they have {seeds}")]
    NoSeed {
        /// The number of runs.
        runs: usize,
        /// The finished seeds of each.
        seeds: String,
    },
    /// A score is missing or not a number.
    #[error("{run}: the macro-F1 of {client} with seed {seed} is missing or not a number")]
    Score {
        /// The run.
        run: String,
        /// The client.
        client: String,
        /// The seed.
        seed: u64,
    },
}

impl Error {
    /// Returns a hint for the user, if there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Report(error) => error.hint(),
            Self::Different { .. } => Some(
                "runs are paired by seed and client: use the same data, classes, split, clients and seeds"
                    .into(),
            ),
            Self::NoSeed { .. } => {
                Some("run both with `--seeds 0..10`, or resume the run that lacks seeds".into())
            }
            Self::Few { .. } | Self::Score { .. } => None,
        }
    }
}
