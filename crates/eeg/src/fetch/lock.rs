//! One download of a file at a time.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::FetchFault;
use super::neighbour::neighbour;
use crate::Error;

/// Keeps other processes and threads from downloading the same file. The system ends it with the process, however that ends.
///
/// The file `<name>.lock` stays behind when a download fails: to delete it while another process waits for it would let a third one in.
/// Once the file itself is there nobody downloads any more, and the lock is deleted.
pub(super) struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    /// Waits for its turn; tells first if it has to.
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

    /// Ends it for good: the file is there.
    pub(super) fn finish(self) {
        // Where an open file cannot be deleted, an empty file stays behind; the download is fine.
        let _ = fs::remove_file(&self.path);
        drop(self.file);
    }
}
