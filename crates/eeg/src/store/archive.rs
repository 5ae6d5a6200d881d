//! Arrays of a file with prepared data, and their faults.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use super::StoreFault;
use crate::names::first_twice;
use crate::npz::{NpzFile, ValueKind};
use crate::{Error, Expansion};

/// Approximate memory of a list entry: its text, or the label and the three ids of a trial.
const BYTES_PER_ENTRY: u64 = 128;
/// The bound of floating-point numbers that hold every integer exactly.
const EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;

/// An open file with prepared data.
pub(super) struct Archive<'a> {
    pub(super) file: NpzFile<BufReader<File>>,
    path: &'a Path,
}

impl<'a> Archive<'a> {
    pub(super) fn open(path: &'a Path) -> Result<Self, Error> {
        Ok(Self { file: NpzFile::open(path)?, path })
    }

    pub(super) fn fault(&self, fault: StoreFault) -> Error {
        Error::Store { path: self.path.to_owned(), fault }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.file.names().any(|there| there == name)
    }

    /// The shape of an array that must be there.
    pub(super) fn shape(&mut self, name: &'static str) -> Result<Vec<usize>, Error> {
        if self.has(name) { self.file.shape(name) } else { Err(self.fault(StoreFault::Absent { name })) }
    }

    /// Checks that a list in memory is not too large for the length of the file.
    pub(super) fn check_size(&self, name: &'static str, entries: usize) -> Result<(), Error> {
        let length = self.file.length();
        let bytes = (entries as u64).saturating_mul(BYTES_PER_ENTRY);
        let fault = |_| self.fault(StoreFault::Many { name, entries, length });
        Expansion::check(length, bytes).map_err(fault)
    }

    /// Checks that an array is a list with one entry per trial.
    pub(super) fn check_per_trial(&mut self, name: &'static str, trials: usize) -> Result<(), Error> {
        match self.shape(name)?[..] {
            [entries] if entries == trials => Ok(()),
            [entries] => Err(self.fault(StoreFault::PerTrial { name, entries, trials })),
            ref shape => {
                let (shape, expected) = (shape.to_vec(), "a list with one entry per trial".to_owned());
                Err(self.fault(StoreFault::Shape { name, shape, expected }))
            }
        }
    }

    /// Reads one id per trial: texts, or whole numbers converted to texts. A single value counts
    /// for all trials.
    pub(super) fn ids(&mut self, name: &'static str, trials: usize) -> Result<Vec<String>, Error> {
        if self.shape(name)?.is_empty() {
            return Ok(vec![self.text(name)?; trials]);
        }
        self.check_per_trial(name, trials)?;
        self.texts(name)
    }

    /// Reads texts, or whole numbers as texts.
    fn texts(&mut self, name: &'static str) -> Result<Vec<String>, Error> {
        match self.file.kind(name)? {
            ValueKind::Text => Ok(self.file.strings(name)?.values),
            _ => Ok(self.whole(name)?.iter().map(i64::to_string).collect()),
        }
    }

    /// Reads whole numbers of any type.
    pub(super) fn whole(&mut self, name: &'static str) -> Result<Vec<i64>, Error> {
        if self.file.kind(name)? != ValueKind::Float {
            return Ok(self.file.integers(name)?.values);
        }
        let values = self.file.floats(name)?.values;
        let is_whole = |value: f64| value.fract() == 0.0 && value.abs() < EXACT;
        match values.iter().position(|&value| !is_whole(value)) {
            Some(place) => Err(self.fault(StoreFault::NotWhole { name, place, value: values[place] })),
            None => Ok(values.iter().map(|&value| value as i64).collect()),
        }
    }

    /// Checks that names differ.
    pub(super) fn different(&self, name: &'static str, names: Vec<String>) -> Result<Vec<String>, Error> {
        match first_twice(&names) {
            Some(twice) => Err(self.fault(StoreFault::Twice { name, twice: twice.clone() })),
            None => Ok(names),
        }
    }

    /// Reads a list of names.
    pub(super) fn names(&mut self, name: &'static str) -> Result<Vec<String>, Error> {
        match self.shape(name)?[..] {
            [entries] => {
                self.check_size(name, entries)?;
                Ok(self.file.strings(name)?.values)
            }
            ref shape => {
                let shape = shape.to_vec();
                Err(self.fault(StoreFault::Shape { name, shape, expected: "a list".to_owned() }))
            }
        }
    }

    /// Reads a list of names for an axis of `X` with this many entries.
    pub(super) fn axis(
        &mut self,
        name: &'static str,
        entries: usize,
        of: &'static str,
    ) -> Result<Vec<String>, Error> {
        if let [names] = self.shape(name)?[..]
            && names != entries
        {
            return Err(self.fault(StoreFault::Axis { name, names, entries, of }));
        }
        self.names(name)
    }

    /// Reads a single text, or a whole number as a text.
    pub(super) fn text(&mut self, name: &'static str) -> Result<String, Error> {
        let shape = self.shape(name)?;
        if shape.iter().product::<usize>() == 1
            && let Some(text) = self.texts(name)?.pop()
        {
            return Ok(text);
        }
        Err(self.fault(StoreFault::Shape { name, shape, expected: "a single text".into() }))
    }
}
