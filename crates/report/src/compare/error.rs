//! Why runs cannot be compared.

use thiserror::Error;

/// Why runs cannot be compared.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A run could not be read.
    #[error(transparent)]
    Report(#[from] crate::Error),
    /// One run, or the same one twice.
    #[error("{found} different runs of {given} given; a comparison needs two or more, each once")]
    Few {
        /// How many differ.
        found: usize,
        /// How many were named.
        given: usize,
    },
    /// Two runs whose scores cannot be paired.
    #[error("{first} and {second} cannot be compared: {difference}")]
    Different {
        /// A run.
        first: String,
        /// Another.
        second: String,
        /// What differs.
        difference: String,
    },
    /// There is no seed that all runs have finished.
    #[error("no seed was finished by all {runs} runs; they have {seeds}")]
    NoSeed {
        /// How many runs.
        runs: usize,
        /// The seeds of each.
        seeds: String,
    },
    /// A score that is no number.
    #[error("{run}: the macro-F1 of {client} with seed {seed} is missing or not a number")]
    Score {
        /// Which run.
        run: String,
        /// Whose.
        client: String,
        /// Of which seed.
        seed: u64,
    },
}

impl Error {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Report(error) => error.hint(),
            Self::Different { .. } => Some(
                "runs are paired by seed and client: use the same data, classes, split, clients and seeds"
                    .into(),
            ),
            Self::NoSeed { .. } => {
                Some("run both with `--seeds 0..10`, or resume the one that lacks some".into())
            }
            Self::Few { .. } | Self::Score { .. } => None,
        }
    }
}
