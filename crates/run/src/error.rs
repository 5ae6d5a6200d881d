//! What can go wrong, with the place.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::csv::CsvFault;

/// Why a run folder could not be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// There is no such folder.
    #[error("{path}: there is no such folder", path = path.display())]
    NoFolder {
        /// Which folder.
        path: PathBuf,
    },
    /// A folder that is no run.
    #[error("{path}: not the folder of a run, there is no manifest.json in it", path = path.display())]
    NotARun {
        /// Which folder.
        path: PathBuf,
    },
    /// A run would mix with files that are not its own.
    #[error("{path}: not empty and not a run, `{entry}` is in it", path = path.display())]
    Occupied {
        /// Which folder.
        path: PathBuf,
        /// Something in it.
        entry: String,
    },
    /// Another process writes to the folder.
    #[error("{path}: in use by {holder}", path = path.display())]
    InUse {
        /// Which folder.
        path: PathBuf,
        /// Who uses it.
        holder: String,
    },
    /// A file of another version of this software.
    #[error("{path}: schema version {found}, but this fedspd reads version {known}", path = path.display())]
    Schema {
        /// Which file.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// The version that can be read.
        known: u64,
    },
    /// A file is not the JSON that it should be.
    #[error("{path}: {source}", path = path.display())]
    Json {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it, with line and column.
        source: serde_json::Error,
    },
    /// A line is no event.
    #[error("{path}: line {line} is not an event: {source}", path = path.display())]
    EventLine {
        /// Which file.
        path: PathBuf,
        /// Which line, counted from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A table of results is damaged.
    #[error("{path}: line {line}: {fault}", path = path.display())]
    Csv {
        /// Which file.
        path: PathBuf,
        /// Which line, counted from 1.
        line: usize,
        /// What is wrong with it.
        fault: CsvFault,
    },
}

impl Error {
    /// What the user can do about it, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoFolder { .. } | Self::NotARun { .. } => {
                Some("a run folder is what `fedspd run` writes, by default under runs/".into())
            }
            Self::Occupied { .. } => Some("choose a folder that is new or empty with --out".into()),
            Self::InUse { .. } => {
                Some("wait until it is done, or stop it and go on with `fedspd resume`".into())
            }
            Self::Schema { found, known, .. } if found > known => {
                Some("the run was written by a newer fedspd; update this one".into())
            }
            Self::Schema { .. } => Some("read it with the fedspd that wrote it".into()),
            Self::Json { .. } | Self::EventLine { .. } | Self::Csv { .. } => Some(
                "the file was changed or damaged after the run; restore it, or run again in a new folder"
                    .into(),
            ),
            Self::File { .. } => None,
        }
    }

    /// Says which file a fault of the system is about.
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        |source| Self::File { path: path.to_owned(), source }
    }

    /// Says which file is not the JSON that it should be.
    pub(crate) fn json(path: &Path) -> impl FnOnce(serde_json::Error) -> Self {
        |source| Self::Json { path: path.to_owned(), source }
    }
}
