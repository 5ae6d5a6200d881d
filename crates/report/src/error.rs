//! Why there is no report.

use std::path::PathBuf;

use thiserror::Error;

/// Why there is no report.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A run folder could not be read, or the report not written.
    #[error(transparent)]
    Run(#[from] fedspd_run::Error),
    /// The configuration of a run cannot be read.
    #[error("{path}: {source}", path = path.display())]
    Config {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it, with its line.
        source: Box<toml::de::Error>,
    },
    /// No seed of a run is done.
    #[error("{path}: no seed is done yet", path = path.display())]
    NothingDone {
        /// Which run.
        path: PathBuf,
    },
    /// Files of a run do not fit together.
    #[error("{path}: {found} {what} where the manifest has {expected}", path = path.display())]
    Disagree {
        /// Which file.
        path: PathBuf,
        /// What is counted.
        what: &'static str,
        /// How many the file has.
        found: usize,
        /// How many the manifest has.
        expected: usize,
    },
    /// There is nothing to report on.
    #[error("a report needs a run folder")]
    NoRuns,
}

impl Error {
    /// What the user can do about it, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Run(error) => error.hint(),
            Self::NothingDone { path } => {
                Some(format!("let the run finish, or go on with `fedspd resume {}`", path.display()))
            }
            Self::Config { .. } | Self::Disagree { .. } => Some(
                "the file was changed or damaged after the run; restore it, or run again in a new folder"
                    .into(),
            ),
            Self::NoRuns => None,
        }
    }

    /// Whether it is the machine's fault rather than the user's.
    pub fn is_environment(&self) -> bool {
        matches!(self, Self::Run(fedspd_run::Error::File { .. }))
    }
}
