//! `[data]`: source and selection of trials.

use std::path::PathBuf;

use fedspd_eeg::dataset::Selection;
use fedspd_eeg::nearest;
use fedspd_run::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::conflict::{Conflict, check_band, check_interval};
use super::error::ConfigError;
use super::place::Place;
use super::source::Source;

/// Source and selection of trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// Data source: `sample`, `generated`, a built-in dataset, or the path of a definition (.toml)
    /// or of prepared data (.npz). A path in a file is relative to the folder of that file.
    #[schemars(extend("format" = "source"))]
    pub name: String,
    /// Folder with the recordings, relative to the folder of the configuration. Default: the folder
    /// of `fedspd data fetch`, or the folder of the definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub root: Option<PathBuf>,
    /// A model, run folder or prepared data (.npz): the data must be prepared in the same way.
    /// Channels and classes are put in its order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub like: Option<PathBuf>,
    /// Subjects, such as "1-10,12". Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "selection"))]
    pub subjects: Option<Selection>,
    /// Subjects to exclude.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "selection"))]
    pub exclude: Option<Selection>,
    /// Pass band of the filter, in Hz. Default: that of the dataset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "[f64; 2]")]
    pub band: Option<[f64; 2]>,
    /// Time window of a trial, in seconds after the cue. Default: that of the dataset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "[f64; 2]")]
    pub window: Option<[f64; 2]>,
    /// Names of the classes, in this order. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>")]
    pub classes: Option<Vec<String>>,
    /// Whether recordings with another sampling rate are resampled. Otherwise they are excluded.
    #[serde(default)]
    pub resample: bool,
    /// Synthetic data, for the name `generated`.
    #[serde(default)]
    pub generated: Generated,
}

/// Synthetic motor-imagery data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Generated {
    /// Number of subjects.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub subjects: usize,
    /// Trials per subject.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub trials: usize,
    /// Number of channels, at least as many as classes.
    #[schemars(range(min = 2, max = 1024))]
    pub channels: usize,
    /// Number of classes.
    #[schemars(range(min = 2, max = 1024))]
    pub classes: usize,
    /// Samples per trial.
    #[schemars(range(min = 2, max = 1_000_000))]
    pub samples: usize,
    /// Sampling rate in Hz. The synthetic rhythms are at 10 Hz.
    #[schemars(extend("exclusiveMinimum" = 20, "maximum" = 1_000_000))]
    pub sfreq: f64,
    /// Distance between classes, for covariances only. Default: that of the generator.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", range(min = 0))]
    pub strength: Option<f64>,
    /// Distance between subjects. Default: that of the generator.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", range(min = 0))]
    pub shift: Option<f64>,
}

impl Default for Generated {
    fn default() -> Self {
        Self {
            subjects: 10,
            trials: 90,
            channels: 16,
            classes: 4,
            samples: 480,
            sfreq: 160.0,
            strength: None,
            shift: None,
        }
    }
}

impl Data {
    /// Selects all trials of a source, with the settings of its definition.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            root: None,
            like: None,
            subjects: None,
            exclude: None,
            band: None,
            window: None,
            classes: None,
            resample: false,
            generated: Generated::default(),
        }
    }

    /// Returns the source of the trials.
    ///
    /// # Errors
    /// [`ConfigError::UnknownValue`] for an unknown name. A parsed configuration has a known name.
    pub fn source(&self) -> Result<Source, ConfigError> {
        Source::of_name(&self.name).ok_or_else(|| {
            unknown_source("data.name", &self.name, format!("{:?}", self.name), Place::Program)
        })
    }

    pub(crate) fn check(&self) -> Result<(), Conflict> {
        if let Some(band) = self.band {
            check_band(&["data", "band"], "data.band", band)?;
        }
        if let Some(window) = self.window {
            check_interval(&["data", "window"], "data.window", window)?;
        }
        self.check_classes()?;
        if let (Some(subjects), Some(exclude)) = (&self.subjects, &self.exclude)
            && subjects.ids().iter().all(|id| exclude.ids().contains(id))
        {
            let all = counted(subjects.ids().len(), "subject");
            let found = format!("`data.exclude` excludes all of `data.subjects` ({all})");
            return Err(Conflict::new(&["data", "exclude"], found, "at least one must remain"));
        }
        match Source::of_name(&self.name) {
            Some(Source::Generated) => self.generated.check(),
            Some(Source::Sample) => self.check_sample(),
            _ => Ok(()),
        }
    }

    fn check_classes(&self) -> Result<(), Conflict> {
        let Some(classes) = &self.classes else { return Ok(()) };
        if classes.len() < 2 {
            let found = format!("`data.classes` is {classes:?}");
            let rule = "at least 2 classes are needed";
            return Err(Conflict::new(&["data", "classes"], found, rule)
                .hint("remove the key to use all classes of the data"));
        }
        for (index, class) in classes.iter().enumerate() {
            if classes[..index].contains(class) {
                let at = index.to_string();
                let found = format!("`data.classes` names {class:?} twice");
                return Err(Conflict::new(
                    &["data", "classes", &at],
                    found,
                    "each class may appear only once",
                ));
            }
        }
        Ok(())
    }

    /// Refuses settings of recordings for the sample, which is already prepared.
    fn check_sample(&self) -> Result<(), Conflict> {
        let asked = [
            ("root", self.root.is_some()),
            ("band", self.band.is_some()),
            ("window", self.window.is_some()),
            ("resample", self.resample),
        ];
        match asked.iter().find(|(_, asked)| *asked) {
            None => Ok(()),
            Some((key, _)) => Err(Conflict::new(
                &["data", key],
                format!("`data.{key}` is set for the embedded sample"),
                "the sample holds covariances of trials that are already filtered and cut",
            )
            .hint("use `data.name = \"physionet-mi\"` to start from the recordings")),
        }
    }
}

impl Generated {
    fn check(&self) -> Result<(), Conflict> {
        let Self { channels, classes, .. } = self;
        if channels >= classes {
            return Ok(());
        }
        let found = format!("`data.generated.channels` is {channels} with {classes} classes");
        let rule = "each class needs a channel of its own";
        Err(Conflict::new(&["data", "generated", "channels"], found, rule)
            .or_at(&["data", "generated", "classes"])
            .or_at(&["data", "name"]))
    }
}

/// Returns the error for an unknown data source.
pub(crate) fn unknown_source(key: &str, name: &str, shown: String, place: Place) -> ConfigError {
    let mut choices = Source::names();
    let nearest = nearest(name, choices.iter().map(String::as_str)).map(str::to_owned);
    choices.push("or the path of a .toml or .npz file".to_owned());
    ConfigError::UnknownValue { key: key.to_owned(), value: shown, place: Box::new(place), nearest, choices }
}
