//! Verification of files on disk.

use std::path::Path;

use super::expected::Expected;
use super::{Measure, RemoteFile};
use crate::Error;

/// The state of a file on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The file matches its checksum or, if none is known, its length.
    Good,
    /// The file is missing.
    Missing,
    /// The file has other content.
    Wrong {
        /// The expected value.
        expected: Measure,
        /// The value found.
        found: Measure,
    },
    /// The file is present, but no checksum or length is known.
    Unchecked,
}

/// Compares files on disk with their published or recorded checksums. Changes nothing.
///
/// # Errors
///
/// If a path leads out of the folder, or a present file cannot be read.
pub fn verify<'a>(
    files: impl IntoIterator<Item = &'a RemoteFile>,
    root: &Path,
) -> Result<Vec<(&'a RemoteFile, State)>, Error> {
    let state = |file: &'a RemoteFile| {
        let path = file.under(root)?;
        Ok((file, Expected::of(file, &path)?.judge(&path)?))
    };
    files.into_iter().map(state).collect()
}
