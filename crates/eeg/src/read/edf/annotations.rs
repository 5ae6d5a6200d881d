//! Time-stamped annotation lists of EDF+. In place of samples, a signal holds
//!
//! ```text
//! onset [0x15 duration] 0x14 text 0x14 text 0x14 ... 0x00
//! ```
//!
//! and zeros after the last list. The first list of a record begins with an empty text: its onset
//! is the start time of the record.

use std::ops::Range;

use super::fault::EdfFault;
use super::header::EdfHeader;
use crate::Annotation;

/// The byte between an onset and its duration.
const BEFORE_DURATION: u8 = 0x15;
/// The byte after the times, and after every text.
const END_OF_PART: u8 = 0x14;

/// Collects the annotations of a file, record by record.
pub(super) struct Notes {
    signals: Vec<NoteSignal>,
    /// The required bytes of each record: from the first annotation signal to the last.
    span: Range<usize>,
    /// The start time of the first record.
    origin: f64,
    /// The annotations of each signal.
    annotations: Vec<Vec<Annotation>>,
}

struct NoteSignal {
    index: usize,
    label: String,
    /// Its bytes in the span.
    bytes: Range<usize>,
}

/// One list: onset, duration and texts.
struct List<'a> {
    onset: f64,
    duration: f64,
    /// The texts; each ends with [`END_OF_PART`].
    texts: &'a str,
}

impl Notes {
    pub(super) fn new(header: &EdfHeader) -> Self {
        let signals = || header.signals.iter().enumerate().filter(|(_, signal)| signal.annotations);
        let start = signals().map(|(_, signal)| signal.bytes.start).min().unwrap_or(0);
        let end = signals().map(|(_, signal)| signal.bytes.end).max().unwrap_or(0);
        let within = |bytes: &Range<usize>| bytes.start - start..bytes.end - start;
        let signals = signals().map(|(index, signal)| NoteSignal {
            index,
            label: signal.label.clone(),
            bytes: within(&signal.bytes),
        });
        let signals: Vec<NoteSignal> = signals.collect();
        let annotations = vec![Vec::new(); signals.len()];
        Self { signals, span: start..end, origin: 0.0, annotations }
    }

    /// The required bytes of each record; empty if there are no annotations.
    pub(super) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The start time of a record; `None` if it has none. `bytes` is its span.
    pub(super) fn time(&self, record: usize, bytes: &[u8]) -> Result<Option<f64>, EdfFault> {
        let Some(signal) = self.signals.first() else { return Ok(None) };
        let first = signal.lists(record, bytes).next().transpose()?;
        let time = first.filter(|list| list.texts.is_empty() || list.texts.as_bytes()[0] == END_OF_PART);
        Ok(time.map(|list| list.onset))
    }

    /// Adds the annotations of a record. `bytes` is its span.
    pub(super) fn add(&mut self, record: usize, bytes: &[u8]) -> Result<(), EdfFault> {
        if record == 0 {
            // A continuous file without a start time begins at 0.
            self.origin = self.time(record, bytes)?.unwrap_or(0.0);
        }
        for (signal, annotations) in self.signals.iter().zip(&mut self.annotations) {
            for list in signal.lists(record, bytes) {
                let list = list?;
                let texts = list.texts.split_terminator(char::from(END_OF_PART));
                annotations.extend(texts.filter(|text| !text.is_empty()).map(|text| Annotation {
                    onset: list.onset - self.origin,
                    duration: list.duration,
                    text: text.to_owned(),
                }));
            }
        }
        Ok(())
    }

    /// Returns the annotations in MNE's order. Those with equal times are ordered by signal.
    pub(super) fn finish(self) -> Vec<Annotation> {
        let mut annotations = self.annotations.concat();
        annotations.sort_by(Annotation::order);
        annotations
    }
}

impl NoteSignal {
    /// Iterates over the lists of a record.
    fn lists<'a>(
        &'a self,
        record: usize,
        span: &'a [u8],
    ) -> impl Iterator<Item = Result<List<'a>, EdfFault>> + 'a {
        let bytes = &span[self.bytes.clone()];
        let mut place = 0;
        std::iter::from_fn(move || {
            place += bytes[place..].iter().position(|&byte| byte != 0)?;
            let first = place;
            let list = if let Some(length) = bytes[first..].iter().position(|&byte| byte == 0) {
                place += length;
                list(&bytes[first..place])
            } else {
                place = bytes.len();
                Err("it is not ended by a zero")
            };
            Some(list.map_err(|problem| EdfFault::Annotation {
                record,
                signal: self.index,
                label: self.label.clone(),
                byte: first,
                problem,
            }))
        })
    }
}

/// Parses a list without the zero at its end.
fn list(bytes: &[u8]) -> Result<List<'_>, &'static str> {
    if !matches!(bytes.first(), Some(b'+' | b'-')) {
        return Err("its onset does not begin with a sign");
    }
    let end = bytes.iter().position(|&byte| byte == END_OF_PART).ok_or("its times are not ended by 0x14")?;
    let (times, texts) = (&bytes[..end], &bytes[end + 1..]);
    let mut times = times.splitn(2, |&byte| byte == BEFORE_DURATION);
    let onset = times.next().and_then(|text| Some((*text.first()?, seconds(&text[1..])?)));
    let (sign, onset) = onset.ok_or("its onset is not a number")?;
    let duration = times.next().map_or(Some(0.0), seconds).ok_or("its duration is not a number")?;
    let texts = str::from_utf8(texts).map_err(|_| "its text is not UTF-8")?;
    if !texts.is_empty() && !texts.ends_with(char::from(END_OF_PART)) {
        return Err("its text is not ended by 0x14");
    }
    Ok(List { onset: if sign == b'-' { -onset } else { onset }, duration, texts })
}

/// Parses digits with an optional decimal point and more digits. Rejects every other notation that
/// Rust accepts.
fn seconds(bytes: &[u8]) -> Option<f64> {
    if !bytes.first()?.is_ascii_digit() || !bytes.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.')) {
        return None;
    }
    let seconds: f64 = str::from_utf8(bytes).ok()?.parse().ok()?;
    seconds.is_finite().then_some(seconds)
}
