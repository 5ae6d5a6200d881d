//! Downloads: files on disk, requests to the server, and messages to the user.

mod checked;
mod continued;
mod present;
mod recorded;
mod together;
mod unanswered;

use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fedspd_eeg::Error;
use fedspd_eeg::fetch::{Backoff, Checksum, Fetched, Fetcher, Progress, RemoteFile, Settings};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::support::server::{Reply, Request, Server};

/// The path of the test file.
const NAME: &str = "S001/S001R04.edf";

/// Several chunks and a remainder, all different.
fn content() -> Vec<u8> {
    (0..200_003_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn checksum(bytes: &[u8]) -> Checksum {
    Checksum(Sha256::digest(bytes).into())
}

/// A data folder, a server, and a fetcher that does not really wait.
struct Scene {
    server: Server,
    folder: TempDir,
    settings: Settings,
    waits: Arc<Mutex<Vec<Duration>>>,
}

impl Scene {
    fn new(script: impl IntoIterator<Item = Reply>) -> Self {
        let second = Duration::from_secs(1);
        let settings = Settings {
            attempts: NonZeroU32::new(3).unwrap(),
            backoff: Backoff { first: second, factor: 3, cap: 20 * second },
            // Long: only tests of stalls wait for it.
            read_timeout: 60 * second,
            environment_proxy: false,
            ..Settings::default()
        };
        Self {
            server: Server::new(script),
            folder: tempfile::tempdir().unwrap(),
            settings,
            waits: Arc::default(),
        }
    }

    fn file(&self) -> RemoteFile {
        RemoteFile::new(self.server.url("/file"), NAME)
    }

    /// The file with the checksum of these bytes.
    fn pinned(&self, bytes: &[u8]) -> RemoteFile {
        self.file().sha256(checksum(bytes))
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    fn path(&self, suffix: &str) -> PathBuf {
        self.root().join(format!("{NAME}{suffix}"))
    }

    fn put(&self, suffix: &str, bytes: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path("").parent().unwrap()).unwrap();
        fs::write(self.path(suffix), bytes).unwrap();
    }

    fn fetch(&self, file: &RemoteFile) -> Result<Fetched, Error> {
        self.fetch_showing(file, &mut ())
    }

    fn fetch_showing(&self, file: &RemoteFile, progress: &mut dyn Progress) -> Result<Fetched, Error> {
        let waits = Arc::clone(&self.waits);
        let sleep = move |wait| waits.lock().unwrap().push(wait);
        Fetcher::new(self.settings.clone()).sleeping_by(sleep).fetch(file, self.root(), progress)
    }

    /// The message of a download that must fail. The path is removed, and the server's address is
    /// replaced by `SERVER`.
    fn refusal(&self, file: &RemoteFile) -> String {
        let error = self.fetch(file).unwrap_err();
        let message = error.to_string();
        let about = format!("{}: ", self.path("").display());
        let message = message.strip_prefix(&about).unwrap_or_else(|| panic!("{message}"));
        message.replace(&self.server.url(""), "SERVER")
    }

    /// The suffixes of all files in the folder, sorted.
    fn names(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path("").parent().unwrap()) else {
            return vec![];
        };
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .map(|name| name.strip_prefix("S001R04.edf").unwrap().to_owned())
            .collect();
        names.sort();
        names
    }

    fn read(&self, suffix: &str) -> Vec<u8> {
        fs::read(self.path(suffix)).unwrap()
    }

    fn asked(&self) -> usize {
        self.server.requests().len()
    }

    /// The first byte of each request; `None` for the whole file.
    fn ranges(&self) -> Vec<Option<usize>> {
        self.server.requests().iter().map(Request::first_byte).collect()
    }

    fn waited(&self) -> Vec<u64> {
        self.waits.lock().unwrap().iter().map(Duration::as_secs).collect()
    }

    /// Checks that the file is present, correct, and alone in its folder.
    fn assert_complete(&self, bytes: &[u8]) {
        assert_eq!(self.names(), [""]);
        assert!(self.read("") == bytes);
    }
}

fn downloaded(received: usize) -> Fetched {
    Fetched::Downloaded { received: received as u64 }
}
