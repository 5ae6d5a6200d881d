//! Files of datasets: found on disk, or downloaded once and kept.
//!
//! | task | item |
//! |---|---|
//! | folders for searches and downloads | [`Locations`] |
//! | address and checksum of a file | [`RemoteFile`] |
//! | download | [`Fetcher`] |
//! | verification | [`verify`], [`sha256_of`] |
//! | progress; nothing here prints | [`Progress`] |
//!
//! A file gets its final name only when it is complete and correct: it grows as `<name>.part`, is
//! checked, flushed to disk, and then renamed. An interrupted download is continued by the next
//! one, in this process or a later one. An existing file is never overwritten: if it is wrong, that
//! is an error. Two processes that want the same file take turns (`<name>.lock`); the second finds
//! the file that the first has downloaded.
//!
//! ```no_run
//! use fedspd_eeg::fetch::{Environment, Fetcher, Locations, RemoteFile, Settings};
//!
//! let locations = Locations::new(None, &Environment::from_env());
//! let file = RemoteFile::new(
//!     "https://physionet.org/files/eegmmidb/1.0.0/S001/S001R04.edf",
//!     "S001/S001R04.edf",
//! );
//! let folder = locations.download_folder()?;
//! Fetcher::new(Settings::default()).fetch(&file, folder, &mut ())?;
//! let path = file.under(folder)?;
//! # Ok::<(), fedspd_eeg::Error>(())
//! ```
//!
//! # Trust on first use
//!
//! Many datasets have no published checksums. At the first download, the SHA-256 of such a file is
//! recorded beside it, as `<name>.sha256` in the format of `sha256sum`. The file on disk and later
//! downloads must match this record. It detects damage and changes on the server, but not a wrong
//! first download.

mod answer;
mod checksum;
mod expected;
mod fault;
mod fetcher;
mod locations;
mod lock;
mod neighbour;
mod partial;
mod progress;
mod record;
mod remote;
mod settings;
mod transfer;
mod unpack;
mod verify;

pub use checksum::{Checksum, Measure, sha256_of};
pub use fault::{FetchFault, Obstacle};
pub use fetcher::{Fetched, Fetcher};
pub use locations::{Environment, Locations};
pub use progress::Progress;
pub use remote::RemoteFile;
pub use settings::{Backoff, Settings};
pub use verify::{State, verify};
