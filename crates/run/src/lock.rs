//! Lock of a run folder: one process at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::Error;

/// The right to write a run folder, until it is dropped. The operating system releases it however
/// the process ends, so a killed run leaves nothing locked.
///
/// It is an operating-system lock on the file `.lock`. The holder writes its process id and host
/// into the file. Some network file systems have no locks; runs there continue without one.
#[derive(Debug)]
pub struct FolderLock {
    /// Kept open, because closing it releases the lock.
    _file: File,
}

impl FolderLock {
    /// Locks a folder by a file in it.
    pub(crate) fn take(folder: &Path, file: &Path) -> Result<Self, Error> {
        let fault = Error::file(file);
        let open = OpenOptions::new().write(true).create(true).truncate(false).open(file);
        let mut held = match open {
            Ok(held) => held,
            Err(error) => return Err(fault(error)),
        };
        match held.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                // The file is empty if it was locked just now.
                let holder = fs::read_to_string(file).unwrap_or_default();
                let holder = if holder.is_empty() { "another process".to_owned() } else { holder };
                return Err(Error::InUse { path: folder.to_owned(), holder });
            }
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(fault(error)),
        }
        held.set_len(0).and_then(|()| held.write_all(this_process().as_bytes())).map_err(fault)?;
        Ok(Self { _file: held })
    }
}

/// Describes this process for others that find the folder locked. Includes the host if the system
/// reports it, because folders may be shared.
fn this_process() -> String {
    let process = format!("process {}", std::process::id());
    match fs::read_to_string("/proc/sys/kernel/hostname") {
        Ok(host) => format!("{process} on {}", host.trim()),
        Err(_) => process,
    }
}
