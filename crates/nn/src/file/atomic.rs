//! Files that are whole or not there.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Writes a file so that a reader sees the old content or the new, never a part: to a neighbour first, then renamed.
pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not the name of a file"));
    };
    let mut neighbour = name.to_owned();
    neighbour.push(format!(".{}.partial", std::process::id()));
    let neighbour = path.with_file_name(neighbour);
    let written = File::create(&neighbour)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&neighbour, path));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&neighbour);
    }
    written
}
