//! Binary files of this program: magic bytes, a checksum and the content.

use std::io::{ErrorKind, Read};
use std::path::Path;

use fedspd_run::atomic;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::Error;

/// The first bytes of a kind of file.
pub(crate) type Magic = [u8; 16];

/// Writes a file atomically.
pub(crate) fn write<C: Serialize>(path: &Path, magic: &Magic, content: &C) -> Result<(), Error> {
    let content = postcard::to_allocvec(content)
        .map_err(|error| Error::Checkpoint { path: path.to_owned(), fault: error.to_string() })?;
    let mut bytes = magic.to_vec();
    bytes.extend(Sha256::digest(&content));
    bytes.extend(content);
    Ok(atomic::write(path, &bytes)?)
}

/// Whether a file exists and begins with these bytes.
pub(crate) fn begins_with(path: &Path, magic: &Magic) -> bool {
    let mut begin = [0; size_of::<Magic>()];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && begin == *magic
}

/// Reads a file; none if it does not exist.
pub(crate) fn read<C: DeserializeOwned>(path: &Path, magic: &Magic) -> Result<Option<C>, Error> {
    let fault = |fault: &str| Error::Checkpoint { path: path.to_owned(), fault: fault.to_owned() };
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fault(&error.to_string())),
    };
    let rest = bytes.strip_prefix(magic).ok_or_else(|| fault("not a checkpoint of this version"))?;
    let (sum, content) = rest.split_at_checked(32).ok_or_else(|| fault("cut off"))?;
    if sum != Sha256::digest(content).as_slice() {
        return Err(fault("damaged: its checksum does not match"));
    }
    postcard::from_bytes(content).map(Some).map_err(|error| fault(&error.to_string()))
}
