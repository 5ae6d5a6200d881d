//! Paths of neighbouring files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Appends a suffix to the file name of a path.
pub(super) fn neighbour(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().map(OsString::from).unwrap_or_default();
    name.push(suffix);
    path.with_file_name(name)
}
