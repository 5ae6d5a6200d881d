//! Binary files of this program: magic bytes, a checksum and the content.

use std::io::ErrorKind;
use std::path::Path;

use fedspd_run::atomic;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::Error;

/// The first bytes of a kind of file.
pub(crate) type Magic = [u8; 16];

/// The fault of a file with other first bytes.
pub(super) const UNKNOWN: &str = "not a checkpoint of this version";

/// Writes a file atomically.
pub(crate) fn write<C: Serialize>(path: &Path, magic: &Magic, content: &C) -> Result<(), Error> {
    let content = postcard::to_allocvec(content)
        .map_err(|error| Error::Checkpoint { path: path.to_owned(), fault: error.to_string() })?;
    let mut bytes = magic.to_vec();
    bytes.extend(Sha256::digest(&content));
    bytes.extend(content);
    Ok(atomic::write(path, &bytes)?)
}

/// Reads a file; none if it does not exist.
pub(crate) fn read<C: DeserializeOwned>(path: &Path, magic: &Magic) -> Result<Option<C>, Error> {
    let fault = |fault: String| Error::Checkpoint { path: path.to_owned(), fault };
    match open(path)? {
        None => Ok(None),
        Some((found, _)) if found != *magic => Err(fault(UNKNOWN.to_owned())),
        Some((_, content)) => {
            postcard::from_bytes(&content).map(Some).map_err(|error| fault(error.to_string()))
        }
    }
}

/// Returns the first bytes of a file and its checked content; none if it does not exist.
pub(super) fn open(path: &Path) -> Result<Option<(Magic, Vec<u8>)>, Error> {
    let fault = |fault: &str| Error::Checkpoint { path: path.to_owned(), fault: fault.to_owned() };
    let mut bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(fedspd_run::Error::File { path: path.to_owned(), source }.into()),
    };
    let Some((magic, rest)) = bytes.split_first_chunk() else { return Err(fault(UNKNOWN)) };
    let magic = *magic;
    if !magic.starts_with(b"fedspd-") {
        return Err(fault(UNKNOWN));
    }
    let (sum, content) = rest.split_at_checked(32).ok_or_else(|| fault("cut off"))?;
    if sum != Sha256::digest(content).as_slice() {
        return Err(fault("damaged: its checksum does not match"));
    }
    bytes.drain(..size_of::<Magic>() + 32);
    Ok(Some((magic, bytes)))
}
