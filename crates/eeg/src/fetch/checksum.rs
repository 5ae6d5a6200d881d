//! Checksums of files.

use std::fmt::{self, Debug, Display, Formatter};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::Error;

/// Bytes read, hashed and written at a time.
pub(super) const CHUNK: usize = 1 << 16;

/// A SHA-256 checksum.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Checksum(pub [u8; 32]);

impl Checksum {
    /// Parses 64 hexadecimal digits of either case.
    pub const fn from_hex(digits: &str) -> Option<Self> {
        let digits = digits.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        let mut i = 0;
        while i < 32 {
            let (Some(high), Some(low)) = (nibble(digits[2 * i]), nibble(digits[2 * i + 1])) else {
                return None;
            };
            bytes[i] = high << 4 | low;
            i += 1;
        }
        Some(Self(bytes))
    }

    pub(super) fn of(hasher: Sha256) -> Self {
        Self(hasher.finalize().into())
    }
}

const fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

impl Display for Checksum {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Debug for Checksum {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "Checksum({self})")
    }
}

/// The property by which content is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Its checksum.
    Sha256(Checksum),
    /// Its length alone, if no checksum is known.
    Bytes(u64),
}

impl Display for Measure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sha256(checksum) => write!(f, "SHA-256 {checksum}"),
            Self::Bytes(bytes) => write!(f, "{bytes} bytes"),
        }
    }
}

/// Computes the checksum of a file, read in pieces.
///
/// # Errors
///
/// If it cannot be read.
pub fn sha256_of(path: &Path) -> Result<Checksum, Error> {
    let hashed = File::open(path).and_then(|mut file| hash(&mut file));
    hashed.map(|(hasher, _)| Checksum::of(hasher)).map_err(Error::file(path))
}

/// Hashes the rest of a file. Returns the hasher and the number of bytes.
pub(super) fn hash(file: &mut File) -> io::Result<(Sha256, u64)> {
    let (mut hasher, mut length) = (Sha256::new(), 0);
    let mut chunk = vec![0; CHUNK];
    loop {
        match file.read(&mut chunk) {
            Ok(0) => return Ok((hasher, length)),
            Ok(count) => {
                hasher.update(&chunk[..count]);
                length += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
