//! Errors of run folders.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::csv::CsvFault;
use crate::{RunFolder, how_to_resume};

/// Errors while reading or writing a run folder.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The folder does not exist.
    #[error("{path}: there is no such folder", path = path.display())]
    NoFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The path names a file.
    #[error("{path}: a file, not a folder", path = path.display())]
    NotAFolder {
        /// The file.
        path: PathBuf,
    },
    /// The folder is not a run.
    #[error("{path}: not a run folder, it has no manifest.json", path = path.display())]
    NotARun {
        /// The folder.
        path: PathBuf,
    },
    /// The folder has files that do not belong to the run.
    #[error("{path}: not empty and not a run, it contains `{entry}`", path = path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
        /// An entry of the folder.
        entry: String,
    },
    /// Another process uses the folder.
    #[error("{path}: in use by {holder}", path = path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
        /// The process that uses it.
        holder: String,
    },
    /// The file has another schema version.
    #[error("{path}: schema version {found}, but this fedspd reads version {known}", path = path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// The version that this fedspd reads.
        known: u64,
    },
    /// A file is not valid JSON of its type.
    #[error("{path}: {source}", path = path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// The parse error, with line and column.
        source: serde_json::Error,
    },
    /// A line is not an event.
    #[error("{path}: line {line} is not an event: {source}", path = path.display())]
    EventLine {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The parse error.
        source: serde_json::Error,
    },
    /// A table of results is damaged.
    #[error("{path}: line {line}: {fault}", path = path.display())]
    Csv {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The fault.
        fault: CsvFault,
    },
}

impl Error {
    /// Returns a hint for the user, if there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoFolder { .. } | Self::NotARun { .. } => {
                Some("`fedspd run` writes run folders, by default under runs/".into())
            }
            Self::NotAFolder { path } => {
                let run = path.parent().filter(|folder| RunFolder::open(*folder).is_ok());
                Some(run.map_or("name a folder".into(), |run| format!("name its folder, {}", run.display())))
            }
            Self::Occupied { .. } => Some("choose a new or empty folder with --out".into()),
            Self::InUse { path, .. } => {
                Some(format!("wait until it is done, or stop it and {}", how_to_resume(path)))
            }
            Self::Schema { found, known, .. } if found > known => {
                Some("the run was written by a newer fedspd; update this one".into())
            }
            Self::Schema { .. } => Some("read it with the fedspd that wrote it".into()),
            Self::Json { .. } | Self::EventLine { .. } | Self::Csv { .. } => Some(
                "the file was changed or damaged after the run; restore it, or run again in a new folder"
                    .into(),
            ),
            Self::File { source, .. } => disk_hint(source).map(str::to_owned),
        }
    }

    /// Adds the path to an I/O error.
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        |source| Self::File { path: path.to_owned(), source }
    }

    /// Adds the path to a JSON error.
    pub(crate) fn json(path: &Path) -> impl FnOnce(serde_json::Error) -> Self {
        |source| Self::Json { path: path.to_owned(), source }
    }
}

/// Returns a hint for an error of the disk, if there is one.
pub fn disk_hint(error: &std::io::Error) -> Option<&'static str> {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            Some("choose a folder that you may use, or ask for permission")
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            Some("make room on the disk, or choose another one")
        }
        ErrorKind::NotADirectory => Some("a part of the path is a file; name a folder"),
        // The standard library reports this for text.
        ErrorKind::InvalidData => Some("save the file as UTF-8 text"),
        _ => None,
    }
}
