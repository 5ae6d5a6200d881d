//! Atomic and durable changes of files and folders.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::Error;

/// Writes a file so that a reader sees the old content or the new, never a part. Writes a temporary
/// file next to it first, synchronises it, then [`rename`]s it.
///
/// The temporary file of `results.csv` is `.results.csv.partial`. Its name is fixed, so a resumed
/// run overwrites the leftovers of a killed one. Two processes must not write the same file at
/// once.
///
/// # Errors
/// When the file cannot be written; it then stays unchanged. Only if its folder cannot be
/// synchronised, it may have its new content.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    replace(path, bytes).map_err(Error::file(path))
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let partial = partial(path)?;
    let written = File::create(&partial)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| rename(&partial, path));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&partial);
    }
    written
}

/// Returns the temporary name of a file or folder: `.NAME.partial` beside it.
pub(crate) fn partial(path: &Path) -> io::Result<PathBuf> {
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(ErrorKind::InvalidInput, "not the name of a file"));
    };
    let mut partial = OsString::from(".");
    partial.push(name);
    partial.push(".partial");
    Ok(path.with_file_name(partial))
}

/// Removes the temporary files that killed processes left in a folder. No other process may write
/// to it.
pub(crate) fn remove_partials(folder: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        if name.starts_with(b".") && name.ends_with(b".partial") && entry.file_type()?.is_file() {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Renames a file or folder and synchronises its folder, so that the new name survives a power
/// loss. Both names must be in the same folder, and the content must be synchronised before.
///
/// # Errors
/// Those of the system. If only the synchronisation fails, the new name is already there.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    sync_parent(to)
}

/// Creates a folder and its missing parents, and synchronises the parents of new folders.
///
/// # Errors
/// When a folder cannot be created.
pub fn create_folder(path: &Path) -> Result<(), Error> {
    create(path).map_err(Error::file(path))
}

fn create(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() {
        return Ok(());
    }
    match (fs::create_dir(path), path.parent()) {
        (Ok(()), _) => sync_parent(path),
        (Err(error), Some(parent)) if error.kind() == ErrorKind::NotFound => {
            // Some file systems refuse a folder with this error although its parent is there.
            if parent.is_dir() {
                return Err(error);
            }
            create(parent)?;
            create(path)
        }
        (Err(_), _) if path.is_dir() => Ok(()),
        (Err(error), _) => Err(error),
    }
}

/// Synchronises the folder of a file, where the system can synchronise folders.
fn sync_parent(path: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let folder = match File::open(parent) {
        // A folder may be writable but not readable.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return Ok(()),
        folder => folder?,
    };
    match folder.sync_all() {
        // Some file systems cannot synchronise folders.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        synchronised => synchronised,
    }
}
