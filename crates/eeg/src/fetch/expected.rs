//! Expected content of a file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::record::{self, record_of};
use super::{Checksum, Measure, RemoteFile, State, sha256_of};
use crate::Error;

/// The expected content of a file, published or recorded.
pub(super) struct Expected {
    pub(super) checksum: Option<Checksum>,
    pub(super) size: Option<u64>,
    /// The record of the checksum, unless it was published.
    pub(super) record: Option<PathBuf>,
}

impl Expected {
    pub(super) fn of(file: &RemoteFile, path: &Path) -> Result<Self, Error> {
        let recorded = if file.sha256.is_none() { record::read(path)? } else { None };
        let record = recorded.map(|_| record_of(path));
        Ok(Self { checksum: file.sha256.or(recorded), size: file.size, record })
    }

    /// Compares the expectation with the file on disk.
    pub(super) fn judge(&self, path: &Path) -> Result<State, Error> {
        let length = match fs::metadata(path) {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(State::Missing),
            Err(error) => return Err(Error::file(path)(error)),
        };
        let (expected, found) = match (self.checksum, self.size) {
            (Some(checksum), _) => (Measure::Sha256(checksum), Measure::Sha256(sha256_of(path)?)),
            (None, Some(size)) => (Measure::Bytes(size), Measure::Bytes(length)),
            (None, None) => return Ok(State::Unchecked),
        };
        Ok(if expected == found { State::Good } else { State::Wrong { expected, found } })
    }
}
