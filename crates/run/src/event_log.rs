//! Event log: the only file of a run that grows.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::{Error, Event, Unit, atomic};

/// A log that events are appended to, one line each.
///
/// Append the round, [`sync`](Self::sync), then write the checkpoint. The log is then never behind
/// the checkpoint, and [`truncate_after`](Self::truncate_after) removes rounds after it. A resumed
/// run thus has the same rounds as an uninterrupted one.
#[derive(Debug)]
pub struct EventLog {
    path: PathBuf,
    file: File,
}

impl EventLog {
    /// Opens or creates a log. Drops an incomplete last line, as left by a kill, so that the next
    /// event begins a line.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        match fs::read(&path) {
            Ok(bytes) => keep(&path, &bytes, &whole(&bytes).concat())?,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(Error::file(&path)(error)),
        }
        let file = append_to(&path)?;
        Ok(Self { path, file })
    }

    /// Appends an event. A kill can cut the line, but not the lines before it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append(&mut self, event: &Event) -> Result<(), Error> {
        let mut line = serde_json::to_vec(event).map_err(Error::json(&self.path))?;
        line.push(b'\n');
        self.file.write_all(&line).map_err(Error::file(&self.path))
    }

    /// Waits until all lines are on the disk.
    ///
    /// # Errors
    /// When the file cannot be synchronised.
    pub fn sync(&self) -> Result<(), Error> {
        self.file.sync_data().map_err(Error::file(&self.path))
    }

    /// Removes the rounds of a unit after the given one (all for 0, because rounds count from 1).
    /// Every other line stays the same, byte for byte.
    ///
    /// # Errors
    /// When a line is not an event, or the file cannot be read or written; it then stays unchanged.
    pub fn truncate_after(&mut self, unit: impl Into<Unit>, round: u32) -> Result<(), Error> {
        let unit = unit.into();
        let bytes = fs::read(&self.path).map_err(Error::file(&self.path))?;
        let mut kept = Vec::with_capacity(bytes.len());
        for (place, line) in whole(&bytes).into_iter().enumerate() {
            match parse(&self.path, place, line)? {
                Event::Round(event) if event.unit == unit && event.round > round => {}
                _ => kept.extend_from_slice(line),
            }
        }
        keep(&self.path, &bytes, &kept)?;
        // The handle may still refer to the replaced file.
        self.file = append_to(&self.path)?;
        Ok(())
    }

    /// Reads the events of a log, without an incomplete last line.
    ///
    /// # Errors
    /// When the file cannot be read, or a line is not an event.
    pub fn read(path: &Path) -> Result<Vec<Event>, Error> {
        let bytes = fs::read(path).map_err(Error::file(path))?;
        whole(&bytes).into_iter().enumerate().map(|(place, line)| parse(path, place, line)).collect()
    }
}

/// Returns the complete lines, with their line ends. An event and its line end are written at once,
/// so a line without one is incomplete.
fn whole(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n")).collect()
}

fn parse(path: &Path, place: usize, line: &[u8]) -> Result<Event, Error> {
    let fault = |source| Error::EventLine { path: path.to_owned(), line: place + 1, source };
    serde_json::from_slice(line).map_err(fault)
}

fn keep(path: &Path, before: &[u8], after: &[u8]) -> Result<(), Error> {
    if before == after { Ok(()) } else { atomic::write(path, after) }
}

fn append_to(path: &Path) -> Result<File, Error> {
    OpenOptions::new().append(true).create(true).open(path).map_err(Error::file(path))
}
