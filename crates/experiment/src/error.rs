//! Faults of experiments.

use std::path::PathBuf;

use fedspd_nn::{Input, ModelKind};
use fedspd_run::{Engine, counted, how_to_resume};
use thiserror::Error as ThisError;

use crate::config::ConfigError;
use crate::split::SharingError;

/// A fault that prevents or stops an experiment.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// A fault of the configuration.
    #[error(transparent)]
    Config(Box<ConfigError>),
    /// Trials cannot be split as configured.
    #[error(transparent)]
    Sharing(#[from] SharingError),
    /// Predictions cannot be counted.
    #[error(transparent)]
    Confusion(#[from] fedspd_run::ConfusionFault),
    /// A fault of recordings or prepared data.
    #[error(transparent)]
    Data(Box<fedspd_eeg::Error>),
    /// A fault of a network.
    #[error(transparent)]
    Network(#[from] fedspd_nn::Error),
    /// A fault in federated training.
    #[error(transparent)]
    Federated(#[from] fedspd_federated::Error),
    /// A fault of the run folder.
    #[error(transparent)]
    Run(Box<fedspd_run::Error>),
    /// The network does not read this kind of data.
    #[error("`{data}` holds {kind}, which {} does not read", model.title())]
    Unsuitable {
        /// The data.
        data: String,
        /// Their kind.
        kind: &'static str,
        /// The network.
        model: ModelKind,
    },
    /// A matrix is zero or has a negative eigenvalue.
    #[error(
        "`{data}`: the matrix of {trial} is not a covariance: its eigenvalues range from {smallest:.1e} to {largest:.1e}"
    )]
    NotCovariance {
        /// The data.
        data: String,
        /// The trial.
        trial: String,
        /// Its smallest eigenvalue.
        smallest: f64,
        /// Its largest eigenvalue.
        largest: f64,
    },
    /// The first BiMap would have more columns than there are channels.
    #[error("`model.dims` begins with {first}, but `{data}` has {}", counted(channels, "channel"))]
    Wider {
        /// The first size.
        first: usize,
        /// The data.
        data: String,
        /// Its number of channels.
        channels: usize,
    },
    /// The configuration aligns data that are already aligned.
    #[error("`{data}` is already aligned ({align}, on all trials)")]
    AlignedAlready {
        /// The data.
        data: String,
        /// Their alignment.
        align: &'static str,
    },
    /// A subject without trials.
    #[error("`{key}` names subject `{subject}`, which has no trials")]
    UnknownSubject {
        /// The key of the configuration.
        key: &'static str,
        /// The subject.
        subject: String,
        /// The subjects of the data.
        known: Vec<String>,
    },
    /// An unknown class.
    #[error("`data.classes` names `{class}`, which is not a class of the data")]
    UnknownClass {
        /// The class.
        class: String,
        /// The classes of the data.
        known: Vec<String>,
    },
    /// The selection has no trials.
    #[error("the selected subjects and classes have no trials")]
    Nothing,
    /// The data differ from those at the start of the run.
    #[error("the data have changed since the run began: their SHA-256 is {found}, but it was {expected}")]
    DataChanged {
        /// Hash at the start of the run.
        expected: String,
        /// Hash now.
        found: String,
    },
    /// The configuration in the folder differs from that at the start of the run.
    #[error("{} has changed since the run began", path.display())]
    ConfigChanged {
        /// The file.
        path: PathBuf,
    },
    /// A run of a former version whose validation trials were chosen in another way.
    #[error(
        "{}: the run began with a fedspd that validated on random trials; leave-run-out now validates on whole runs",
        path.display()
    )]
    FormerSplit {
        /// The run folder.
        path: PathBuf,
    },
    /// The folder already holds a run.
    #[error("{} already holds a run", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// The folder holds a run of the other engine.
    #[error("{} holds a run {}", path.display(), engine.title())]
    OtherEngine {
        /// The folder.
        path: PathBuf,
        /// The engine of that run.
        engine: Engine,
    },
    /// A checkpoint cannot be used.
    #[error("{}: {fault}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// Its fault.
        fault: String,
    },
    /// Data were prepared in another way than a model or other data.
    #[error("{data}: {field} is {found}, but {other} has {expected}")]
    Preparation {
        /// The data.
        data: String,
        /// The field that differs.
        field: String,
        /// Its value in the data.
        found: String,
        /// What the data must match.
        other: Box<str>,
        /// The value there.
        expected: String,
    },
    /// The data lack channels.
    #[error("{data} lacks {} of {other}: {}", channels(missing.len()), missing.join(", "))]
    MissingChannels {
        /// The data.
        data: String,
        /// What the data must match.
        other: String,
        /// The missing channels.
        missing: Vec<String>,
        /// The channels of the data.
        there: Vec<String>,
    },
    /// A stored preparation is not of this version.
    #[error("{}: its preparation cannot be read: {reason}", path.display())]
    StoredPreparation {
        /// The file.
        path: PathBuf,
        /// Message of the reader.
        reason: String,
    },
    /// Data that are neither recordings, a definition, prepared data nor a built-in dataset.
    #[error(
        "{name} holds no data: it is no recording (.edf, .bdf), folder of recordings, definition (.toml), prepared data (.npz) or built-in dataset"
    )]
    UnknownData {
        /// The name.
        name: String,
    },
    /// Calibration would use all trials of a subject.
    #[error(
        "calibration uses the first {first} trials, but subject `{subject}` has {trials}: none would be left to predict"
    )]
    Calibration {
        /// Trials for calibration.
        first: usize,
        /// The subject.
        subject: String,
        /// Its number of trials.
        trials: usize,
    },
    /// Online alignment with a model that aligns nobody.
    #[error("{model} aligns no subject: there is nothing to align online")]
    NotAligned {
        /// The model.
        model: String,
    },
    /// Online alignment of data that are aligned already.
    #[error("{data} is aligned already ({align}): online alignment takes trials before alignment")]
    AlignedData {
        /// The data.
        data: String,
        /// Their alignment.
        align: &'static str,
    },
    /// Scores of trials without labels.
    #[error("the true classes of the trials are unknown, so they cannot be scored")]
    Unlabelled,
    /// A model without rules for recordings.
    #[error("{model} does not say which annotations begin trials, so it cannot read the recordings {data}")]
    NoRecipe {
        /// The model.
        model: String,
        /// The recordings.
        data: String,
    },
    /// A model that does not say how its data were prepared.
    #[error("{model} does not say the {field} of its training data, so recordings cannot be prepared for it")]
    UnknownPreparation {
        /// The model.
        model: String,
        /// The unknown field.
        field: String,
    },
    /// A run without a model.
    #[error("{}: no model is available: {reason}", path.display())]
    NoModel {
        /// The run folder.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A setting that a run over Flower cannot have.
    #[error("{found}; a run over Flower {fault}")]
    Remote {
        /// The rule.
        fault: &'static str,
        /// The key and its value.
        found: String,
    },
    /// The numbers of the sites are not 0, 1, 2 and so on.
    #[error(
        "{count} of {sites} sites have number {number}; numbers must be 0, 1, 2 and so on, each used once"
    )]
    SiteNumber {
        /// The number.
        number: u32,
        /// Sites with this number.
        count: usize,
        /// All sites.
        sites: usize,
    },
    /// A site has another version of this software.
    #[error("`{site}` has fedspd {found}, the server has {expected}")]
    SiteVersion {
        /// The site.
        site: String,
        /// Its version.
        found: String,
        /// The server's version.
        expected: &'static str,
    },
    /// The data of two sites differ, so that one network cannot read both.
    #[error("sites differ in {what}: {found} at `{site}`, {expected} at `{first}`")]
    SitesDiffer {
        /// The property that differs.
        what: String,
        /// The first site.
        first: String,
        /// Its value.
        expected: String,
        /// The other site.
        site: String,
        /// Its value.
        found: String,
    },
    /// The stored state of a site cannot be used.
    #[error("the state after round {} {fault}: {}", round + 1, path.display())]
    SiteState {
        /// The round, counted from 0.
        round: u32,
        /// The file.
        path: PathBuf,
        /// Its fault.
        fault: &'static str,
    },
    /// A site's introduction is invalid.
    #[error("invalid introduction of a site: {fault}")]
    Introduction {
        /// Its fault.
        fault: String,
    },
    /// The server names a file of a site's machine.
    #[error(
        "the run's configuration sets `data.name` to the file {path:?}, but only a site may name its own files"
    )]
    ServersFile {
        /// The file.
        path: PathBuf,
    },
    /// Covariances of more channels whose estimator depends on all of them.
    #[error(
        "{data} has {} more than {other}, and none can be dropped: its covariances are shrunk by all channels ({estimator})",
        counted(dropped, "channel")
    )]
    ShrunkChannels {
        /// The data.
        data: String,
        /// What they are compared with.
        other: String,
        /// The estimator.
        estimator: String,
        /// The number of additional channels.
        dropped: usize,
    },
    /// The policy of a site cannot be read.
    #[error("{}: {reason}", path.display())]
    Policy {
        /// The file.
        path: PathBuf,
        /// The reason, with the line.
        reason: String,
    },
    /// A study asks for more than the policy of a site allows.
    #[error(
        "the study asks for `{key}` = {asked}, but the policy of this site has `limits.{limit}` = {allowed}"
    )]
    PolicyRefuses {
        /// The key of the study.
        key: &'static str,
        /// What it asks for.
        asked: String,
        /// The key of the policy.
        limit: &'static str,
        /// What the policy allows.
        allowed: String,
    },
    /// A study that the policy of a site does not list.
    #[error("the study {study} is not among `studies` in the policy of this site")]
    NotListed {
        /// The hash of the study.
        study: String,
    },
    /// A study that nobody at the site has approved.
    #[error("nobody at this site has approved the study {study}")]
    NotApproved {
        /// The hash of the study.
        study: String,
    },
    /// A message of a study that never introduced itself.
    #[error("the study {study} never asked for this site")]
    UnknownStudy {
        /// The hash of the study.
        study: String,
    },
    /// The stored configuration of a study has changed.
    #[error("{}: the configuration of the study has changed since it was stored", path.display())]
    ChangedStudy {
        /// The file.
        path: PathBuf,
    },
    /// Training at a site failed.
    #[error("round {}: {reason}", round + 1)]
    SiteFailed {
        /// The round, counted from 0.
        round: u32,
        /// The reason.
        reason: String,
    },
    /// A message of the server does not fit the model.
    #[error("invalid message from the server: {fault}")]
    Message {
        /// Its fault.
        fault: String,
    },
    /// The sites differ from those at the start of the run.
    #[error("the sites or their trials have changed since the run began: {}", path.display())]
    SitesChanged {
        /// The file that lists the original sites.
        path: PathBuf,
    },
    /// Threads could not be started.
    #[error("{} cannot be started: {reason}", counted(threads, "thread"))]
    Threads {
        /// The number of threads.
        threads: usize,
        /// Message of the system.
        reason: String,
    },
}

fn channels(count: usize) -> String {
    if count == 1 { "a channel".into() } else { format!("{count} channels") }
}

/// The largest number of names in a message.
const SHOWN: usize = 12;

impl Error {
    /// Returns advice for the user, if there is any.
    pub fn hint(&self) -> Option<String> {
        let listed = |names: &[String]| {
            let more = if names.len() > SHOWN { ", ..." } else { "" };
            Some(format!("available: {}{more}", names[..names.len().min(SHOWN)].join(", ")))
        };
        match self {
            Self::Config(error) => error.hint(),
            Self::Sharing(error) => error.hint(),
            Self::Data(error) => error.hint(),
            Self::Network(error) => error.hint(),
            Self::Federated(error) => error.hint(),
            Self::Run(error) => error.hint(),
            Self::Unsuitable { model, .. } if model.reads() == Input::Samples => Some(
                "prepare trials with `fedspd data prepare NAME --trials`, or use `model.kind = \"spdnet\"`"
                    .into(),
            ),
            Self::Unsuitable { .. } => Some(
                "prepare covariances with `fedspd data prepare NAME`, or use `model.kind = \"eegnet\"`"
                    .into(),
            ),
            Self::NotCovariance { .. } => Some(
                "a covariance is not zero and has no negative eigenvalue; compute it again, or exclude the subject with `data.exclude`"
                    .into(),
            ),
            Self::Wider { channels, .. } => {
                Some(format!("sizes must never increase: `model.dims` may begin with at most {channels}"))
            }
            Self::AlignedAlready { .. } => {
                Some("use `align.kind = \"none\"`, or data that were prepared without --align".into())
            }
            Self::MissingChannels { there, .. } => listed(there),
            Self::UnknownData { .. } => {
                Some(format!("built-in: {}", crate::config::Source::names().join(", ")))
            }
            Self::Unlabelled => Some("use `fedspd predict`, or give a definition (.toml) as the data".into()),
            Self::NoRecipe { .. } => {
                Some("give a definition (.toml) as the data; it names the annotations and their classes".into())
            }
            Self::UnknownPreparation { .. } => {
                Some("prepare the data with `fedspd data prepare`, and give the .npz file".into())
            }
            Self::UnknownSubject { known, .. } | Self::UnknownClass { known, .. } => listed(known),
            Self::Preparation { .. } => {
                Some("prepare the data in the same way, or start from the recordings".into())
            }
            Self::Exists { path } => {
                Some(format!("{}, or choose another folder with --out", how_to_resume(path)))
            }
            Self::OtherEngine { path, .. } => Some(how_to_resume(path)),
            Self::Threads { .. } => Some("use fewer threads, with `--threads`".into()),
            Self::NotApproved { study } => Some(format!(
                "look at it with `python -m fedspd.flower review site.toml`, then run `python -m fedspd.flower approve site.toml {study}`"
            )),
            Self::SiteNumber { .. } => Some("give every node its own `partition-id`".into()),
            Self::SiteVersion { .. } => Some("install the same wheel everywhere".into()),
            Self::ServersFile { .. } => Some("set `data` in the node-config of this site to its own trials".into()),
            Self::SiteState { .. } => Some("an earlier round of this run wrote it: look for it in the state folder of the site, or begin a new run".into()),
            Self::DataChanged { .. } | Self::FormerSplit { .. } | Self::ConfigChanged { .. } | Self::SitesChanged { .. } => Some("begin a new run".into()),
            Self::Checkpoint { .. } => {
                Some("restore the file from a backup, or begin a new run in another folder".into())
            }
            _ => None,
        }
    }

    /// Returns the text that a site sends to the server. It has no path and nothing about the data.
    /// The site's own log has the whole error.
    pub fn for_server(&self) -> String {
        self.told().unwrap_or_else(|| "the task failed; see the site's own log".into())
    }

    /// Returns the same for an error before a task has begun.
    pub fn for_server_at_start(&self) -> String {
        self.told().unwrap_or_else(|| "it could not open its data; see the site's own log".into())
    }

    /// Returns the text that may leave a site, if there is any.
    fn told(&self) -> Option<String> {
        Some(match self {
            Self::SiteFailed { .. } | Self::Message { .. } => self.to_string(),
            Self::PolicyRefuses { .. } | Self::NotListed { .. } => {
                "its policy does not allow this study; see the site's own log".into()
            }
            Self::NotApproved { .. } => "nobody at the site has approved the study yet".into(),
            Self::UnknownStudy { .. } => "it does not know the study".into(),
            Self::SiteState { round, fault, .. } => format!("its state after round {} {fault}", round + 1),
            _ => return None,
        })
    }

    /// Whether recordings are missing.
    pub fn is_missing_data(&self) -> bool {
        matches!(self, Self::Data(error) if matches!(**error, fedspd_eeg::Error::Missing { .. }))
    }

    /// Whether the machine caused the error.
    pub fn is_environment(&self) -> bool {
        match self {
            Self::Threads { .. } => true,
            Self::Run(error) => matches!(**error, fedspd_run::Error::File { .. }),
            _ => false,
        }
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self::Config(Box::new(error))
    }
}

impl From<fedspd_eeg::Error> for Error {
    fn from(error: fedspd_eeg::Error) -> Self {
        Self::Data(Box::new(error))
    }
}

impl From<fedspd_run::Error> for Error {
    fn from(error: fedspd_run::Error) -> Self {
        Self::Run(Box::new(error))
    }
}

/// Returns bytes as hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}
