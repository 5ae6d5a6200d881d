//! Errors of this crate, with the measured numbers.

use std::path::{Path, PathBuf};

use fedspd_run::counted;
use thiserror::Error;

use crate::covariance::Cause;
use crate::dataset::UnknownKey;
use crate::fetch::FetchFault;
use crate::npz::NpzFault;
use crate::prepare::window_name;
use crate::read::{EdfFault, MatFault};
use crate::store::StoreFault;

/// Errors of reading and preparing data.
///
/// Indices count from zero.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A file is not a valid EDF or BDF file.
    #[error("{path}: {fault}", path = path.display())]
    Edf {
        /// The file.
        path: PathBuf,
        /// The fault.
        fault: EdfFault,
    },
    /// A MAT-file cannot be read.
    #[error("{path}: {fault}", path = path.display())]
    Mat {
        /// The file.
        path: PathBuf,
        /// The fault.
        fault: MatFault,
    },
    /// An archive of arrays cannot be read, or an array cannot be written to it.
    #[error("{path}: {fault}", path = path.display())]
    Npz {
        /// The file.
        path: PathBuf,
        /// The fault.
        fault: Box<NpzFault>,
    },
    /// A file of a dataset is missing or has unexpected content.
    #[error("{path}: {fault}", path = path.display())]
    Fetch {
        /// The file.
        path: PathBuf,
        /// The fault.
        fault: Box<FetchFault>,
    },
    /// An archive lacks the requested entry or cannot be read.
    #[error("{path}: {reason}", path = path.display())]
    Archive {
        /// The file.
        path: PathBuf,
        /// The fault.
        reason: String,
    },
    /// The caller interrupted the work.
    #[error("interrupted")]
    Interrupted,
    /// No data folder is known.
    #[error("no folder for data: neither `FEDSPD_DATA` nor a home folder is set")]
    NoDataFolder,
    /// An error of the geometry.
    #[error(transparent)]
    Geometry(#[from] fedspd_manifold::Error),
    /// A recording cannot be used with the given options.
    #[error("{path}: {source}", path = path.display())]
    Recording {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: Box<Error>,
    },
    /// An error of the geometry in the matrix of a trial.
    #[error("{place}: {source}")]
    Trial {
        /// The trial.
        place: String,
        /// The fault.
        source: fedspd_manifold::Error,
    },
    /// A setting is out of range.
    #[error("{name} is {value}; it must be {expected}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: String,
        /// The permitted values.
        expected: &'static str,
    },
    /// The band is not valid for the sampling rate.
    #[error("the band {low}-{high} Hz must have increasing edges between 0 and {nyquist} Hz, half the sampling rate", nyquist = sfreq / 2.0)]
    Band {
        /// The lower edge.
        low: f64,
        /// The upper edge.
        high: f64,
        /// Samples per second.
        sfreq: f64,
    },
    /// The band is so narrow or so low that the response of its filter is too long.
    #[error(
        "the band {low}-{high} Hz is too narrow or too low at {sfreq} Hz: the filter response exceeds {samples:.0e} samples"
    )]
    Unstable {
        /// The lower edge.
        low: f64,
        /// The upper edge.
        high: f64,
        /// Samples per second.
        sfreq: f64,
        /// The largest number of samples allowed.
        samples: f64,
    },
    /// The ratio of two sampling rates is not a fraction of small whole numbers.
    #[error(
        "{from} Hz cannot be resampled to {to} Hz: their ratio must be at most 16, and a fraction of whole numbers up to 1000"
    )]
    Rates {
        /// The current sampling rate.
        from: f64,
        /// The requested sampling rate.
        to: f64,
    },
    /// The number of values does not match their description.
    #[error("{found} {what} where {expected} were expected")]
    Length {
        /// The counted items.
        what: &'static str,
        /// The number in the description.
        expected: usize,
        /// The number found.
        found: usize,
    },
    /// A label is not one of the classes.
    #[error(
        "the label of trial {trial} is {label}, but classes are counted from 0 and their number is {classes}"
    )]
    Label {
        /// The trial.
        trial: usize,
        /// Its label.
        label: usize,
        /// The number of classes.
        classes: usize,
    },
    /// A sample is not finite.
    #[error("{place}: channel {channel} is {value}")]
    NotFinite {
        /// The place.
        place: String,
        /// The channel.
        channel: String,
        /// The value found.
        value: f64,
    },
    /// An entry of a covariance is not finite.
    #[error("{place}: the covariance of channels {} and {} is {value}", channels[0], channels[1])]
    NotFiniteCovariance {
        /// The trial.
        place: String,
        /// The two channels.
        channels: [String; 2],
        /// The value found.
        value: f64,
    },
    /// A sample exceeds the range of `float32`, in which trials are stored.
    #[error("{place}: channel {channel} is {value:e}, which is beyond float32")]
    TooLarge {
        /// The place.
        place: String,
        /// The channel.
        channel: String,
        /// The value found.
        value: f64,
    },
    /// A channel does not vary, so it cannot be scaled.
    #[error("{place}: channel {channel} does not vary")]
    Flat {
        /// The place.
        place: String,
        /// The channel.
        channel: String,
    },
    /// There are no trials.
    #[error("{what} has no trials")]
    NoTrials {
        /// The step that needs trials.
        what: &'static str,
    },
    /// A covariance has fewer than two samples.
    #[error("a covariance needs two samples or more, not {found}")]
    TooFewSamples {
        /// The number found.
        found: usize,
    },
    /// A covariance is not positive definite.
    #[error(
        "{place} has a covariance of rank {rank} with {} (smallest eigenvalue {smallest:.1e}): {cause}",
        counted(channels, "channel")
    )]
    Deficient {
        /// The trial.
        place: String,
        /// Its rank.
        rank: usize,
        /// The number of channels.
        channels: usize,
        /// Its smallest eigenvalue.
        smallest: f64,
        /// The likely cause.
        cause: Box<Cause>,
    },
    /// Several covariances are not positive definite.
    #[error(
        "{first}; {others} more of {all} covariances {} not positive definite",
        if *others == 1 { "is" } else { "are" }
    )]
    Unfit {
        /// The error of the first.
        first: Box<Error>,
        /// The number of further ones.
        others: usize,
        /// The number of all covariances.
        all: usize,
    },
    /// The reference of Euclidean alignment is not positive definite.
    #[error(
        "the mean of X X^T over {} of subject {subject} has rank {rank} with {} (smallest eigenvalue {smallest:.1e}): {cause}",
        counted(trials, "trial"),
        counted(channels, "channel")
    )]
    Reference {
        /// The subject.
        subject: String,
        /// The number of trials.
        trials: usize,
        /// Its rank.
        rank: usize,
        /// The number of channels.
        channels: usize,
        /// Its smallest eigenvalue.
        smallest: f64,
        /// The likely cause.
        cause: Box<Cause>,
    },
    /// A window is empty or not inside the trial.
    #[error("the window {} is empty or not inside the trial, {}", window_name(*window), window_name(*interval))]
    Window {
        /// Its start and end, in seconds after the event.
        window: [f64; 2],
        /// Start and end of the trial.
        interval: [f64; 2],
    },
    /// A band or a window is given twice.
    #[error("{what} {name} is given twice")]
    Twice {
        /// The band or the window.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A dataset definition is not valid.
    #[error("{path}: {reason}", path = path.display())]
    Definition {
        /// The file.
        path: PathBuf,
        /// The fault.
        reason: String,
    },
    /// A dataset definition has an unknown key.
    #[error(
        "unknown key `{key}` in {path}, line {line}, column {column}",
        key = unknown.key, path = path.display(), line = unknown.line, column = unknown.column
    )]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The key and its place.
        unknown: Box<UnknownKey>,
    },
    /// A configuration of an experiment is used as a dataset definition.
    #[error("{path} is the configuration of an experiment, not the definition of a dataset", path = path.display())]
    Configuration {
        /// The file.
        path: PathBuf,
    },
    /// The dataset is not built in.
    #[error("there is no dataset `{name}`")]
    UnknownDataset {
        /// The requested name.
        name: String,
        /// The names of the built-in datasets.
        known: String,
    },
    /// The subject is not part of the dataset.
    #[error("there is no subject {subject}")]
    NoSubject {
        /// The requested subject.
        subject: String,
        /// The subjects of the dataset.
        known: Vec<String>,
    },
    /// A file is missing.
    #[error("{file} is not in {folders}", file = file.display(), folders = list(roots))]
    Missing {
        /// The path below the root.
        file: PathBuf,
        /// The folders that were searched.
        roots: Vec<PathBuf>,
    },
    /// No file matches the pattern.
    #[error("no file matches {pattern} in {folders}", folders = list(roots))]
    NoFiles {
        /// The pattern.
        pattern: String,
        /// The folders that were searched.
        roots: Vec<PathBuf>,
    },
    /// A recording has another sampling rate than the dataset.
    #[error(
        "{path}: sampled at {measured} Hz instead of {expected} Hz{}", other_length(*lengths), path = path.display()
    )]
    Rate {
        /// The file.
        path: PathBuf,
        /// Its sampling rate.
        measured: f64,
        /// The sampling rate of the dataset.
        expected: f64,
        /// The samples of a trial at both rates.
        lengths: [usize; 2],
    },
    /// A channel is missing, or present more than once.
    #[error("{path}: {}", presence(channel, *count), path = path.display())]
    Channel {
        /// The file.
        path: PathBuf,
        /// The name of the channel in the definition; several, if they are missing.
        channel: String,
        /// The number of times it occurs.
        count: usize,
        /// The channels of the file that the definition does not name.
        there: Vec<String>,
    },
    /// The definition has no download source.
    #[error("the definition of {name} does not say where its files come from")]
    NoSource {
        /// The dataset.
        name: String,
    },
    /// The definition does not list its subjects, sessions or runs.
    #[error("the definition of {name} does not list its {what}, so its files cannot be listed either")]
    NotListed {
        /// The dataset.
        name: String,
        /// The missing list: `subjects`, `sessions` or `runs`.
        what: &'static str,
    },
    /// Packed covariances are damaged, or covariances cannot be packed.
    #[error("packed covariances: {fault}")]
    Packed {
        /// The fault.
        fault: &'static str,
    },
    /// A file has no signals.
    #[error("{path}: there are no channels", path = path.display())]
    NoChannels {
        /// The file.
        path: PathBuf,
    },
    /// The signal array of a MATLAB file does not match the definition.
    #[error(
        "{path}: `{name}` has the shape {shape:?}, not {channels} channels x samples x trials", path = path.display()
    )]
    MatShape {
        /// The file.
        path: PathBuf,
        /// The variable.
        name: String,
        /// Its shape.
        shape: Vec<usize>,
        /// The number of channels in the definition.
        channels: usize,
    },
    /// A MATLAB file has more or fewer labels than trials.
    #[error("{path}: `{name}` has {} for {}", counted(labels, "label"), counted(trials, "trial"), path = path.display())]
    MatLabels {
        /// The file.
        path: PathBuf,
        /// The variable.
        name: String,
        /// The number of labels.
        labels: usize,
        /// The number of trials.
        trials: usize,
    },
    /// An archive of arrays is not a prepared dataset.
    #[error("{path}: {fault}", path = path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// The fault.
        fault: StoreFault,
    },
    /// The interval of the definition reaches beyond the trials of a MATLAB file.
    #[error(
        "{path}: trials last {seconds} s, but the interval is {}", window_name(*interval), path = path.display()
    )]
    MatInterval {
        /// The file.
        path: PathBuf,
        /// The length of the trials in the file.
        seconds: f64,
        /// The interval of the definition.
        interval: [f64; 2],
    },
    /// The unit of a channel is missing or not a voltage.
    #[error("{path}: the unit of channel {channel} is {}", if unit.is_empty() { "not given" } else { unit }, path = path.display())]
    Unit {
        /// The file.
        path: PathBuf,
        /// The channel.
        channel: String,
        /// Its unit.
        unit: String,
    },
    /// The definition excludes all requested subjects.
    #[error("subject {subject} is left out: {reason}{}", measured.map_or(String::new(), |hz| format!(" (measured: {hz} Hz)")))]
    LeftOut {
        /// The subject.
        subject: String,
        /// The reason.
        reason: String,
        /// The sampling rate of the first recording, if that file exists.
        measured: Option<f64>,
    },
    /// No annotation begins a trial.
    #[error(
        "{}{}: no event gives a trial (dropped: {})", first.display(), and_others(*files), dropped.as_ref().map_or(0, |(count, _)| *count)
    )]
    NoEvents {
        /// The first file examined.
        first: PathBuf,
        /// The number of files examined.
        files: usize,
        /// The number of dropped events, and the reason for the first.
        dropped: Option<(usize, String)>,
        /// The annotations in the files that are not events.
        noted: Vec<String>,
    },
    /// Channels of one file have different sampling rates.
    #[error(
        "{path}: channel {} is sampled at {} Hz and channel {} at {} Hz",
        channels[0], rates[0], channels[1], rates[1], path = path.display()
    )]
    MixedRates {
        /// The file.
        path: PathBuf,
        /// The two channels.
        channels: [String; 2],
        /// Their sampling rates.
        rates: [f64; 2],
    },
}

/// Describes the other trial length; empty if both rates give the same length.
fn other_length([found, expected]: [usize; 2]) -> String {
    if found == expected {
        return String::new();
    }
    format!(" (a trial would have {} instead of {expected})", counted(found, "sample"))
}

fn presence(channel: &str, count: usize) -> String {
    if count == 0 {
        format!("there is no channel {channel}")
    } else {
        format!("channel {channel} is present {count} times")
    }
}

fn list(folders: &[PathBuf]) -> String {
    match folders {
        [] => "any folder (none was given)".into(),
        folders => {
            folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", nor in ")
        }
    }
}

impl Error {
    /// Adds the path to an error of the system.
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        |source| Self::File { path: path.to_owned(), source }
    }

    /// Adds the path to a fault.
    pub(crate) fn fetch(path: impl Into<PathBuf>, fault: FetchFault) -> Self {
        Self::Fetch { path: path.into(), fault: Box::new(fault) }
    }
}

/// Mentions the number of files beyond the one that is named.
fn and_others(files: usize) -> String {
    if files > 1 { format!(" and {} more", files - 1) } else { String::new() }
}
