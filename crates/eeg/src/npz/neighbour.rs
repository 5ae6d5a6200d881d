//! A file that appears under its name as a whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How often a file is made that others remove.
const ATTEMPTS: usize = 100;
/// As many links as systems follow.
const MOST_LINKS: usize = 40;

/// A file beside the one that is meant, which takes its place at the end and is removed if that never comes.
pub(super) struct Neighbour {
    path: PathBuf,
    target: PathBuf,
}

/// What is written to it.
///
/// Once it is abandoned or a write has failed, it pretends: the zip writer completes its archive when it is dropped, and would complain
/// to the user's terminal if that failed. It also trusts positions, so these are kept up.
pub(super) struct Output {
    file: BufWriter<File>,
    position: u64,
    length: u64,
    abandoned: Arc<AtomicBool>,
}

/// Abandons the output when it is dropped.
pub(super) struct Abandon(Arc<AtomicBool>);

impl Neighbour {
    /// A new file beside the target, and what it takes to write it.
    pub(super) fn create(target: &Path) -> io::Result<(Self, Output, Abandon)> {
        let target = follow(target)?;
        let Some(name) = target.file_name() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not the name of a file"));
        };
        if fs::metadata(&target).is_ok_and(|there| !there.is_file()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "there is something that is not a file"));
        }
        let mut neighbour = OsString::from(name);
        neighbour.push(".partial");
        let path = target.with_file_name(neighbour);
        let file = BufWriter::new(exclusively(&path)?);
        let abandoned = Arc::new(AtomicBool::new(false));
        let abandon = Abandon(Arc::clone(&abandoned));
        Ok((Self { path, target }, Output { file, position: 0, length: 0, abandoned }, abandon))
    }

    /// Puts it in the place of the target.
    pub(super) fn rename(mut self, output: Output) -> io::Result<()> {
        // Open until it has its name: with the file its lock would go, and without that it would look as if it were left over.
        let file = output.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        fs::rename(&self.path, &self.target)?;
        // There is nothing to remove any more.
        self.path = PathBuf::new();
        Ok(())
    }
}

/// What a path leads to: who gives a link means the file behind it.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(link) => path = path.parent().unwrap_or(Path::new("")).join(link),
            // Not a link, or nothing at all.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "links that lead to each other"))
}

/// A new file that is locked while it is open. One that is left over from a process that was killed is removed; its lock ended with it.
fn exclusively(path: &Path) -> io::Result<File> {
    let busy = || io::Error::new(io::ErrorKind::ResourceBusy, "another process is writing it");
    for _ in 0..ATTEMPTS {
        match OpenOptions::new().write(true).create_new(true).open(path) {
            Ok(file) => match file.try_lock() {
                // Somebody took it for left over before it was locked.
                Err(TryLockError::WouldBlock) => continue,
                // Where there are no locks, writers have to take care of each other themselves.
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
            // It is finished or removed meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Err(busy())
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // Nobody is left to report a failure to.
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
    fn or_pretend<T>(
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
        }
        done
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.or_pretend(bytes.len(), |file| file.write(bytes))?;
        self.position += written as u64;
        self.length = self.length.max(self.position);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.or_pretend((), Write::flush)
    }
}

impl Seek for Output {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let pretended = match to {
            SeekFrom::Start(place) => place,
            SeekFrom::Current(offset) => self.position.saturating_add_signed(offset),
            SeekFrom::End(offset) => self.length.saturating_add_signed(offset),
        };
        self.position = self.or_pretend(pretended, |file| file.seek(to))?;
        Ok(self.position)
    }
}
