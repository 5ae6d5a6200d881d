//! A file that appears under its name as a whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Names that are tried beside a file before it is given up.
const ATTEMPTS: usize = 100;

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
        let Some(name) = target.file_name() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not the name of a file"));
        };
        // Two writers of the same file, be it in one process, do not share a neighbour.
        let mut attempt = 0;
        loop {
            let mut neighbour = OsString::from(name);
            neighbour.push(format!(".{}.{attempt}.partial", std::process::id()));
            let path = target.with_file_name(neighbour);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => {
                    let abandoned = Arc::new(AtomicBool::new(false));
                    let abandon = Abandon(Arc::clone(&abandoned));
                    let output = Output { file: BufWriter::new(file), position: 0, length: 0, abandoned };
                    return Ok((Self { path, target: target.to_owned() }, output, abandon));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS => {
                    attempt += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Puts it in the place of the target.
    pub(super) fn rename(mut self, output: Output) -> io::Result<()> {
        output.file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&self.path, &self.target)?;
        // There is nothing to remove any more.
        self.path = PathBuf::new();
        Ok(())
    }
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
