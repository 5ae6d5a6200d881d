//! Why an experiment could not be set up or could not go on.

use std::path::PathBuf;

use fedspd_nn::{Input, ModelKind};
use fedspd_run::Engine;
use thiserror::Error as ThisError;

use crate::config::ConfigError;
use crate::record::how_to_resume;
use crate::split::SharingError;

/// Why an experiment could not be set up or could not go on.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// A fault of the configuration.
    #[error(transparent)]
    Config(Box<ConfigError>),
    /// Trials cannot be shared out as asked for.
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
    /// The data are not what the network reads.
    #[error("`{data}` holds {kind}, which {} does not read", model.title())]
    Unsuitable {
        /// The data.
        data: String,
        /// What they are.
        kind: &'static str,
        /// The network.
        model: ModelKind,
    },
    /// A matrix is zero or has a negative eigenvalue.
    #[error(
        "`{data}`: the matrix of {trial} is no covariance, its eigenvalues go from {smallest:.1e} to {largest:.1e}"
    )]
    NotCovariance {
        /// The data.
        data: String,
        /// Which trial.
        trial: String,
        /// Its smallest eigenvalue.
        smallest: f64,
        /// Its largest eigenvalue.
        largest: f64,
    },
    /// The first BiMap would have more columns than there are channels.
    #[error("`model.dims` begins with {first}, but `{data}` has {channels} channels")]
    Wider {
        /// The first size.
        first: usize,
        /// The data.
        data: String,
        /// Their channels.
        channels: usize,
    },
    /// The data came aligned, and are to be aligned again.
    #[error("`{data}` is aligned already ({align}, on all trials)")]
    AlignedAlready {
        /// The data.
        data: String,
        /// How.
        align: &'static str,
    },
    /// A subject that is not there.
    #[error("`{key}` names subject `{subject}`, of whom there are no trials")]
    UnknownSubject {
        /// The key of the configuration.
        key: &'static str,
        /// Who.
        subject: String,
        /// Who there is.
        known: Vec<String>,
    },
    /// A class that is not there.
    #[error("`data.classes` names `{class}`, which is not a class of the data")]
    UnknownClass {
        /// Which.
        class: String,
        /// Which there are.
        known: Vec<String>,
    },
    /// No trial is left.
    #[error("no trial is left of the subjects and classes that are asked for")]
    Nothing,
    /// The data are not those that the run began with.
    #[error("the data have changed since the run began: their SHA-256 is {found}, it was {expected}")]
    DataChanged {
        /// As the run began.
        expected: String,
        /// Now.
        found: String,
    },
    /// The configuration in the folder is not the one that the run began with.
    #[error("{} has changed since the run began", path.display())]
    ConfigChanged {
        /// Which file.
        path: PathBuf,
    },
    /// The run folder holds a run already.
    #[error("{} is a run already", path.display())]
    Exists {
        /// Which folder.
        path: PathBuf,
        /// The engine of that run.
        engine: Engine,
    },
    /// The folder holds a run of the other engine.
    #[error("{} holds a run {}", path.display(), engine.title())]
    OtherEngine {
        /// Which folder.
        path: PathBuf,
        /// The engine of that run.
        engine: Engine,
    },
    /// A checkpoint cannot be used.
    #[error("{}: {fault}", path.display())]
    Checkpoint {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        fault: String,
    },
    /// A model does not fit the data that it is to be tried on.
    #[error("{}: the model has {what} {expected}, the data have {found}", path.display())]
    Foreign {
        /// The file of the model.
        path: PathBuf,
        /// What differs.
        what: &'static str,
        /// The model's.
        expected: String,
        /// The data's.
        found: String,
    },
    /// A network does not read the data that an alignment changes.
    #[error("{align} alignment changes {of}, which {} does not read", model.title())]
    Alignment {
        /// Which alignment.
        align: &'static str,
        /// The data that it changes.
        of: &'static str,
        /// The network.
        model: ModelKind,
    },
    /// A run that has no model to try.
    #[error("{}: there is no model to try, {reason}", path.display())]
    NoModel {
        /// The run folder.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Something that a run on several machines cannot have.
    #[error("a run on several machines {fault}; found: {found}")]
    Remote {
        /// What it must be.
        fault: &'static str,
        /// What it is.
        found: String,
    },
    /// Numbers of sites are not 0, 1, 2 and so on.
    #[error("{count} of {sites} sites have number {number}; numbers are 0, 1, 2 and so on, each once")]
    SiteNumber {
        /// Which number.
        number: u32,
        /// How many have it.
        count: usize,
        /// How many sites there are.
        sites: usize,
    },
    /// A site has another version of this software.
    #[error("`{site}` has fedspd {found}, the server has {expected}")]
    SiteVersion {
        /// Which.
        site: String,
        /// Its version.
        found: String,
        /// Ours.
        expected: &'static str,
    },
    /// Sites have data that one network cannot read.
    #[error("`{site}` has {what} {found}, `{first}` has {expected}")]
    SitesDiffer {
        /// What differs.
        what: &'static str,
        /// A site.
        first: String,
        /// What it has.
        expected: String,
        /// Another.
        site: String,
        /// What that one has.
        found: String,
    },
    /// The stored state of a site cannot be used.
    #[error("the state after round {} {fault}: {}", round + 1, path.display())]
    SiteState {
        /// The round, counted from 0.
        round: u32,
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// A site's introduction is invalid.
    #[error("invalid introduction of a site: {fault}")]
    Introduction {
        /// What is wrong with it.
        fault: String,
    },
    /// The server names a file of a site's machine.
    #[error(
        "the run's configuration has `data.name` = {path:?}, a file of this machine that only this machine may name"
    )]
    ServersFile {
        /// The file.
        path: PathBuf,
    },
    /// Training at a site failed.
    #[error("round {}: {reason}", round + 1)]
    SiteFailed {
        /// The round, counted from 0.
        round: u32,
        /// Why.
        reason: String,
    },
    /// A message of the server is not of this model.
    #[error("the message of the server: {fault}")]
    Message {
        /// What is wrong with it.
        fault: String,
    },
    /// The sites are not those that the run began with.
    #[error("the sites or their trials have changed since the run began: {}", path.display())]
    SitesChanged {
        /// What says who they were.
        path: PathBuf,
    },
    /// Threads could not be started.
    #[error("{threads} threads cannot be started: {reason}")]
    Threads {
        /// How many.
        threads: usize,
        /// What the system said.
        reason: String,
    },
}

/// What is shown of many names.
const SHOWN: usize = 12;

impl Error {
    /// What the user can do about it, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        let listed = |names: &[String]| {
            let more = if names.len() > SHOWN { ", ..." } else { "" };
            Some(format!("there are: {}{more}", names[..names.len().min(SHOWN)].join(", ")))
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
                "a covariance has no negative eigenvalue and is not zero; make it again, or leave the subject out with `data.exclude`"
                    .into(),
            ),
            Self::Wider { channels, .. } => {
                Some(format!("sizes never increase: `model.dims` may begin with {channels} at most"))
            }
            Self::AlignedAlready { .. } => {
                Some("use `align.kind = \"none\"`, or data that were prepared without --align".into())
            }
            Self::UnknownSubject { known, .. } | Self::UnknownClass { known, .. } => listed(known),
            Self::Exists { path, engine } => {
                Some(format!("{}, or choose another folder with --out", how_to_resume(path, *engine)))
            }
            Self::OtherEngine { path, engine } => Some(how_to_resume(path, *engine)),
            Self::Alignment { model, .. } => Some(match model.reads() {
                Input::Covariances => "use `riemannian` or `log-euclidean`".into(),
                Input::Samples => "use `euclidean`".into(),
            }),
            Self::Threads { .. } => Some("use fewer, with `--threads`".into()),
            Self::SiteNumber { .. } => Some("give every node its own `partition-id`".into()),
            Self::SiteVersion { .. } => Some("install the same wheel everywhere".into()),
            Self::ServersFile { .. } => Some("say where the trials of this site are, with `data` of its node-config".into()),
            Self::SiteState { .. } => Some("it was written by an earlier round of this run: look for it where the site keeps its state, or begin a new run".into()),
            Self::DataChanged { .. } | Self::ConfigChanged { .. } | Self::SitesChanged { .. } => Some("begin a new run".into()),
            Self::Checkpoint { .. } => {
                Some("restore the file from a backup, or begin a new run in another folder".into())
            }
            _ => None,
        }
    }

    /// The text that a site sends to the server: no path of its disk, and nothing about its data. The
    /// site's own log has the whole error.
    pub fn for_server(&self) -> String {
        match self {
            Self::SiteFailed { .. } | Self::Message { .. } => self.to_string(),
            Self::SiteState { round, fault, .. } => format!("its state after round {} {fault}", round + 1),
            _ => "it could not do what was asked; its own log says why".into(),
        }
    }

    /// Whether recordings are missing, rather than faulty.
    pub fn is_missing_data(&self) -> bool {
        matches!(self, Self::Data(error) if matches!(**error, fedspd_eeg::Error::Missing { .. }))
    }

    /// Whether the machine is the cause, and not the request.
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

/// Bytes as digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}
