//! What can go wrong with a download.

use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use super::{Checksum, Measure};

/// Why a file of a dataset is not there, or not used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FetchFault {
    /// It is not there, and may not be downloaded.
    #[error("not there, and downloads are switched off")]
    Offline {
        /// Where it could be downloaded.
        url: Option<String>,
    },
    /// It is not there, and nobody knows where to get it.
    #[error("not there, and no address is known for it")]
    NoAddress,
    /// Its path leads out of the folder of the data.
    #[error("not inside of the data folder {root}", root = root.display())]
    Outside {
        /// The folder.
        root: PathBuf,
    },
    /// The file on the disk is not the one that was meant.
    #[error("not the expected content: {found} instead of {expected}")]
    Changed {
        /// What was expected.
        expected: Measure,
        /// What is there.
        found: Measure,
        /// Where the expectation was recorded at the first download, if it was not published.
        record: Option<PathBuf>,
    },
    /// The checksum recorded at the first download cannot be read.
    #[error("not a checksum as `sha256sum` writes it")]
    Record,
    /// Processes cannot be kept apart in this folder.
    #[error("the file system cannot lock it ({reason}), so two downloads could mix")]
    NoLock {
        /// What the system said.
        reason: String,
    },
    /// All attempts failed; this was the last.
    #[error("{obstacle} ({url}, {attempts} attempt{})", if *attempts == 1 { "" } else { "s" })]
    Download {
        /// The address of the last attempt.
        url: String,
        /// How often that address was tried.
        attempts: u32,
        /// What happened the last time.
        obstacle: Obstacle,
        /// Where the expected checksum was recorded at the first download, if it was not published.
        record: Option<PathBuf>,
    },
}

impl FetchFault {
    /// What the user can do about it.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Offline { url: Some(url) } => {
                Some(format!("download {url} to this place, or allow downloads"))
            }
            Self::Offline { url: None } | Self::NoAddress => Some("put the file there by hand".into()),
            Self::Changed { record: None, .. } => {
                Some("delete the file, or move it away, and it is downloaded again".into())
            }
            Self::Changed { record: Some(record), .. } => Some(format!(
                "delete the file, or move it away, and it is downloaded again; if you changed it on purpose, delete {}",
                record.display()
            )),
            Self::Record => Some("delete it to trust the next download".into()),
            Self::NoLock { .. } => Some("download to a folder on a local disk, and copy it".into()),
            Self::Download { obstacle: Obstacle::Checksum { .. }, record: Some(record), .. } => {
                Some(format!(
                    "the file on the server is not the one of the first download any more; if that is right, delete {}",
                    record.display()
                ))
            }
            Self::Download { obstacle, .. } => obstacle.hint(),
            Self::Outside { .. } => None,
        }
    }
}

/// Why one attempt to download a file failed.
///
/// Bytes count from the beginning of the file, also when a download was continued.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Obstacle {
    /// The address is none.
    #[error("not an address: {reason}")]
    Address {
        /// What the parser said.
        reason: String,
    },
    /// The server, or its name, does not answer.
    #[error("the server cannot be reached: {reason}")]
    Unreachable {
        /// What the system said.
        reason: String,
    },
    /// There was no connection in time.
    #[error("no connection within {after:?}")]
    NoConnection {
        /// The time that was given.
        after: Duration,
    },
    /// The server hung up before it said anything.
    #[error("the server closed the connection without an answer")]
    NoAnswer,
    /// The server fell silent.
    #[error("the server sent nothing for {after:?}, after {}", so_far(*received, *total))]
    Stalled {
        /// The time that was given.
        after: Duration,
        /// How much of the file is there.
        received: u64,
        /// How much there should be.
        total: Option<u64>,
    },
    /// The connection ended too early.
    #[error("the connection ended after {}", so_far(*received, *total))]
    Truncated {
        /// How much of the file is there.
        received: u64,
        /// How much there should be.
        total: Option<u64>,
    },
    /// The server answered with something else than the file.
    #[error("http status {code}")]
    Status {
        /// Its status.
        code: u16,
        /// The wait that it asked for.
        retry_after: Option<Duration>,
    },
    /// The server keeps sending us elsewhere.
    #[error("more than {limit} redirects")]
    Redirects {
        /// How many are followed.
        limit: u32,
    },
    /// There is no protected connection, or no trust in it.
    #[error("no secure connection: {reason}")]
    Tls {
        /// What is wrong with the certificate, or with what it was sent in.
        reason: String,
    },
    /// The server sends us from a protected to an unprotected address.
    #[error("redirected from https to an unprotected address")]
    Insecure,
    /// The end of the file could not be told from a broken connection.
    #[error("the server does not tell the length of the file, and neither length nor checksum are known")]
    Unbounded,
    /// The answer makes no sense.
    #[error("the answer of the server makes no sense: {reason}")]
    Protocol {
        /// Why.
        reason: String,
    },
    /// The server has a file of another length.
    #[error("{found} bytes instead of {expected}")]
    Size {
        /// The length that was expected.
        expected: u64,
        /// The length that was announced, or passed.
        found: u64,
    },
    /// The server has another file.
    #[error("SHA-256 {found} instead of {expected}")]
    Checksum {
        /// What was expected.
        expected: Checksum,
        /// What was received.
        found: Checksum,
    },
}

fn so_far(received: u64, total: Option<u64>) -> String {
    total.map_or_else(|| format!("{received} bytes"), |total| format!("{received} of {total} bytes"))
}

impl Obstacle {
    /// Whether it may be gone the next time.
    pub fn passes(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::NoConnection { .. }
            | Self::NoAnswer
            | Self::Stalled { .. }
            | Self::Truncated { .. }
            | Self::Size { .. }
            | Self::Checksum { .. } => true,
            Self::Status { code, .. } => matches!(code, 408 | 429 | 500..=599),
            Self::Address { .. }
            | Self::Redirects { .. }
            | Self::Tls { .. }
            | Self::Insecure
            | Self::Unbounded
            | Self::Protocol { .. } => false,
        }
    }

    /// The wait that the server asked for.
    pub(super) fn wish(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Unreachable { .. } | Self::NoConnection { .. } | Self::NoAnswer => {
                "check the connection to the internet, and the proxy if there is one"
            }
            Self::Tls { .. } => {
                "if your network looks into protected connections, its certificate is not known here: download the file by hand"
            }
            Self::Stalled { .. } | Self::Truncated { .. } => {
                "run it again: the download goes on where it stopped"
            }
            Self::Status { code: 401 | 403, .. } => "the file may need an account: download it by hand",
            Self::Status { code: 404 | 410, .. } => {
                "the file may have moved: look at the page of the dataset"
            }
            Self::Status { code: 408 | 429 | 500..=599, .. } => "the server is busy or down: try again later",
            Self::Size { .. } | Self::Checksum { .. } => {
                "the file on the server was changed, or something on the way changes it: try another network"
            }
            _ => return None,
        };
        Some(hint.into())
    }
}
