//! Detection of file formats, independent of the file name.

use std::io::Read;
use std::path::Path;

use super::mat;
use crate::{Error, regular};

/// The first bytes of a file with prepared data.
const ZIP: &[u8] = b"PK\x03\x04";

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// NumPy arrays.
    Npz,
    /// MATLAB variables of any level; the reader refuses levels that it does not support.
    Mat,
    /// Everything else; the reader of recordings names unknown formats.
    Recording,
}

impl FileKind {
    /// Detects the format by the first bytes of a file.
    ///
    /// # Errors
    /// [`Error::File`] if it cannot be read.
    pub fn of(path: &Path) -> Result<Self, Error> {
        let mut start = Vec::with_capacity(mat::HEADER_LENGTH);
        let mut read = || {
            let file = regular::open(path)?;
            // The system's error for a folder is unclear; the reader of recordings gives a better
            // one.
            if file.metadata()?.is_file() {
                file.take(mat::HEADER_LENGTH as u64).read_to_end(&mut start)?;
            }
            Ok(())
        };
        read().map_err(Error::file(path))?;
        Ok(if start.starts_with(ZIP) {
            Self::Npz
        } else if mat::is_mat(&start) {
            Self::Mat
        } else {
            Self::Recording
        })
    }
}
