//! The definition of a dataset.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Ids, Pattern, Selection};
use crate::Error;
use crate::fetch::Checksum;
use crate::filter::Band;
use crate::names::first_twice;
use crate::voltage::microvolts_per;

/// The highest rate of a recording, in hertz.
const FASTEST: f64 = 1e6;
/// The longest pause between trials that were cut out before, in samples.
const MOST_PADDING: usize = 10_000;
/// The longest trial, in seconds.
const LONGEST: f64 = 1e4;

/// A dataset: where its files are, what they hold, and how trials are cut from them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// Its name on the command line.
    pub name: String,
    /// Its full name.
    #[serde(default)]
    pub title: String,
    /// The licence of the data.
    #[serde(default)]
    pub licence: String,
    /// What to cite.
    #[serde(default)]
    pub citations: Vec<String>,
    /// What the files are.
    pub format: Format,
    /// Their paths under the root, such as `S{subject:3}/S{subject:3}R{run:2}.edf`.
    pub files: Pattern,
    /// Which subjects there are; those that files are found for if absent.
    pub subjects: Option<Selection>,
    /// Which sessions there are, in this order; all that are found, by name, if absent.
    pub sessions: Option<Vec<String>>,
    /// Which runs are used, in this order; all that are found, by name, if absent.
    pub runs: Option<Vec<String>>,
    /// Samples per second that every file must have.
    pub sfreq: f64,
    /// The unit of numbers in files that do not say it: `V`, `mV`, `uV` or `nV`.
    pub unit: Option<String>,
    /// The channels, in this order; all of the first file if absent.
    pub channels: Option<Vec<String>>,
    /// What a channel is called in the files, and what here.
    #[serde(default)]
    pub rename: BTreeMap<String, String>,
    /// Seconds after an event at which its trial begins and ends, both included.
    pub interval: [f64; 2],
    /// The band that recordings are filtered to.
    pub band: Band,
    /// Which events begin trials of which class.
    pub events: Vec<EventTable>,
    /// Subjects that are left out.
    #[serde(default)]
    pub excluded: Vec<Excluded>,
    /// How MATLAB files are laid out.
    pub mat: Option<MatLayout>,
    /// Where the files can be downloaded.
    pub source: Option<Source>,
    /// The SHA-256 of each file, by its path below the root, in hexadecimal digits.
    #[serde(skip)]
    pub checksums: BTreeMap<String, String>,
}

/// The format of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// EDF, EDF+, BDF or BDF+: continuous, with annotations.
    Edf,
    /// MATLAB level 5: trials in one array, labels in another.
    Mat,
}

/// Annotations (or labels of MATLAB files) and the classes they stand for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventTable {
    /// The runs in which this holds; all if absent.
    pub runs: Option<Vec<String>>,
    /// The class of each annotation.
    pub classes: BTreeMap<String, String>,
}

/// A subject that is left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Excluded {
    /// Who.
    pub subject: String,
    /// Why.
    pub reason: String,
    /// Whether the reason is gone once recordings are resampled.
    #[serde(default)]
    pub unless_resampled: bool,
}

/// The arrays of a MATLAB file. Trials are de-meaned channel by channel and joined to one recording with zeros between them, as MOABB does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatLayout {
    /// The name of the signals, channels x samples x trials.
    pub data: String,
    /// The name of the labels, one per trial.
    pub labels: String,
    /// What the rows of the signals are called.
    pub channels: Vec<String>,
    /// Zero samples before and after each trial.
    pub padding: usize,
}

/// Where files come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// What comes before a file's path, for files that are downloaded one by one.
    pub base: Option<String>,
    /// A list of checksums as `sha256sum` writes them: a file beside the definition.
    pub checksums: Option<String>,
    /// Folders under a root in which other tools keep the same files.
    #[serde(default)]
    pub layouts: Vec<String>,
    /// Archives that hold several subjects.
    #[serde(default)]
    pub archives: Vec<Archive>,
}

/// A zip archive of recordings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Archive {
    /// Where it is.
    pub url: String,
    /// What it is called on disk.
    pub name: String,
    /// Its SHA-256 in hexadecimal digits, if published. Without it the first download is trusted, and its checksum recorded.
    pub sha256: Option<String>,
    /// How the name of its entry begins, for each subject.
    pub subjects: BTreeMap<String, String>,
}

impl Definition {
    /// Reads a definition.
    ///
    /// # Errors
    /// [`Error::Definition`] with the line at fault.
    pub fn parse(path: &Path, text: &str) -> Result<Self, Error> {
        let fault = |reason: String| Error::Definition { path: path.to_owned(), reason };
        let definition: Self = toml::from_str(text).map_err(|error| fault(with_line(text, &error)))?;
        definition.check().map_err(fault)?;
        Ok(definition)
    }

    /// Takes the checksums of files from a list as `sha256sum` writes it.
    ///
    /// # Errors
    /// [`Error::Definition`] with the line at fault.
    pub(super) fn read_checksums(&mut self, path: &Path, text: &str) -> Result<(), Error> {
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let parts = line.split_once(char::is_whitespace);
            let digits = |sum: &str| sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
            let Some((sum, file)) = parts.filter(|(sum, _)| digits(sum)) else {
                let reason = format!("line {} is not a SHA-256 and a path", number + 1);
                return Err(Error::Definition { path: path.to_owned(), reason });
            };
            let file = file.trim_start().trim_start_matches('*').to_owned();
            self.checksums.insert(file, sum.to_ascii_lowercase());
        }
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        // A folder below the root is called so.
        let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
        if !self.name.starts_with(|first: char| first.is_ascii_alphanumeric())
            || !self.name.chars().all(plain)
        {
            return Err(format!(
                "`name` is {:?}; it must be letters, digits, dashes, dots and underscores, and begin with a letter or digit",
                self.name
            ));
        }
        let [start, end] = self.interval;
        if !(self.sfreq > 0.0 && self.sfreq <= FASTEST) {
            return Err(format!("`sfreq` is {:e}; it must be positive, at most {FASTEST:e}", self.sfreq));
        }
        if !(start < end && start.is_finite() && end.is_finite()) {
            return Err(format!("`interval` is [{start}, {end}]; it must begin before it ends"));
        }
        if end - start > LONGEST {
            return Err(format!("`interval` is {:e} s long; it must be at most {LONGEST:e} s", end - start));
        }
        let Band { low, high } = self.band;
        if !(low > 0.0 && low < high && high < self.sfreq / 2.0) {
            let nyquist = self.sfreq / 2.0;
            return Err(format!("`band` is [{low}, {high}]; it must lie between 0 and {nyquist} Hz"));
        }
        if self.events.iter().all(|table| table.classes.is_empty()) {
            return Err("`events` names no class".into());
        }
        if let Some(unit) = self.unit.as_deref().filter(|unit| microvolts_per(unit).is_none()) {
            return Err(format!("`unit` is \"{unit}\"; it must be V, mV, uV or nV"));
        }
        if let Some(twice) = self.channels.as_ref().and_then(|names| first_twice(names)) {
            return Err(format!("`channels` lists {twice} twice"));
        }
        self.check_files()?;
        if let Some(layout) = self.mat.as_ref().filter(|layout| layout.padding > MOST_PADDING) {
            let padding = layout.padding;
            return Err(format!("`padding` is {padding} samples; it must be at most {MOST_PADDING}"));
        }
        let listed = |id: &String| self.subjects.as_ref().is_none_or(|all| all.ids().contains(id));
        if let Some(excluded) = self.excluded.iter().find(|excluded| !listed(&excluded.subject)) {
            return Err(format!("`excluded` names subject {}, whom `subjects` does not", excluded.subject));
        }
        match (self.format, &self.mat) {
            (Format::Mat, None) => Err("`format` is \"mat\", but there is no table `mat`".into()),
            (Format::Edf, Some(_)) => Err("there is a table `mat`, but `format` is \"edf\"".into()),
            _ => Ok(()),
        }
    }

    /// Checks that lists and archives say the same of the files as their pattern.
    fn check_files(&self) -> Result<(), String> {
        let (sessions, runs) = (self.files.has_session(), self.files.has_run());
        for (name, place, list, there) in
            [("sessions", "{session}", &self.sessions, sessions), ("runs", "{run}", &self.runs, runs)]
        {
            if list.is_some() && !there {
                return Err(format!("`{name}` is a list, but `files` has no place {place}"));
            }
            if let Some(twice) = list.as_ref().and_then(|names| first_twice(names)) {
                return Err(format!("`{name}` lists {twice} twice"));
            }
        }
        for Archive { name, sha256, .. } in self.source.iter().flat_map(|source| &source.archives) {
            if sessions || runs {
                return Err(format!(
                    "the archive {name} has one file for each subject, but `files` tells sessions or runs apart"
                ));
            }
            if let Some(digits) = sha256.as_ref().filter(|digits| Checksum::from_hex(digits).is_none()) {
                return Err(format!(
                    "the `sha256` of the archive {name} is \"{digits}\"; it must be 64 hexadecimal digits"
                ));
            }
        }
        Ok(())
    }

    /// The recordings that the definition lists: subject by subject, session by session, run by run.
    ///
    /// # Errors
    /// What it does not list although `files` tells it apart: `subjects`, `sessions` or `runs`.
    pub(crate) fn listed(&self) -> Result<Vec<Ids>, &'static str> {
        let list = |there: bool, list: &Option<Vec<String>>, name| match list {
            Some(list) => Ok(list.clone()),
            None if there => Err(name),
            None => Ok(vec!["0".to_owned()]),
        };
        let subjects = self.subjects.as_ref().ok_or("subjects")?;
        let sessions = list(self.files.has_session(), &self.sessions, "sessions")?;
        let runs = list(self.files.has_run(), &self.runs, "runs")?;
        let mut all = Vec::with_capacity(subjects.ids().len() * sessions.len() * runs.len());
        for subject in subjects.ids() {
            for session in &sessions {
                for run in &runs {
                    all.push(Ids { subject: subject.clone(), session: session.clone(), run: run.clone() });
                }
            }
        }
        Ok(all)
    }

    /// The classes, in the order of their names: the order of labels.
    pub fn classes(&self) -> Vec<String> {
        let names = self.events.iter().flat_map(|table| table.classes.values());
        names.collect::<std::collections::BTreeSet<_>>().into_iter().cloned().collect()
    }

    /// The class of each annotation in a run; nothing for one that begins no trial.
    pub(crate) fn class_of(&self, run: &str, annotation: &str) -> Option<&str> {
        let holds = |table: &&EventTable| {
            table.runs.as_ref().is_none_or(|runs| runs.iter().any(|listed| listed == run))
        };
        self.events.iter().filter(holds).find_map(|table| table.classes.get(annotation)).map(String::as_str)
    }

    /// The annotations that stand for a class, in any run.
    pub(crate) fn annotations_of(&self, class: &str) -> Vec<&str> {
        let events = self.events.iter().flat_map(|table| &table.classes);
        let own = events.filter(|(_, other)| *other == class).map(|(annotation, _)| &**annotation);
        own.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
    }

    /// What a channel of a file is called here.
    pub(crate) fn channel_name<'a>(&'a self, in_file: &'a str) -> &'a str {
        self.rename.get(in_file).map_or(in_file, String::as_str)
    }

    /// Samples of a trial, both ends of the interval included, at some rate.
    pub fn trial_length(&self, sfreq: f64) -> usize {
        let [start, end] = self.interval.map(|seconds| (seconds * sfreq).round_ties_even());
        (end - start) as usize + 1
    }
}

/// What is wrong with a text in TOML and where, on one line.
fn with_line(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().lines().collect::<Vec<_>>().join(" ");
    match error.span() {
        Some(span) => format!("line {}: {message}", text[..span.start].matches('\n').count() + 1),
        None => message,
    }
}
