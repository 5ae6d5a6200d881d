//! What can go wrong, with the numbers.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::covariance::Cause;
use crate::fetch::FetchFault;
use crate::npz::NpzFault;
use crate::prepare::window_name;
use crate::read::{EdfFault, MatFault};
use crate::store::StoreFault;

/// Why data could not be read or prepared.
///
/// Indices count from zero.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file is not a sound EDF or BDF.
    #[error("{path}: {fault}", path = path.display())]
    Edf {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        fault: EdfFault,
    },
    /// A file is not a MAT-file that can be read.
    #[error("{path}: {fault}", path = path.display())]
    Mat {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        fault: MatFault,
    },
    /// A file is not an archive of arrays that can be read, or an array cannot be written to one.
    #[error("{path}: {fault}", path = path.display())]
    Npz {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        fault: Box<NpzFault>,
    },
    /// A file of a dataset is not there, or not the one that it should be.
    #[error("{path}: {fault}", path = path.display())]
    Fetch {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        fault: Box<FetchFault>,
    },
    /// An archive does not hold what is wanted.
    #[error("{path}: {reason}", path = path.display())]
    Archive {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Whoever waits does not want to wait any longer.
    #[error("interrupted")]
    Interrupted,
    /// There is no place for data.
    #[error("no folder for data: neither `FEDSPD_DATA` nor a home folder is set")]
    NoDataFolder,
    /// A fault of the geometry.
    #[error(transparent)]
    Geometry(#[from] fedspd_manifold::Error),
    /// A recording that cannot be used as it was asked for.
    #[error("{path}: {source}", path = path.display())]
    Recording {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: Box<Error>,
    },
    /// A fault of the geometry in the matrix of a trial.
    #[error("{place}: {source}")]
    Trial {
        /// Which trial.
        place: String,
        /// What is wrong with it.
        source: fedspd_manifold::Error,
    },
    /// A setting is out of range.
    #[error("{name} is {value}; it must be {expected}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        expected: &'static str,
    },
    /// There is no filter for a band.
    #[error("the band {low}-{high} Hz does not rise between 0 and {nyquist} Hz, half the sampling rate", nyquist = sfreq / 2.0)]
    Band {
        /// The lower edge.
        low: f64,
        /// The upper edge.
        high: f64,
        /// Samples per second.
        sfreq: f64,
    },
    /// A band so narrow or so low that its filter rings for ever.
    #[error("a filter to {low}-{high} Hz at {sfreq} Hz rings for more than {samples:.0e} samples")]
    Unstable {
        /// The lower edge.
        low: f64,
        /// The upper edge.
        high: f64,
        /// Samples per second.
        sfreq: f64,
        /// How many are the most.
        samples: f64,
    },
    /// Rates whose ratio is not one of small whole numbers.
    #[error(
        "{from} Hz cannot be resampled to {to} Hz: their ratio must be one of whole numbers up to 1000, and at most 16"
    )]
    Rates {
        /// The rate that is.
        from: f64,
        /// The rate that is wanted.
        to: f64,
    },
    /// Numbers and their description do not fit.
    #[error("{found} {what} where {expected} were expected")]
    Length {
        /// What was counted.
        what: &'static str,
        /// How many the description asks for.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A label is not one of the classes.
    #[error("the label of trial {trial} is {label}, but there are {classes} classes (counted from 0)")]
    Label {
        /// Which trial.
        trial: usize,
        /// Its label.
        label: usize,
        /// The number of classes.
        classes: usize,
    },
    /// A sample is not a finite number.
    #[error("{place}: channel {channel} is {value}")]
    NotFinite {
        /// Where.
        place: String,
        /// In which channel.
        channel: String,
        /// What it is.
        value: f64,
    },
    /// An entry of a covariance is not a finite number.
    #[error("{place}: the covariance of channels {} and {} is {value}", channels[0], channels[1])]
    NotFiniteCovariance {
        /// Which trial.
        place: String,
        /// Of which channels.
        channels: [String; 2],
        /// What it is.
        value: f64,
    },
    /// A sample that is beyond the numbers in which trials are stored.
    #[error("{place}: channel {channel} is {value:e}, which is beyond float32")]
    TooLarge {
        /// Where.
        place: String,
        /// In which channel.
        channel: String,
        /// What it is.
        value: f64,
    },
    /// A channel does not vary, so it cannot be scaled.
    #[error("{place}: channel {channel} does not vary")]
    Flat {
        /// Where.
        place: String,
        /// Which channel.
        channel: String,
    },
    /// Nothing to work on.
    #[error("{what} has no trials")]
    NoTrials {
        /// What needs some.
        what: &'static str,
    },
    /// A covariance of fewer than two samples.
    #[error("a covariance needs two samples or more, not {found}")]
    TooFewSamples {
        /// How many there are.
        found: usize,
    },
    /// A covariance that is not positive definite.
    #[error(
        "{place} has a covariance of rank {rank} with {channels} channels (smallest eigenvalue {smallest:.1e}): {cause}"
    )]
    Deficient {
        /// Which trial.
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
    /// Several covariances that are not positive definite.
    #[error("{first}; {others} more of {all} covariances are not positive definite")]
    Unfit {
        /// What is wrong with the first.
        first: Box<Error>,
        /// How many others there are.
        others: usize,
        /// Of how many.
        all: usize,
    },
    /// A reference of Euclidean alignment that is not positive definite.
    #[error(
        "the mean of X X^T over {trials} trials of subject {subject} has rank {rank} with {channels} channels (smallest eigenvalue {smallest:.1e}): {cause}"
    )]
    Reference {
        /// Whose.
        subject: String,
        /// Over how many trials.
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
    /// A window that is empty or not inside the trial.
    #[error("the window {} is empty or not inside the trial, {}", window_name(*window), window_name(*interval))]
    Window {
        /// Its ends, in seconds after the event.
        window: [f64; 2],
        /// Those of the trial.
        interval: [f64; 2],
    },
    /// A band or window that is asked for twice.
    #[error("{what} {name} is given twice")]
    Twice {
        /// Which of the two it is.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A definition of a dataset that cannot be understood.
    #[error("{path}: {reason}", path = path.display())]
    Definition {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A dataset that is not built in.
    #[error("there is no dataset `{name}`")]
    UnknownDataset {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A subject that is not of the dataset.
    #[error("there is no subject {subject}")]
    NoSubject {
        /// Who was asked for.
        subject: String,
        /// Who there is.
        known: Vec<String>,
    },
    /// A file that is not there.
    #[error("{file} is not in {folders}", file = file.display(), folders = list(roots))]
    Missing {
        /// Which file, below the root.
        file: PathBuf,
        /// Where it was looked for.
        roots: Vec<PathBuf>,
    },
    /// No file is like the pattern.
    #[error("no file like {pattern} in {folders}", folders = list(roots))]
    NoFiles {
        /// The pattern.
        pattern: String,
        /// Where files were looked for.
        roots: Vec<PathBuf>,
    },
    /// A recording at another rate.
    #[error(
        "{path}: sampled at {measured} Hz instead of {expected} Hz{}", other_length(*lengths), path = path.display()
    )]
    Rate {
        /// Which file.
        path: PathBuf,
        /// Its rate.
        measured: f64,
        /// The dataset's rate.
        expected: f64,
        /// Samples of a trial at both rates.
        lengths: [usize; 2],
    },
    /// A channel that is missing, or there more than once.
    #[error("{path}: channel {channel} is {}", presence(*count), path = path.display())]
    Channel {
        /// Which file.
        path: PathBuf,
        /// The channel as the definition calls it.
        channel: String,
        /// How often it is there.
        count: usize,
        /// What the file has.
        there: Vec<String>,
    },
    /// A definition that does not say where its files come from.
    #[error("the definition of {name} does not say where its files come from")]
    NoSource {
        /// The dataset.
        name: String,
    },
    /// A definition that does not list what its files are told apart by.
    #[error("the definition of {name} does not list its {what}, so its files cannot be listed either")]
    NotListed {
        /// The dataset.
        name: String,
        /// What is not listed: `subjects`, `sessions` or `runs`.
        what: &'static str,
    },
    /// Bytes that are no packed covariances, or covariances that cannot be packed.
    #[error("packed covariances: {fault}")]
    Packed {
        /// What is wrong with them.
        fault: &'static str,
    },
    /// A file without signals.
    #[error("{path}: there are no channels", path = path.display())]
    NoChannels {
        /// Which file.
        path: PathBuf,
    },
    /// The signals of a MATLAB file are not laid out as the definition says.
    #[error(
        "{path}: `{name}` has the shape {shape:?}, not {channels} channels x samples x trials", path = path.display()
    )]
    MatShape {
        /// Which file.
        path: PathBuf,
        /// The variable.
        name: String,
        /// Its shape.
        shape: Vec<usize>,
        /// The channels of the definition.
        channels: usize,
    },
    /// A MATLAB file with more or fewer labels than trials.
    #[error("{path}: `{name}` has {labels} labels for {trials} trials", path = path.display())]
    MatLabels {
        /// Which file.
        path: PathBuf,
        /// The variable.
        name: String,
        /// How many labels.
        labels: usize,
        /// How many trials.
        trials: usize,
    },
    /// An archive of arrays is not a prepared dataset.
    #[error("{path}: {fault}", path = path.display())]
    Store {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        fault: StoreFault,
    },
    /// A trial would reach beyond what a MATLAB file has of it.
    #[error(
        "{path}: trials have {seconds} s, the interval is {}", window_name(*interval), path = path.display()
    )]
    MatInterval {
        /// Which file.
        path: PathBuf,
        /// The length of its trials.
        seconds: f64,
        /// The interval of the definition.
        interval: [f64; 2],
    },
    /// A channel that is no voltage, or whose unit nobody says.
    #[error("{path}: the unit of channel {channel} is {}", if unit.is_empty() { "not given" } else { unit }, path = path.display())]
    Unit {
        /// Which file.
        path: PathBuf,
        /// Which channel.
        channel: String,
        /// Its unit.
        unit: String,
    },
    /// Only subjects that the definition leaves out were asked for.
    #[error("subject {subject} is left out: {reason}{}", measured.map_or(String::new(), |hz| format!(" (measured: {hz} Hz)")))]
    LeftOut {
        /// Who.
        subject: String,
        /// Why.
        reason: String,
        /// The rate of the first recording, if it is there.
        measured: Option<f64>,
    },
    /// No annotation begins a trial.
    #[error(
        "{}{}: no event gives a trial ({} were dropped)", first.display(), and_others(*files), dropped.as_ref().map_or(0, |(count, _)| *count)
    )]
    NoEvents {
        /// The first file that was looked at.
        first: PathBuf,
        /// How many files were looked at.
        files: usize,
        /// How many events gave none, and why the first did not.
        dropped: Option<(usize, String)>,
        /// What is noted in the files and no event.
        noted: Vec<String>,
    },
    /// Channels of one file at different rates.
    #[error(
        "{path}: channel {} is sampled at {} Hz and channel {} at {} Hz",
        channels[0], rates[0], channels[1], rates[1], path = path.display()
    )]
    MixedRates {
        /// Which file.
        path: PathBuf,
        /// The two channels.
        channels: [String; 2],
        /// Their rates.
        rates: [f64; 2],
    },
}

/// Rates that hardly differ give trials of the same length.
fn other_length([found, expected]: [usize; 2]) -> String {
    if found == expected {
        return String::new();
    }
    format!(" (a trial would have {found} samples instead of {expected})")
}

fn presence(count: usize) -> String {
    if count == 0 { "not there".into() } else { format!("there {count} times") }
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
    /// Says which file a fault of the system is about.
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        |source| Self::File { path: path.to_owned(), source }
    }

    /// Says which file a fault is about.
    pub(crate) fn fetch(path: impl Into<PathBuf>, fault: FetchFault) -> Self {
        Self::Fetch { path: path.into(), fault: Box::new(fault) }
    }
}

/// That there are more files than the one that is named.
fn and_others(files: usize) -> String {
    if files > 1 { format!(" and {} other files", files - 1) } else { String::new() }
}
