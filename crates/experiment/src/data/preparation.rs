//! Preparations in files, and comparisons of preparations.

use std::path::Path;

use fedspd_eeg::{Difference, Preparation};

use crate::Error;

/// A warning about data whose preparation is not stored.
pub(crate) const PARTLY_KNOWN: &str =
    "the data do not say how all their inputs were filtered and cut; what they do not say is not compared";

/// The reason why an older file has no preparation.
pub(crate) const OLDER: &str = "it is of an older version, which did not store it";

/// Returns a preparation as files store it.
pub(crate) fn stored(preparation: &Preparation) -> Result<serde_json::Value, Error> {
    let unwritable = |error: serde_json::Error| Error::StoredPreparation {
        path: "preparation".into(),
        reason: error.to_string(),
    };
    serde_json::to_value(preparation).map_err(unwritable)
}

/// Reads the preparation in a file.
pub(crate) fn read_stored(value: &serde_json::Value, path: &Path) -> Result<Preparation, Error> {
    serde_json::from_value(value.clone())
        .map_err(|error| Error::StoredPreparation { path: path.to_owned(), reason: error.to_string() })
}

/// Checks that data were prepared as expected. Messages use the names of both.
pub(crate) fn same(
    expected: &Preparation,
    other: &str,
    found: &Preparation,
    data: &str,
) -> Result<(), Error> {
    match expected.differences(found).into_iter().next() {
        None => Ok(()),
        Some(difference) => Err(differ(difference, other, data)),
    }
}

/// Returns the error for a difference.
pub(crate) fn differ(difference: Difference, other: &str, data: &str) -> Error {
    let Difference { field, expected, found } = difference;
    Error::Preparation { data: data.to_owned(), field, found, other: other.into(), expected }
}
