//! Partial downloads.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use fedspd_run::atomic;
use sha2::Sha256;

use super::checksum::hash;
use super::neighbour::neighbour;
use super::{Checksum, answer};
use crate::Error;

/// The file `<name>.part`, and beside it `<name>.part.source`: its address and its version (entity
/// tag) on the server. Without a checksum, only bytes of one version may be joined.
pub(super) struct PartialFile {
    pub(super) data: PathBuf,
    source: PathBuf,
}

/// The first bytes of a file, open for appending.
pub(super) struct Beginning {
    pub(super) file: File,
    pub(super) hasher: Sha256,
    pub(super) length: u64,
    /// Its version at the current address.
    pub(super) tag: Option<String>,
}

impl Beginning {
    pub(super) fn checksum(&self) -> Checksum {
        Checksum::of(self.hasher.clone())
    }
}

impl PartialFile {
    pub(super) fn of(target: &Path) -> Self {
        Self { data: neighbour(target, ".part"), source: neighbour(target, ".part.source") }
    }

    /// Opens the partial file; `None` if it is missing or empty.
    pub(super) fn beginning(&self, url: &str) -> Result<Option<Beginning>, Error> {
        let opened = File::options().read(true).append(true).open(&self.data);
        let mut file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::file(&self.data)(error)),
        };
        let (hasher, length) = hash(&mut file).map_err(Error::file(&self.data))?;
        if length == 0 {
            return Ok(None);
        }
        Ok(Some(Beginning { file, hasher, length, tag: self.tag(url) }))
    }

    fn tag(&self, url: &str) -> Option<String> {
        // The tag only saves a download, so any fault in it counts as a missing tag.
        let text = fs::read_to_string(&self.source).ok()?;
        let (from, tag) = text.trim_end().split_once('\n')?;
        (from == url).then(|| answer::strong(tag)).flatten()
    }

    /// Starts an empty file.
    pub(super) fn start(&self, url: &str, tag: Option<&str>) -> Result<Beginning, Error> {
        self.discard()?;
        let options = File::options().create_new(true).append(true).open(&self.data);
        let file = options.map_err(Error::file(&self.data))?;
        if let Some(tag) = tag {
            fs::write(&self.source, format!("{url}\n{tag}\n")).map_err(Error::file(&self.source))?;
        }
        Ok(Beginning { file, hasher: Sha256::default(), length: 0, tag: tag.map(str::to_owned) })
    }

    /// Deletes the partial file. The version goes first: after a crash in between, the rest has no
    /// version and is not continued unchecked.
    pub(super) fn discard(&self) -> Result<(), Error> {
        for path in [&self.source, &self.data] {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::file(path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Flushes the file to disk and gives it its final name.
    pub(super) fn rename(&self, target: &Path) -> Result<(), Error> {
        let flushed = File::options().append(true).open(&self.data).and_then(|file| file.sync_all());
        flushed.map_err(Error::file(&self.data))?;
        atomic::rename(&self.data, target).map_err(Error::file(target))?;
        self.discard()
    }
}
