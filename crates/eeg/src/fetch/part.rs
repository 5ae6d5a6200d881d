//! What has been received so far.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use sha2::Sha256;

use super::checksum::hash;
use super::neighbour::neighbour;
use super::{Checksum, answer};
use crate::Error;

/// The file `<name>.part`, and beside it `<name>.part.source`: the address it comes from, and the version (entity tag) that the server
/// gave it. Without a checksum, only bytes of one version may be put together.
pub(super) struct Part {
    pub(super) data: PathBuf,
    source: PathBuf,
}

/// A beginning of a file, open at its end.
pub(super) struct Beginning {
    pub(super) file: File,
    pub(super) hasher: Sha256,
    pub(super) length: u64,
    /// Its version at the address that is asked now.
    pub(super) tag: Option<String>,
}

impl Beginning {
    pub(super) fn checksum(&self) -> Checksum {
        Checksum::of(self.hasher.clone())
    }
}

impl Part {
    pub(super) fn of(target: &Path) -> Self {
        Self { data: neighbour(target, ".part"), source: neighbour(target, ".part.source") }
    }

    /// What is there, if it is not empty.
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
        // It saves a download at best: whatever is wrong with it, it is as if there were none.
        let text = fs::read_to_string(&self.source).ok()?;
        let (from, tag) = text.trim_end().split_once('\n')?;
        (from == url).then(|| answer::strong(tag)).flatten()
    }

    /// Starts from nothing.
    pub(super) fn start(&self, url: &str, tag: Option<&str>) -> Result<Beginning, Error> {
        self.discard()?;
        let options = File::options().create_new(true).append(true).open(&self.data);
        let file = options.map_err(Error::file(&self.data))?;
        if let Some(tag) = tag {
            fs::write(&self.source, format!("{url}\n{tag}\n")).map_err(Error::file(&self.source))?;
        }
        Ok(Beginning { file, hasher: Sha256::default(), length: 0, tag: tag.map(str::to_owned) })
    }

    /// Throws it away. The version goes first: without it, what is left of a crash in between is not continued unchecked.
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

    /// Gives it its name, once its bytes are on the disk.
    pub(super) fn rename(&self, target: &Path) -> Result<(), Error> {
        let flushed = File::options().append(true).open(&self.data).and_then(|file| file.sync_all());
        flushed.map_err(Error::file(&self.data))?;
        fs::rename(&self.data, target).map_err(Error::file(target))?;
        // The new name, too, where folders can be flushed; a crash may lose the name, but not tear the file.
        if let Some(Ok(folder)) = target.parent().map(File::open) {
            let _ = folder.sync_all();
        }
        self.discard()
    }
}
