//! Faults of a download.

use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use super::{Checksum, Measure};

/// Faults that make a file of a dataset unavailable.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FetchFault {
    /// The file is missing, and downloads are switched off.
    #[error("missing, and downloads are switched off")]
    Offline {
        /// The download address.
        url: Option<String>,
    },
    /// The file is missing, and has no download address.
    #[error("missing, and no download address is known")]
    NoAddress,
    /// The path leads out of the data folder.
    #[error("outside the data folder {root}", root = root.display())]
    Outside {
        /// The folder.
        root: PathBuf,
    },
    /// The file on disk has unexpected content.
    #[error("not the expected content: {found} instead of {expected}")]
    Changed {
        /// The expected value.
        expected: Measure,
        /// The value found.
        found: Measure,
        /// The record of the first download that holds the expectation, if none was published.
        record: Option<PathBuf>,
    },
    /// The checksum recorded at the first download cannot be read.
    #[error("not a checksum as `sha256sum` writes it")]
    Record,
    /// The file system has no locks, so two downloads could mix.
    #[error("the file system cannot lock it ({reason}), so two downloads could mix")]
    NoLock {
        /// The error of the system.
        reason: String,
    },
    /// All attempts failed; this was the last.
    #[error("{obstacle} ({url}, {attempts} attempt{})", if *attempts == 1 { "" } else { "s" })]
    Download {
        /// The address of the last attempt.
        url: String,
        /// The number of attempts at that address.
        attempts: u32,
        /// The failure of the last attempt.
        obstacle: Obstacle,
        /// The record of the first download that holds the expected checksum, if none was
        /// published.
        record: Option<PathBuf>,
    },
}

impl FetchFault {
    /// Returns a hint for the user, if there is one.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Offline { url: Some(url) } => {
                Some(format!("download {url} to this place, or allow downloads"))
            }
            Self::Offline { url: None } | Self::NoAddress => Some("put the file there by hand".into()),
            Self::Changed { record: None, .. } => {
                Some("delete or move the file, then run `fedspd data fetch`".into())
            }
            Self::Changed { record: Some(record), .. } => Some(format!(
                "delete or move the file, then run `fedspd data fetch`; if you changed it on purpose, delete {}",
                record.display()
            )),
            Self::Record => Some("delete it to trust the next download".into()),
            Self::NoLock { .. } => Some("download to a folder on a local disk, and copy it".into()),
            Self::Download { obstacle: Obstacle::Checksum { .. }, record: Some(record), .. } => {
                Some(format!(
                    "the file on the server has changed since the first download; if that is expected, delete {}",
                    record.display()
                ))
            }
            Self::Download { obstacle, .. } => obstacle.hint(),
            Self::Outside { .. } => None,
        }
    }
}

/// Failures of one download attempt.
///
/// Bytes count from the beginning of the file, also for a continued download.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Obstacle {
    /// The address is not valid.
    #[error("invalid address: {reason}")]
    Address {
        /// The message of the parser.
        reason: String,
    },
    /// The server cannot be reached, or its name cannot be resolved.
    #[error("the server cannot be reached: {reason}")]
    Unreachable {
        /// The error of the system.
        reason: String,
    },
    /// The connection timed out.
    #[error("no connection within {after:?}")]
    NoConnection {
        /// The timeout.
        after: Duration,
    },
    /// The server closed the connection before its response.
    #[error("the server closed the connection without an answer")]
    NoAnswer,
    /// The server stopped sending.
    #[error("the server sent nothing for {after:?}, after {}", so_far(*received, *total))]
    Stalled {
        /// The timeout.
        after: Duration,
        /// The bytes received so far.
        received: u64,
        /// The total number of bytes, if known.
        total: Option<u64>,
    },
    /// The connection ended too early.
    #[error("the connection ended after {}", so_far(*received, *total))]
    Truncated {
        /// The bytes received so far.
        received: u64,
        /// The total number of bytes, if known.
        total: Option<u64>,
    },
    /// The server answered with a status other than success.
    #[error("http status {code}")]
    Status {
        /// The status.
        code: u16,
        /// The wait that the server requested.
        retry_after: Option<Duration>,
    },
    /// The server redirects too often.
    #[error("more than {limit} redirects")]
    Redirects {
        /// The number of redirects followed.
        limit: u32,
    },
    /// A secure connection could not be made.
    #[error("no secure connection: {reason}")]
    Tls {
        /// The fault of the certificate or of the TLS protocol.
        reason: String,
    },
    /// The server redirects from https to an unprotected address.
    #[error("redirected from https to an unprotected address")]
    Insecure,
    /// The end of the file cannot be distinguished from a broken connection.
    #[error("the server does not send the length of the file, and neither length nor checksum are known")]
    Unbounded,
    /// The response is not valid.
    #[error("invalid response from the server: {reason}")]
    Protocol {
        /// The reason.
        reason: String,
    },
    /// The server has a file of another length.
    #[error("{found} bytes instead of {expected}")]
    Size {
        /// The expected length.
        expected: u64,
        /// The length announced by the server, or exceeded by its response.
        found: u64,
    },
    /// The server has a file with another checksum.
    #[error("SHA-256 {found} instead of {expected}")]
    Checksum {
        /// The expected value.
        expected: Checksum,
        /// The checksum of the received bytes.
        found: Checksum,
    },
}

fn so_far(received: u64, total: Option<u64>) -> String {
    total.map_or_else(|| format!("{received} bytes"), |total| format!("{received} of {total} bytes"))
}

impl Obstacle {
    /// Whether another attempt may succeed.
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

    /// The wait that the server requested.
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
                "if your network inspects TLS connections, its certificate is not trusted here: download the file by hand"
            }
            Self::Stalled { .. } | Self::Truncated { .. } => "run the command again to continue the download",
            Self::Status { code: 401 | 403, .. } => "the file may need an account: download it by hand",
            Self::Status { code: 404 | 410, .. } => {
                "the file may have moved: look at the page of the dataset"
            }
            Self::Status { code: 408 | 429 | 500..=599, .. } => "the server is busy or down: try again later",
            Self::Size { .. } | Self::Checksum { .. } => {
                "the file changed on the server, or a proxy modified it: try another network"
            }
            _ => return None,
        };
        Some(hint.into())
    }
}
