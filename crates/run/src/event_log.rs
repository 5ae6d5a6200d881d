//! Event log: the events of a run, one line each.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::{Error, Event, Unit, atomic};

/// A log that events are appended to, one line each.
///
/// Append the events of a round, [`sync`](Self::sync), then write the checkpoint with the number of
/// [`lasting`](Self::lasting) events. The log is then never behind the checkpoint, and
/// [`rewind`](Self::rewind) removes the events after it. A resumed run thus has the same events as
/// an uninterrupted one, except for those about interruptions.
#[derive(Debug)]
pub struct EventLog {
    path: PathBuf,
    file: File,
    lasting: u64,
}

impl EventLog {
    /// Opens or creates a log. Drops an incomplete last line, as left by a kill, so that the next
    /// event begins a line.
    ///
    /// # Errors
    /// When the file cannot be read or written, or a line is not an event.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        let mut lasting = 0;
        match fs::read(&path) {
            Ok(bytes) => {
                let lines = lines(&path, &bytes)?;
                lasting = lines.iter().filter(|(event, _)| event.is_lasting()).count() as u64;
                keep(&path, &bytes, lines.into_iter().map(|(_, line)| line))?;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(Error::file(&path)(error)),
        }
        let file = append_to(&path)?;
        Ok(Self { path, file, lasting })
    }

    /// Appends an event. A kill can cut the line, but not the lines before it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append(&mut self, event: &Event) -> Result<(), Error> {
        let mut line = serde_json::to_vec(event).map_err(Error::json(&self.path))?;
        line.push(b'\n');
        self.file.write_all(&line).map_err(Error::file(&self.path))?;
        self.lasting += u64::from(event.is_lasting());
        Ok(())
    }

    /// Waits until all lines are on the disk.
    ///
    /// # Errors
    /// When the file cannot be synchronised.
    pub fn sync(&self) -> Result<(), Error> {
        self.file.sync_data().map_err(Error::file(&self.path))
    }

    /// Returns the number of events that an uninterrupted run has before its end: all except
    /// [`Event::Resumed`], [`Event::Interrupted`] and [`Event::Finished`].
    pub fn lasting(&self) -> u64 {
        self.lasting
    }

    /// Returns the number of lasting events up to a round of a unit; 0 if the log does not have it.
    ///
    /// # Errors
    /// When the file cannot be read, or a line is not an event.
    pub fn lasting_until(&self, unit: impl Into<Unit>, round: u32) -> Result<u64, Error> {
        let (unit, mut lasting, mut until) = (unit.into(), 0, 0);
        for event in Self::read(&self.path)? {
            lasting += u64::from(event.is_lasting());
            if matches!(&event, Event::Round(event) if event.unit == unit && event.round == round) {
                until = lasting;
            }
        }
        Ok(until)
    }

    /// Removes the lasting events after the first ones, and the end of the run. Interruptions stay.
    /// Every other line stays the same, byte for byte.
    ///
    /// # Errors
    /// When a line is not an event, or the file cannot be read or written; it then stays unchanged.
    pub fn rewind(&mut self, lasting: u64) -> Result<(), Error> {
        let bytes = fs::read(&self.path).map_err(Error::file(&self.path))?;
        let mut seen = 0;
        let kept = lines(&self.path, &bytes)?.into_iter().filter_map(|(event, line)| {
            let stays = match event {
                Event::Resumed { .. } | Event::Interrupted { .. } => true,
                Event::Finished => false,
                Event::Started | Event::Round(_) | Event::Warning { .. } => seen < lasting,
            };
            seen += u64::from(event.is_lasting());
            stays.then_some(line)
        });
        if keep(&self.path, &bytes, kept)? {
            // The handle still refers to the replaced file.
            self.file = append_to(&self.path)?;
        }
        self.lasting = self.lasting.min(lasting);
        Ok(())
    }

    /// Reads the events of a log, without an incomplete last line.
    ///
    /// # Errors
    /// When the file cannot be read, or a line is not an event.
    pub fn read(path: &Path) -> Result<Vec<Event>, Error> {
        let bytes = fs::read(path).map_err(Error::file(path))?;
        Ok(lines(path, &bytes)?.into_iter().map(|(event, _)| event).collect())
    }
}

/// Returns the events of the complete lines, and the lines with their ends. An event and its line
/// end are written at once, so a line without one is incomplete.
fn lines<'a>(path: &Path, bytes: &'a [u8]) -> Result<Vec<(Event, &'a [u8])>, Error> {
    let lines = bytes.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n"));
    let parse = |(place, line): (usize, &'a [u8])| {
        let fault = |source| Error::EventLine { path: path.to_owned(), line: place + 1, source };
        Ok((serde_json::from_slice(line).map_err(fault)?, line))
    };
    lines.enumerate().map(parse).collect()
}

/// Writes the kept lines, unless they are the whole file. Returns whether it replaced the file.
fn keep<'a>(path: &Path, before: &[u8], kept: impl Iterator<Item = &'a [u8]>) -> Result<bool, Error> {
    let mut after = Vec::with_capacity(before.len());
    kept.for_each(|line| after.extend_from_slice(line));
    if before != after {
        atomic::write(path, &after)?;
    }
    Ok(before != after)
}

fn append_to(path: &Path) -> Result<File, Error> {
    OpenOptions::new().append(true).create(true).open(path).map_err(Error::file(path))
}
