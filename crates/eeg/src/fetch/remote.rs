//! Files on a server.

use std::path::{Component, Path, PathBuf};

use super::{Checksum, FetchFault};
use crate::Error;

/// A file on a server: addresses, path, and expected content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteFile {
    /// The download addresses: the first, and mirrors in case it fails.
    pub urls: Vec<String>,
    /// The path relative to the data folder.
    pub path: PathBuf,
    /// Its checksum, if published.
    pub sha256: Option<Checksum>,
    /// Its length in bytes, if published.
    pub size: Option<u64>,
}

impl RemoteFile {
    /// Creates a file with an address and a path, without checksum and length.
    pub fn new(url: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self { urls: vec![url.into()], path: path.into(), sha256: None, size: None }
    }

    /// Adds a mirror, tried when all addresses before it fail.
    pub fn mirror(mut self, url: impl Into<String>) -> Self {
        self.urls.push(url.into());
        self
    }

    /// Sets the checksum.
    pub fn sha256(mut self, sha256: Checksum) -> Self {
        self.sha256 = Some(sha256);
        self
    }

    /// Sets the length.
    pub fn size(mut self, size: u64) -> Self {
        self.size = Some(size);
        self
    }

    /// The path of the file under a folder.
    ///
    /// # Errors
    ///
    /// If the path leads out of the folder. This is checked because file lists may come from
    /// servers.
    pub fn under(&self, root: &Path) -> Result<PathBuf, Error> {
        let path = root.join(&self.path);
        if stays_inside(&self.path) {
            return Ok(path);
        }
        Err(Error::fetch(path, FetchFault::Outside { root: root.to_owned() }))
    }
}

/// Whether a relative path stays below its folder.
fn stays_inside(path: &Path) -> bool {
    path.file_name().is_some()
        && path.components().all(|component| matches!(component, Component::Normal(_) | Component::CurDir))
}
