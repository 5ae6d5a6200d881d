//! The definition of a dataset.

use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::id::{Id, id, ids};
use super::keys::{UnknownKey, line_and_column};
use super::{Ids, Pattern, Selection};
use crate::Error;
use crate::fetch::Checksum;
use crate::filter::Band;
use crate::names::first_twice;
use crate::voltage::microvolts_per;

/// The highest sampling rate, in hertz.
const FASTEST: f64 = 1e6;
/// The largest padding around the trials of a MATLAB file, in samples.
const MOST_PADDING: usize = 10_000;
/// The longest trial, in seconds.
const LONGEST: f64 = 1e4;

/// The definition of a dataset: its files, their content, and its trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// The citations.
    #[serde(default)]
    pub citations: Vec<String>,
    /// The format of the files.
    pub format: Format,
    /// Their paths under the root, such as `S{subject:3}/S{subject:3}R{run:2}.edf`. `{subject}`,
    /// `{session}` and `{run}` stand for letters and digits, `{run:2}` for a number with leading
    /// zeros to two digits.
    #[schemars(with = "String")]
    pub files: Pattern,
    /// The subjects, such as "1-10,12"; if absent, all subjects with files.
    #[schemars(with = "Option<String>")]
    pub subjects: Option<Selection>,
    /// The sessions, in this order; if absent, all sessions found, by name. A whole number stands
    /// for its plain decimal text: `4` is "4", not "04".
    #[serde(default, deserialize_with = "ids")]
    #[schemars(with = "Option<Vec<Id>>")]
    pub sessions: Option<Vec<String>>,
    /// The runs, in this order; if absent, all runs found, by name. Texts or whole numbers, such as
    /// `[3, 7, 11]`.
    #[serde(default, deserialize_with = "ids")]
    #[schemars(with = "Option<Vec<Id>>")]
    pub runs: Option<Vec<String>>,
    /// The sampling rate that every file must have, in hertz.
    pub sfreq: f64,
    /// The unit of values in files without a unit: `V`, `mV`, `uV` or `nV`.
    pub unit: Option<String>,
    /// The reference electrode, if it is known. Data with different references are never joined.
    pub reference: Option<String>,
    /// The channels, in this order; if absent, all channels of the first file.
    pub channels: Option<Vec<String>>,
    /// New names of channels, by their names in the files.
    #[serde(default)]
    pub rename: BTreeMap<String, String>,
    /// Start and end of a trial in seconds after its event, both included.
    pub interval: [f64; 2],
    /// The pass band of the filter.
    #[schemars(with = "[f64; 2]")]
    pub band: Band,
    /// The events that begin trials, and their classes.
    pub events: Vec<EventTable>,
    /// Excluded subjects.
    #[serde(default)]
    pub excluded: Vec<Excluded>,
    /// The layout of MATLAB files.
    #[serde(default)]
    #[schemars(with = "MatLayout")]
    pub mat: Option<MatLayout>,
    /// The download source of the files.
    #[serde(default)]
    #[schemars(with = "Source")]
    pub source: Option<Source>,
    /// The SHA-256 of each file, by its path below the root, in hexadecimal digits.
    #[serde(skip)]
    pub checksums: BTreeMap<String, String>,
}

/// The format of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// EDF, EDF+, BDF or BDF+: continuous, with annotations.
    Edf,
    /// MATLAB level 5: trials in one array, labels in another.
    Mat,
}

/// Classes by annotation (or by label in MATLAB files).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventTable {
    /// The runs of this table; all if absent. Texts or whole numbers.
    #[serde(default, deserialize_with = "ids")]
    #[schemars(with = "Option<Vec<Id>>")]
    pub runs: Option<Vec<String>>,
    /// The class of each annotation.
    pub classes: BTreeMap<String, String>,
}

/// An excluded subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Excluded {
    /// The subject: a text or a whole number.
    #[serde(deserialize_with = "id")]
    #[schemars(with = "Id")]
    pub subject: String,
    /// The reason.
    pub reason: String,
    /// Whether resampling removes the reason.
    #[serde(default)]
    pub unless_resampled: bool,
}

/// The layout of a MATLAB file. As in MOABB, trials are de-meaned channel by channel and joined to
/// one recording with zeros between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MatLayout {
    /// The name of the signal array, channels x samples x trials.
    pub data: String,
    /// The name of the label array, one label per trial.
    pub labels: String,
    /// The names of the rows of the signal array.
    pub channels: Vec<String>,
    /// Zero samples before and after each trial.
    pub padding: usize,
}

/// The download source of files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The prefix of the address of each file, for files that are downloaded one by one.
    pub base: Option<String>,
    /// A list of checksums in the format of `sha256sum`: a file beside the definition.
    pub checksums: Option<String>,
    /// Folders under a root in which other programs store the same files.
    #[serde(default)]
    pub layouts: Vec<String>,
    /// Archives with files of several subjects.
    #[serde(default)]
    pub archives: Vec<Archive>,
}

/// A zip archive of recordings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Archive {
    /// Its download address.
    pub url: String,
    /// Its file name on disk.
    pub name: String,
    /// Its SHA-256 in hexadecimal digits, if published. Otherwise the first download is trusted,
    /// and its checksum recorded.
    pub sha256: Option<String>,
    /// For each subject, the prefix of its entry name.
    pub subjects: BTreeMap<String, String>,
}

impl Definition {
    /// Parses a definition.
    ///
    /// # Errors
    /// [`Error::Definition`] with the faulty line.
    pub fn parse(path: &Path, text: &str) -> Result<Self, Error> {
        let fault = |reason: String| Error::Definition { path: path.to_owned(), reason };
        let definition: Self = toml::from_str(text).map_err(|error| {
            if is_configuration(text) {
                return Error::Configuration { path: path.to_owned() };
            }
            match UnknownKey::find(text) {
                Some(unknown) => Error::UnknownKey { path: path.to_owned(), unknown: Box::new(unknown) },
                None => fault(with_place(text, &error)),
            }
        })?;
        definition.checked(path)
    }

    /// Returns the definition if its values are valid. The path appears only in messages.
    ///
    /// # Errors
    /// [`Error::Definition`] with the key.
    pub fn checked(self, path: &Path) -> Result<Self, Error> {
        let fault = |reason: String| Error::Definition { path: path.to_owned(), reason };
        self.check().map_err(fault)?;
        Ok(self)
    }

    /// Reads the checksums of files from a list in the format of `sha256sum`.
    ///
    /// # Errors
    /// [`Error::Definition`] with the faulty line.
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
        // The name is also the name of a folder below the root.
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
        let (Band { low, high }, nyquist) = (self.band, self.sfreq / 2.0);
        if let Some(rule) = self.band.fault() {
            return Err(format!("`band` is [{low}, {high}]; {rule}"));
        }
        if !(high < nyquist) {
            return Err(format!(
                "`band` is [{low}, {high}]; it must end below {nyquist} Hz, half of `sfreq`"
            ));
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
            return Err(format!("`excluded` names subject {}, not one of `subjects`", excluded.subject));
        }
        match (self.format, &self.mat) {
            (Format::Mat, None) => Err("`format` is \"mat\", but there is no table `mat`".into()),
            (Format::Edf, Some(_)) => Err("there is a table `mat`, but `format` is \"edf\"".into()),
            _ => Ok(()),
        }
    }

    /// Checks that lists and archives match the pattern of the files.
    fn check_files(&self) -> Result<(), String> {
        let (sessions, runs) = (self.files.has_session(), self.files.has_run());
        for (name, place, list, there) in
            [("sessions", "{session}", &self.sessions, sessions), ("runs", "{run}", &self.runs, runs)]
        {
            if list.is_some() && !there {
                return Err(format!("`{name}` is a list, but `files` has no placeholder {place}"));
            }
            if let Some(twice) = list.as_ref().and_then(|names| first_twice(names)) {
                return Err(format!("`{name}` lists {twice} twice"));
            }
        }
        for Archive { name, sha256, .. } in self.source.iter().flat_map(|source| &source.archives) {
            if sessions || runs {
                return Err(format!(
                    "the archive {name} has one file per subject, but `files` has a placeholder for sessions or runs"
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

    /// Returns the listed recordings: subject by subject, session by session, run by run.
    ///
    /// # Errors
    /// The name of the missing list (`subjects`, `sessions` or `runs`), if `files` has its
    /// placeholder.
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

    /// The classes, sorted by name. Labels are indices into this list.
    pub fn classes(&self) -> Vec<String> {
        let names = self.events.iter().flat_map(|table| table.classes.values());
        names.collect::<std::collections::BTreeSet<_>>().into_iter().cloned().collect()
    }

    /// The class of an annotation in a run; `None` if it begins no trial.
    pub(crate) fn class_of(&self, run: &str, annotation: &str) -> Option<&str> {
        let holds = |table: &&EventTable| {
            table.runs.as_ref().is_none_or(|runs| runs.iter().any(|listed| listed == run))
        };
        self.events.iter().filter(holds).find_map(|table| table.classes.get(annotation)).map(String::as_str)
    }

    /// The annotations of a class, in any run.
    pub(crate) fn annotations_of(&self, class: &str) -> Vec<&str> {
        let events = self.events.iter().flat_map(|table| &table.classes);
        let own = events.filter(|(_, other)| *other == class).map(|(annotation, _)| &**annotation);
        own.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
    }

    /// The name of a channel after renaming.
    pub(crate) fn channel_name<'a>(&'a self, in_file: &'a str) -> &'a str {
        self.rename.get(in_file).map_or(in_file, String::as_str)
    }

    /// The number of samples of a trial at a sampling rate, both ends of the interval included.
    pub fn trial_length(&self, sfreq: f64) -> usize {
        let [start, end] = self.interval.map(|seconds| (seconds * sfreq).round_ties_even());
        (end - start) as usize + 1
    }
}

/// The message of a TOML error with its line and column, on one line.
fn with_place(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().lines().collect::<Vec<_>>().join(" ");
    error.span().map_or(message.clone(), |span| {
        let (line, column) = line_and_column(text, span.start);
        format!("line {line}, column {column}: {message}")
    })
}

/// Whether a text is the configuration of an experiment.
fn is_configuration(text: &str) -> bool {
    text.parse::<toml::Table>().is_ok_and(|table| {
        table.get("data").is_some_and(toml::Value::is_table) && !table.contains_key("files")
    })
}
