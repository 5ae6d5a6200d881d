//! Errors of reports.

use std::path::PathBuf;

use fedspd_run::how_to_resume;
use thiserror::Error;

/// Errors while reading runs or writing a report.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A run folder could not be read, or the report not written.
    #[error(transparent)]
    Run(#[from] fedspd_run::Error),
    /// The configuration of a run cannot be read.
    #[error("{path}: {source}", path = path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// The parse error, with its line.
        source: Box<toml::de::Error>,
    },
    /// No seed of a run has finished.
    #[error("{path}: no seed is done yet", path = path.display())]
    NothingDone {
        /// The run folder.
        path: PathBuf,
    },
    /// Files of a run contradict each other.
    #[error("{path}: {found} {what} where the manifest has {expected}", path = path.display())]
    Disagree {
        /// The file.
        path: PathBuf,
        /// The counted items.
        what: &'static str,
        /// Their number in the file.
        found: usize,
        /// Their number in the manifest.
        expected: usize,
    },
    /// A label is for a folder that is not among the runs.
    #[error("the label `{name}` is for {path}, which is not among the runs", path = path.display())]
    UnknownLabel {
        /// The label.
        name: String,
        /// Its folder.
        path: PathBuf,
    },
    /// A label is given to two runs.
    #[error("two runs have the label `{name}`")]
    LabelTwice {
        /// The label.
        name: String,
    },
    /// A run has two labels.
    #[error("{path} has two labels, `{}` and `{}`", labels[0], labels[1], path = path.display())]
    TwoLabels {
        /// The run folder.
        path: PathBuf,
        /// The labels.
        labels: [String; 2],
    },
    /// No run folder was given.
    #[error("a report needs a run folder")]
    NoRuns,
}

impl Error {
    /// Returns a hint for the user, if there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Run(error) => error.hint(),
            Self::NothingDone { path } => Some(format!("let the run finish, or {}", how_to_resume(path))),
            Self::Config { .. } | Self::Disagree { .. } => Some(
                "the file was changed or damaged after the run; restore it, or run again in a new folder"
                    .into(),
            ),
            Self::UnknownLabel { .. } => {
                Some("also list the folder of a label as a run: fedspd report RUN --label NAME=RUN".into())
            }
            Self::LabelTwice { .. } | Self::TwoLabels { .. } | Self::NoRuns => None,
        }
    }

    /// Returns whether the machine is the cause, not the user's input.
    pub fn is_environment(&self) -> bool {
        matches!(self, Self::Run(fedspd_run::Error::File { .. }))
    }
}
