//! Files of datasets: found on the disk, or downloaded once and kept.
//!
//! | question | answer |
//! |---|---|
//! | where is a file looked for, where do new ones go? | [`Locations`] |
//! | what is known about a file? | [`RemoteFile`] |
//! | how does it get here? | [`Fetcher`] |
//! | is what is here right? | [`verify`], [`sha256_of`] |
//! | what is going on? | [`Progress`]; nothing here prints |
//!
//! A file has its final name only if it is whole and right: it grows as `<name>.part`, is checked, flushed to the disk, and then renamed.
//! What was received of an interrupted download is continued by the next one, in this process or a later one. A file that is there
//! already is never overwritten: if it is wrong, that is an error. Two processes that want the same file take turns (`<name>.lock`), and the
//! second finds what the first has downloaded.
//!
//! ```no_run
//! use fedspd_eeg::fetch::{Environment, Fetcher, Locations, RemoteFile, Settings};
//!
//! let locations = Locations::new(None, &Environment::from_env());
//! let file = RemoteFile::new("https://physionet.org/files/eegmmidb/1.0.0/S001/S001R04.edf", "S001/S001R04.edf");
//! let folder = locations.download_folder()?;
//! Fetcher::new(Settings::default()).fetch(&file, folder, &mut ())?;
//! let path = file.under(folder)?;
//! # Ok::<(), fedspd_eeg::Error>(())
//! ```
//!
//! # Trust on first use
//!
//! Many datasets come without checksums. The SHA-256 of such a file is recorded beside it at the first download, as `<name>.sha256` in the
//! format of `sha256sum`, and holds from then on: for the file on the disk and for downloads that replace it. This notices damage and
//! changes on the server, but it cannot know whether the first download was right.

mod answer;
mod checksum;
mod expected;
mod fault;
mod fetcher;
mod locations;
mod lock;
mod neighbour;
mod part;
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
