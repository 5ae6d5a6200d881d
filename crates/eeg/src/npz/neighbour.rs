//! Atomic replacement of files: a file appears complete or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fedspd_run::atomic;

/// The number of attempts to create a file that other processes remove.
const ATTEMPTS: usize = 100;
/// The number of links followed, as on common systems.
const MOST_LINKS: usize = 40;

/// A temporary file beside the target. It replaces the target at the end, and is removed if the
/// work fails.
pub(super) struct Neighbour {
    path: PathBuf,
    target: PathBuf,
}

/// The output of the zip writer.
///
/// After it is abandoned or a write has failed, it pretends to succeed. The zip writer completes
/// its archive when it is dropped, and would print an error to the terminal otherwise. It also
/// relies on positions, so these are still updated.
pub(super) struct Output {
    file: BufWriter<File>,
    position: u64,
    length: u64,
    abandoned: Arc<AtomicBool>,
}

/// Abandons the output when it is dropped.
pub(super) struct Abandon(Arc<AtomicBool>);

impl Neighbour {
    /// Creates a file beside the target, with its output.
    pub(super) fn create(target: &Path) -> io::Result<(Self, Output, Abandon)> {
        let target = follow(target)?;
        let Some(name) = target.file_name() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not the name of a file"));
        };
        if fs::metadata(&target).is_ok_and(|there| !there.is_file()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path exists and is not a file"));
        }
        let mut neighbour = OsString::from(name);
        neighbour.push(".partial");
        let path = target.with_file_name(neighbour);
        let file = BufWriter::new(exclusively(&path)?);
        let abandoned = Arc::new(AtomicBool::new(false));
        let abandon = Abandon(Arc::clone(&abandoned));
        Ok((Self { path, target }, Output { file, position: 0, length: 0, abandoned }, abandon))
    }

    /// Replaces the target by this file.
    pub(super) fn rename(mut self, output: Output) -> io::Result<()> {
        // Keeps the file open until it has its name. Closing it would release the lock, and an
        // unlocked file looks like a leftover.
        let file = output.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        atomic::rename(&self.path, &self.target)?;
        // Nothing is left to remove.
        self.path = PathBuf::new();
        Ok(())
    }
}

/// Follows links: a user who gives a link means the file behind it.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(link) => path = path.parent().unwrap_or(Path::new("")).join(link),
            // Not a link, or missing.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "the links form a loop"))
}

/// Creates a file that is locked while it is open. Removes the leftover of a killed process, whose
/// lock ended with it.
fn exclusively(path: &Path) -> io::Result<File> {
    let busy = || io::Error::new(io::ErrorKind::ResourceBusy, "another process is writing it");
    for _ in 0..ATTEMPTS {
        match OpenOptions::new().write(true).create_new(true).open(path) {
            Ok(file) => match file.try_lock() {
                // Another process took it for a leftover before it was locked.
                Err(TryLockError::WouldBlock) => continue,
                // Where locks are not supported, users must keep writers apart.
                Ok(()) | Err(TryLockError::Error(_)) => return Ok(file),
            },
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        match OpenOptions::new().write(true).open(path) {
            Ok(file) => {
                if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
                    return Err(busy());
                }
                fs::remove_file(path)?;
            }
            // The other process has finished or removed it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Err(busy())
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // No caller is left to receive an error.
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Drop for Abandon {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Output {
    fn unless_abandoned<T>(
        &mut self,
        pretended: T,
        work: impl FnOnce(&mut BufWriter<File>) -> io::Result<T>,
    ) -> io::Result<T> {
        if self.abandoned.load(Ordering::Relaxed) {
            return Ok(pretended);
        }
        let done = work(&mut self.file);
        if done.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::Interrupted) {
            self.abandoned.store(true, Ordering::Relaxed);
            // The failure may have come while the zip writer was completing an earlier header. It
            // panics if it later finds itself before the entry under way.
            self.position = self.length;
        }
        done
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.unless_abandoned(bytes.len(), |file| file.write(bytes))?;
        self.position += written as u64;
        self.length = self.length.max(self.position);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_abandoned((), Write::flush)
    }
}

impl Seek for Output {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let pretended = match to {
            SeekFrom::Start(place) => place,
            SeekFrom::Current(offset) => self.position.saturating_add_signed(offset),
            SeekFrom::End(offset) => self.length.saturating_add_signed(offset),
        };
        self.position = self.unless_abandoned(pretended, |file| file.seek(to))?;
        Ok(self.position)
    }
}
