//! JSON files, read and written as a whole.

use std::fs;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Error, atomic};

pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let bytes = fs::read(path).map_err(Error::file(path))?;
    serde_json::from_slice(&bytes).map_err(Error::json(path))
}

/// Writes indented JSON, because people read these files too.
pub(crate) fn write<T: Serialize>(path: &Path, value: &T) -> Result<(), Error> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(Error::json(path))?;
    bytes.push(b'\n');
    atomic::write(path, &bytes)
}
