//! Checksums recorded at the first download.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::neighbour::neighbour;
use super::{Checksum, FetchFault};
use crate::Error;

/// Where the checksum of a file is recorded.
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
    // `<64 digits>  <name>`, as `sha256sum` writes it; the name does not matter.
    let digits = text.get(..64).and_then(|digits| str::from_utf8(digits).ok());
    let ends = text.get(64).is_none_or(u8::is_ascii_whitespace);
    match digits.and_then(Checksum::from_hex) {
        Some(checksum) if ends => Ok(Some(checksum)),
        _ => Err(Error::fetch(record, FetchFault::Record)),
    }
}

/// Records the checksum of a file, so that `sha256sum --check` understands it.
pub(super) fn write(path: &Path, checksum: Checksum) -> Result<(), Error> {
    let record = record_of(path);
    let draft = neighbour(&record, ".part");
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    File::create(&draft)
        .and_then(|mut file| {
            writeln!(file, "{checksum}  {name}")?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&draft, &record))
        .map_err(Error::file(&record))
}
