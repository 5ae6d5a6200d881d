//! Scores of past rounds: a file beside the checkpoint that only grows.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use fedspd_run::atomic;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::checkpoint::{PastRound, same};
use crate::Error;

/// The part of the file that counts. A killed process may have written more.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RoundsMark {
    rounds: u32,
    bytes: u64,
    sha256: [u8; 32],
}

/// The file of a unit's past rounds, open to append more.
pub(super) struct RoundLog {
    path: PathBuf,
    file: File,
    sha256: Sha256,
    rounds: usize,
    bytes: u64,
}

impl RoundLog {
    /// Opens the file beside a checkpoint and writes the rounds so far. They replace the rounds of
    /// a killed process, which may be more. The file keeps the bytes that the checkpoint refers to.
    pub(super) fn new(checkpoint: &Path, history: &[PastRound]) -> Result<Self, Error> {
        let path = beside(checkpoint);
        let bytes = encode(&path, history)?;
        atomic::write(&path, &bytes)?;
        let file = OpenOptions::new().append(true).open(&path).map_err(refused(&path))?;
        let (sha256, rounds) = (Sha256::new_with_prefix(&bytes), history.len());
        Ok(Self { path, file, sha256, rounds, bytes: bytes.len() as u64 })
    }

    /// Whether this is the file beside a checkpoint.
    pub(super) fn is_beside(&self, checkpoint: &Path) -> bool {
        self.path == beside(checkpoint)
    }

    /// Appends the rounds that the file does not have yet, and waits until they are on the disk.
    pub(super) fn append(&mut self, history: &[PastRound]) -> Result<(), Error> {
        let bytes = encode(&self.path, &history[self.rounds..])?;
        if bytes.is_empty() {
            return Ok(());
        }
        self.file.write_all(&bytes).and_then(|()| self.file.sync_data()).map_err(refused(&self.path))?;
        self.sha256.update(&bytes);
        self.bytes += bytes.len() as u64;
        self.rounds = history.len();
        Ok(())
    }

    pub(super) fn mark(&self) -> RoundsMark {
        let sha256 = self.sha256.clone().finalize().into();
        RoundsMark { rounds: self.rounds as u32, bytes: self.bytes, sha256 }
    }
}

/// Reads the rounds of the file beside a checkpoint that count.
pub(super) fn read(checkpoint: &Path, mark: RoundsMark) -> Result<Vec<PastRound>, Error> {
    let path = beside(checkpoint);
    let fault = |fault: String| Error::Checkpoint { path: path.clone(), fault };
    let (mut bytes, file) = (Vec::new(), File::open(&path).map_err(refused(&path))?);
    file.take(mark.bytes).read_to_end(&mut bytes).map_err(refused(&path))?;
    if Sha256::digest(&bytes).as_slice() != mark.sha256 {
        return Err(fault("damaged: its checksum does not match".to_owned()));
    }
    let (mut history, mut rest) = (Vec::new(), &bytes[..]);
    while !rest.is_empty() {
        let (round, left) = postcard::take_from_bytes(rest).map_err(|error| fault(error.to_string()))?;
        history.push(round);
        rest = left;
    }
    same("rounds", mark.rounds as usize, history.len())?;
    Ok(history)
}

fn beside(checkpoint: &Path) -> PathBuf {
    checkpoint.with_extension("rounds")
}

fn encode(path: &Path, rounds: &[PastRound]) -> Result<Vec<u8>, Error> {
    rounds.iter().try_fold(Vec::new(), |bytes, round| {
        postcard::to_extend(round, bytes)
            .map_err(|error| Error::Checkpoint { path: path.to_owned(), fault: error.to_string() })
    })
}

fn refused(path: &Path) -> impl FnOnce(std::io::Error) -> fedspd_run::Error {
    |source| fedspd_run::Error::File { path: path.to_owned(), source }
}
