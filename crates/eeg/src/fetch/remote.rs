//! A file that a server has.

use std::path::{Component, Path, PathBuf};

use super::{Checksum, FetchFault};
use crate::Error;

/// A file that a server has, and what is known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteFile {
    /// Where it can be downloaded: the first address, and mirrors for when that one fails.
    pub urls: Vec<String>,
    /// Where it belongs, relative to the folder of the data.
    pub path: PathBuf,
    /// Its checksum, if published.
    pub sha256: Option<Checksum>,
    /// Its length in bytes, if published.
    pub size: Option<u64>,
}

impl RemoteFile {
    /// A file of which nothing is known but where it is.
    pub fn new(url: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self { urls: vec![url.into()], path: path.into(), sha256: None, size: None }
    }

    /// Adds an address to try when those before it fail.
    pub fn mirror(mut self, url: impl Into<String>) -> Self {
        self.urls.push(url.into());
        self
    }

    /// With its checksum.
    pub fn sha256(mut self, sha256: Checksum) -> Self {
        self.sha256 = Some(sha256);
        self
    }

    /// With its length.
    pub fn size(mut self, size: u64) -> Self {
        self.size = Some(size);
        self
    }

    /// Where it belongs under a folder.
    ///
    /// # Errors
    ///
    /// If its path leads out of the folder: lists of files come from servers, too.
    pub fn under(&self, root: &Path) -> Result<PathBuf, Error> {
        let path = root.join(&self.path);
        if stays_inside(&self.path) {
            return Ok(path);
        }
        Err(Error::fetch(path, FetchFault::Outside { root: root.to_owned() }))
    }
}

/// Whether a path leads to something below the folder it is relative to.
fn stays_inside(path: &Path) -> bool {
    path.file_name().is_some()
        && path.components().all(|component| matches!(component, Component::Normal(_) | Component::CurDir))
}
