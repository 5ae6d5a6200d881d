//! What a file is, whatever its name.

use std::io::Read;
use std::path::Path;

use super::mat;
use crate::{Error, regular};

/// How a file begins in which prepared data are kept.
const ZIP: &[u8] = b"PK\x03\x04";

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Arrays of NumPy.
    Npz,
    /// Variables of MATLAB, of any level: the reader says which it reads.
    Mat,
    /// Everything else: the reader of recordings says what it is not.
    Recording,
}

impl FileKind {
    /// Looks at how a file begins.
    ///
    /// # Errors
    /// [`Error::File`] if it cannot be read.
    pub fn of(path: &Path) -> Result<Self, Error> {
        let mut start = Vec::with_capacity(mat::HEADER_LENGTH);
        let mut read = || {
            let file = regular::open(path)?;
            // Reading a folder fails in words of the system; the reader of recordings has better ones.
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
