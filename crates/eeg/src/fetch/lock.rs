//! Locks: one download of a file at a time.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::FetchFault;
use super::neighbour::neighbour;
use crate::Error;

/// Prevents other processes and threads from downloading the same file. The system releases the
/// lock when the process ends, however it ends.
///
/// The file `<name>.lock` is kept when a download fails: deleting it while another process waits
/// for it would admit a third process. Once the file itself is present, nobody downloads it any
/// more, and the lock file is deleted.
pub(super) struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    /// Waits for the lock. Calls `waiting` first if another process holds it.
    pub(super) fn take(target: &Path, waiting: impl FnOnce()) -> Result<Self, Error> {
        let path = neighbour(target, ".lock");
        let file = File::options().create(true).append(true).open(&path).map_err(Error::file(&path))?;
        let taken = match file.try_lock() {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => {
                waiting();
                file.lock()
            }
            Err(TryLockError::Error(error)) => Err(error),
        };
        match taken {
            Ok(()) => Ok(Self { path, file }),
            Err(error) => Err(Self::fault(path, &error)),
        }
    }

    fn fault(path: PathBuf, error: &io::Error) -> Error {
        Error::fetch(path, FetchFault::NoLock { reason: error.to_string() })
    }

    /// Deletes the lock file, because the download is complete.
    pub(super) fn finish(self) {
        // Where an open file cannot be deleted, an empty file remains; the download is still
        // complete.
        let _ = fs::remove_file(&self.path);
        drop(self.file);
    }
}
