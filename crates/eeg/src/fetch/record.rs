//! Checksums recorded at the first download.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fedspd_run::atomic;

use super::neighbour::neighbour;
use super::{Checksum, FetchFault};
use crate::Error;

/// The path of the recorded checksum of a file.
pub(super) fn record_of(path: &Path) -> PathBuf {
    neighbour(path, ".sha256")
}

/// The recorded checksum of a file, if there is one.
pub(super) fn read(path: &Path) -> Result<Option<Checksum>, Error> {
    let record = record_of(path);
    let text = match fs::read(&record) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::file(&record)(error)),
    };
    // The format of `sha256sum` is `<64 digits>  <name>`; the name is ignored.
    let digits = text.get(..64).and_then(|digits| str::from_utf8(digits).ok());
    let ends = text.get(64).is_none_or(u8::is_ascii_whitespace);
    match digits.and_then(Checksum::from_hex) {
        Some(checksum) if ends => Ok(Some(checksum)),
        _ => Err(Error::fetch(record, FetchFault::Record)),
    }
}

/// Records the checksum of a file in the format of `sha256sum --check`.
pub(super) fn write(path: &Path, checksum: Checksum) -> Result<(), Error> {
    let record = record_of(path);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let line = format!("{checksum}  {name}\n");
    atomic::write(&record, line.as_bytes()).map_err(|error| match error {
        fedspd_run::Error::File { path, source } => Error::File { path, source },
        other => Error::file(&record)(io::Error::other(other)),
    })
}
