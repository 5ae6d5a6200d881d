//! Atomic file writes.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use crate::Error;

/// Writes a file so that a reader sees the old content or the new, never a part. Writes a temporary
/// file next to it first, synchronises it, then renames it.
///
/// The temporary file of `results.csv` is `.results.csv.partial`. Its name is fixed, so a resumed
/// run overwrites the leftovers of a killed one. Two processes must not write the same file at
/// once.
///
/// The folder is not synchronised: after a power loss, either the old or the new file is there, and
/// it is complete.
///
/// # Errors
/// When the file cannot be written; it then stays unchanged.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    replace(path, bytes).map_err(Error::file(path))
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not the name of a file"));
    };
    let mut partial = std::ffi::OsString::from(".");
    partial.push(name);
    partial.push(".partial");
    let partial = path.with_file_name(partial);
    let written = File::create(&partial)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&partial, path));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&partial);
    }
    written
}
