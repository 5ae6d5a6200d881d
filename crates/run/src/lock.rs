//! One process at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::Error;

/// The right to write a run folder, until it is dropped. However the process ends, the system takes it back: a killed run leaves nothing locked.
///
/// It is the system's lock on the file `.lock`, in which its holder writes who it is. Some network file systems know no locks; there a run goes on without.
#[derive(Debug)]
pub struct FolderLock {
    /// Open: closing it gives the lock back.
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
                // Empty if it was locked this very moment.
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

/// Who writes, for those who find the folder locked; with the machine where the system says it, since folders may be shared.
fn this_process() -> String {
    let process = format!("process {}", std::process::id());
    match fs::read_to_string("/proc/sys/kernel/hostname") {
        Ok(host) => format!("{process} on {}", host.trim()),
        Err(_) => process,
    }
}
