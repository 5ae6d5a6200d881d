//! Whether what is there is right.

use std::path::Path;

use super::expected::Expected;
use super::{Measure, RemoteFile};
use crate::Error;

/// What is on the disk in place of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The file, by its checksum or, where none is known, by its length.
    Good,
    /// Nothing.
    Missing,
    /// Something else.
    Wrong {
        /// What was expected.
        expected: Measure,
        /// What is there.
        found: Measure,
    },
    /// Something, and nothing is known to compare it with.
    Unchecked,
}

/// Compares files on the disk with what is known about them, published or recorded; changes nothing.
///
/// # Errors
///
/// If a path leads out of the folder, or something that is there cannot be read.
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
