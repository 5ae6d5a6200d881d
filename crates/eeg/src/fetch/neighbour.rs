//! Names beside a name.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The neighbour of a file whose name is longer by a suffix.
pub(super) fn neighbour(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().map(OsString::from).unwrap_or_default();
    name.push(suffix);
    path.with_file_name(name)
}
