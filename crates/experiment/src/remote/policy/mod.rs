//! The policy of a site: its own data, and the limits of what a study may ask of it.
//!
//! The site reads its policy from its own file, `site.toml`. No message can change it.

mod limits;

use std::path::{Path, PathBuf};

use fedspd_nn::ModelKind;
use serde::Deserialize;

pub use self::limits::Limits;
use super::introduction::Counts;
use super::one_line::one_line;
use crate::Error;
use crate::config::{Config, Override};

/// The policy of a site.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SitePolicy {
    /// Its name in messages and results.
    pub name: String,
    /// Its number among the sites, from 0.
    pub number: u32,
    /// The folder for its private state.
    #[serde(default)]
    pub state: Option<PathBuf>,
    /// Whether a person at the site approves each study.
    #[serde(default)]
    pub approval: Approval,
    /// The studies that it takes part in, by the SHA-256 of their configurations; all if empty.
    #[serde(default)]
    pub studies: Vec<String>,
    /// Its own data.
    #[serde(default)]
    pub data: SiteData,
    /// The limits of a study.
    #[serde(default)]
    pub limits: Limits,
    /// The scores that it sends.
    #[serde(default)]
    pub scores: SentScores,
}

/// Who approves a study.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Approval {
    /// A person at the site. Nothing is trained before.
    #[default]
    Manual,
    /// The limits of the policy alone.
    Automatic,
}

/// The data of a site. How trials are filtered and cut is part of it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteData {
    /// A definition, an `.npz` file or the name of a dataset.
    pub name: Option<String>,
    /// The folder of its recordings.
    pub root: Option<PathBuf>,
    /// The subjects to use, such as `1-20`; all if absent.
    pub subjects: Option<String>,
    /// The subjects to leave out.
    pub exclude: Option<String>,
    /// The classes to use; all if absent.
    pub classes: Option<Vec<String>>,
    /// Start and end of a trial in seconds after its event, if not those of the definition.
    pub window: Option<[f64; 2]>,
    /// The band in Hz, if not that of the definition.
    pub band: Option<[f64; 2]>,
}

/// The scores that a site sends: numbers of trials by true and predicted class, and the loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SentScores {
    /// Scores of validation trials.
    #[serde(default = "yes")]
    pub validation: bool,
    /// Scores of test trials.
    #[serde(default = "yes")]
    pub test: bool,
}

fn yes() -> bool {
    true
}

impl Default for SentScores {
    fn default() -> Self {
        Self { validation: true, test: true }
    }
}

impl SitePolicy {
    /// Reads a policy.
    ///
    /// # Errors
    /// As [`SitePolicy::parse`].
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| fedspd_run::Error::File { path: path.to_owned(), source })?;
        Self::parse(&text, path)
    }

    /// Parses a policy. Paths in it are relative to the folder of its file.
    ///
    /// # Errors
    /// [`Error::Policy`] with the line and the reason, for example an unknown key.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        let fault = |reason: String| Error::Policy { path: path.to_owned(), reason };
        let mut policy: Self =
            toml::from_str(text).map_err(|error| fault(error.to_string().trim_end().to_owned()))?;
        policy.check().map_err(fault)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for own in [&mut policy.state, &mut policy.data.root].into_iter().flatten() {
            *own = folder.join(&own);
        }
        if let Some(name) = &mut policy.data.name
            && Path::new(name).extension().is_some()
        {
            *name = folder.join(&name).display().to_string();
        }
        Ok(policy)
    }

    fn check(&self) -> Result<(), String> {
        if self.name.is_empty() || self.name != one_line(&self.name) {
            return Err(format!("`name` is {:?}; it must be one line of text", one_line(&self.name)));
        }
        let digits = |text: &&String| text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if let Some(wrong) = self.studies.iter().find(digits) {
            return Err(format!("`studies` has {wrong:?}, which is not a SHA-256"));
        }
        self.limits.check()
    }

    /// Returns its own settings as changes of a study's configuration.
    ///
    /// # Errors
    /// Faults of a value.
    pub fn changes(&self) -> Result<Vec<Override>, Error> {
        let SiteData { name, root, subjects, exclude, classes, window, band } = &self.data;
        let text = |key: &str, value: &Option<String>| {
            value.as_ref().map(|value| format!("data.{key}={}", toml::Value::String(value.clone())))
        };
        let pair = |key: &str, value: &Option<[f64; 2]>| {
            value.map(|[low, high]| format!("data.{key}=[{low}, {high}]"))
        };
        let root = root.as_ref().map(|root| root.display().to_string());
        let data = [text("name", name), text("root", &root), text("subjects", subjects)];
        let cut = [text("exclude", exclude), pair("window", window), pair("band", band)];
        let classes = classes.as_ref().map(|names| {
            let names = names.iter().cloned().map(toml::Value::String).collect();
            format!("data.classes={}", toml::Value::Array(names))
        });
        let threads = self.limits.threads.map(|threads| format!("run.threads={threads}"));
        let changes = data.into_iter().chain(cut).chain([classes, threads]).flatten();
        Ok(changes.map(|change| change.parse()).collect::<Result<_, _>>()?)
    }

    /// Checks what a study asks for.
    ///
    /// # Errors
    /// [`Error::PolicyRefuses`] with the key, what is asked and what the policy allows.
    pub fn allows(&self, study: &Config) -> Result<(), Error> {
        self.limits.allow(study)
    }

    /// Checks that updates rest on enough trials.
    ///
    /// # Errors
    /// [`Error::PolicyRefuses`].
    pub fn allows_trials(&self, trials: &Counts) -> Result<(), Error> {
        self.limits.allow_trials(trials)
    }

    /// Describes in plain words what a study asks for, and what will leave the site.
    pub fn explain(&self, study: &Config) -> Vec<String> {
        let (federated, train) = (&study.federated, &study.train);
        let network = match study.model.kind {
            ModelKind::Spdnet => format!("SPDnet with sizes {:?}, on covariances", study.model.dims),
            ModelKind::Eegnet => "EEGNet, on filtered samples".to_owned(),
        };
        let sent = match (self.scores.validation, self.scores.test) {
            (true, true) => {
                "counts of validation and test trials by true and predicted class, and their losses"
            }
            (true, false) => "counts of validation trials by true and predicted class, and their loss",
            (false, true) => "counts of test trials by true and predicted class, and their loss",
            (false, false) => "no scores",
        };
        vec![
            format!("The study trains the network {network}."),
            format!(
                "It runs up to {} rounds, with {} passes over your training trials in each, in batches of {}.",
                federated.rounds, federated.epochs_local.default, train.batch
            ),
            format!(
                "It keeps {:.0} percent of your trials for training, {:.0} for validation and {:.0} for tests.",
                100.0 * study.split.train,
                100.0 * study.split.val,
                100.0 * study.split.test
            ),
            "Before the first round, your site sends its name and number, the numbers of its trials of each class, its classes, channels and preparation, and a warning about its data if there is one.".into(),
            "In each round, your site sends the parameters of the network after its training, and the loss.".into(),
            format!("After a round, your site sends {sent}."),
            "Recordings, covariances, labels of trials and names of subjects do not leave the site. Parameters of a network can still tell something about the trials behind them.".into(),
        ]
    }
}
