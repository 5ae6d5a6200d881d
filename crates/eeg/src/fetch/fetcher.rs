//! Downloads with retries and mirrors.

use std::fmt::{self, Debug, Formatter};
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use ureq::{Agent, Proxy};

use super::expected::Expected;
use super::lock::Lock;
use super::partial::PartialFile;
use super::transfer::{Failure, Transfer, Whole};
use super::{FetchFault, Progress, RemoteFile, Settings, State, record};
use crate::Error;

/// The way in which a file was obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// The file was present and passed all known checks.
    Present,
    /// The file was downloaded.
    Downloaded {
        /// The bytes received; fewer than the file has if the download was continued.
        received: u64,
    },
    /// The file was unpacked from an archive.
    Unpacked {
        /// The bytes received for the archive; 0 if it was present.
        received: u64,
    },
}

/// Downloads files, each only once.
pub struct Fetcher {
    settings: Settings,
    agent: Agent,
    sleep: Box<dyn Fn(Duration) + Send + Sync>,
}

impl Debug for Fetcher {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetcher").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Fetcher {
    /// Creates a fetcher with these settings.
    pub fn new(settings: Settings) -> Self {
        let agent = Agent::config_builder()
            .user_agent(concat!("fedspd/", env!("CARGO_PKG_VERSION")))
            // Ranges and checksums refer to the file, not to a compressed form of it.
            .accept_encoding("identity")
            .http_status_as_error(false)
            .max_redirects(settings.redirects)
            .proxy(if settings.environment_proxy { Proxy::try_from_env() } else { None })
            .timeout_resolve(Some(settings.connect_timeout))
            .timeout_connect(Some(settings.connect_timeout))
            .timeout_per_read(Some(settings.read_timeout))
            .timeout_per_write(Some(settings.read_timeout))
            .build()
            .new_agent();
        Self { settings, agent, sleep: Box::new(thread::sleep) }
    }

    /// Replaces the function that waits between attempts.
    pub fn sleeping_by(mut self, sleep: impl Fn(Duration) + Send + Sync + 'static) -> Self {
        self.sleep = Box::new(sleep);
        self
    }

    /// Makes sure that a file is present and correct, and downloads it if it is missing. Its path
    /// is given by [`RemoteFile::under`].
    ///
    /// # Errors
    ///
    /// - The present file is wrong. It stays unchanged.
    /// - The file is missing, and downloads are switched off.
    /// - All attempts at all addresses fail. Received bytes are kept.
    /// - The disk fails.
    pub fn fetch(
        &self,
        file: &RemoteFile,
        root: &Path,
        progress: &mut dyn Progress,
    ) -> Result<Fetched, Error> {
        let fetched = self.bring(file, root, progress)?;
        progress.done(file, &fetched);
        Ok(fetched)
    }

    /// As [`Fetcher::fetch`], without reporting completion.
    pub(super) fn bring(
        &self,
        file: &RemoteFile,
        root: &Path,
        progress: &mut dyn Progress,
    ) -> Result<Fetched, Error> {
        let path = file.under(root)?;
        if is_there(file, &path)? { Ok(Fetched::Present) } else { self.get(file, &path, progress) }
    }

    fn get(&self, file: &RemoteFile, path: &Path, progress: &mut dyn Progress) -> Result<Fetched, Error> {
        let fault = |fault| Err(Error::fetch(path, fault));
        if self.settings.offline {
            return fault(FetchFault::Offline { url: file.urls.first().cloned() });
        }
        if file.urls.is_empty() {
            return fault(FetchFault::NoAddress);
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Error::file(folder))?;
        }
        let lock = Lock::take(path, || progress.waiting(file))?;
        // The previous holder of the lock may have downloaded the file.
        if is_there(file, path)? {
            lock.finish();
            return Ok(Fetched::Present);
        }
        let expected = Expected::of(file, path)?;
        let part = PartialFile::of(path);
        let whole = match self.download(file, &part, &expected, progress)? {
            Ok(whole) => whole,
            Err(last) => return fault(*last),
        };
        // Other programs do not take our lock: a file that they put here is kept.
        if is_there(file, path)? {
            part.discard()?;
            lock.finish();
            return Ok(Fetched::Present);
        }
        // Written before the file gets its name: a file without its record would never be checked.
        if expected.checksum.is_none() {
            record::write(path, whole.checksum)?;
        }
        part.rename(path)?;
        lock.finish();
        Ok(Fetched::Downloaded { received: whole.received })
    }

    /// Tries the addresses in order. The outer error is one of the disk, the inner one the last of
    /// the network.
    fn download(
        &self,
        file: &RemoteFile,
        part: &PartialFile,
        expected: &Expected,
        progress: &mut dyn Progress,
    ) -> Result<Result<Whole, Box<FetchFault>>, Error> {
        let mut last = FetchFault::NoAddress;
        for (index, url) in file.urls.iter().enumerate() {
            let transfer =
                Transfer { agent: &self.agent, settings: &self.settings, file, url, part, expected };
            let limit = self.settings.attempts.get();
            for number in 1..=limit {
                progress.attempt(file, url, number, limit);
                let obstacle = match transfer.run(progress) {
                    Ok(whole) => return Ok(Ok(whole)),
                    Err(Failure::Local(error)) => return Err(*error),
                    Err(Failure::Obstacle(obstacle)) => obstacle,
                };
                let again = obstacle.passes() && number < limit;
                if again {
                    let wait = self.settings.backoff.wait(number, obstacle.wish());
                    progress.retrying(file, &obstacle, wait);
                    (self.sleep)(wait);
                } else {
                    if index + 1 < file.urls.len() {
                        progress.next_address(file, &obstacle);
                    }
                    let record = expected.record.clone();
                    last = FetchFault::Download { url: url.clone(), attempts: number, obstacle, record };
                    break;
                }
            }
        }
        Ok(Err(Box::new(last)))
    }
}

/// Whether a file is present. A wrong file is an error.
pub(super) fn is_there(file: &RemoteFile, path: &Path) -> Result<bool, Error> {
    let expected = Expected::of(file, path)?;
    match expected.judge(path)? {
        State::Good | State::Unchecked => Ok(true),
        State::Missing => Ok(false),
        State::Wrong { expected: wanted, found } => {
            let fault = FetchFault::Changed { expected: wanted, found, record: expected.record };
            Err(Error::fetch(path, fault))
        }
    }
}
