//! `[data]`: which trials.

use std::path::PathBuf;

use fedspd_eeg::dataset::Selection;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::conflict::{Conflict, check_band, check_interval};
use super::error::ConfigError;
use super::nearest::nearest;
use super::place::Place;
use super::source::Source;

/// Which trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// The data: `sample`, `generated`, a built-in dataset, or the path of a definition (.toml) or of prepared data (.npz).
    #[schemars(extend("format" = "source"))]
    pub name: String,
    /// The folder with the recordings; where `fedspd data fetch` puts them if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub root: Option<PathBuf>,
    /// The subjects, such as "1-10,12"; all if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "selection"))]
    pub subjects: Option<Selection>,
    /// Subjects to leave out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "selection"))]
    pub exclude: Option<Selection>,
    /// The band that recordings are filtered to, in Hz; the dataset's own if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "[f64; 2]")]
    pub band: Option<[f64; 2]>,
    /// The trial in seconds after its cue; the dataset's own if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "[f64; 2]")]
    pub window: Option<[f64; 2]>,
    /// The classes by name, in this order; all if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>")]
    pub classes: Option<Vec<String>>,
    /// Whether recordings at another rate are resampled rather than left out.
    #[serde(default)]
    pub resample: bool,
    /// Data made to order, for the name `generated`.
    #[serde(default)]
    pub generated: Generated,
}

/// Data made to order: motor imagery in miniature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Generated {
    /// How many subjects.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub subjects: usize,
    /// Trials of each subject.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub trials: usize,
    /// Channels of a trial, at least as many as classes.
    #[schemars(range(min = 2, max = 1024))]
    pub channels: usize,
    /// How many classes.
    #[schemars(range(min = 2, max = 1024))]
    pub classes: usize,
    /// Samples of a trial.
    #[schemars(range(min = 2, max = 1_000_000))]
    pub samples: usize,
    /// Samples per second; the generated rhythms are at 10 Hz.
    #[schemars(extend("exclusiveMinimum" = 20, "maximum" = 1_000_000))]
    pub sfreq: f64,
    /// How far the classes are apart; the generator's own if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", range(min = 0))]
    pub strength: Option<f64>,
    /// How far the subjects are apart; the generator's own if absent.
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
    /// All trials of a source, as its definition cuts them.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            root: None,
            subjects: None,
            exclude: None,
            band: None,
            window: None,
            classes: None,
            resample: false,
            generated: Generated::default(),
        }
    }

    /// Where trials come from.
    ///
    /// # Errors
    /// [`ConfigError::UnknownValue`] if the name stands for nothing. A configuration that was parsed has a name that does.
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
            let all = subjects.ids().len();
            let found = format!("`data.exclude` leaves out every one of the {all} `data.subjects`");
            return Err(Conflict::new(&["data", "exclude"], found, "at least one subject must be left"));
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
            let rule = "there must be two classes or more";
            return Err(Conflict::new(&["data", "classes"], found, rule)
                .hint("leave the key out to take all classes of the data"));
        }
        for (index, class) in classes.iter().enumerate() {
            if classes[..index].contains(class) {
                let at = index.to_string();
                let found = format!("`data.classes` names {class:?} twice");
                return Err(Conflict::new(&["data", "classes", &at], found, "each class is named once"));
            }
        }
        Ok(())
    }

    /// The sample is prepared: what is done to recordings can no longer be done to it.
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
            .hint("use `data.name = \"physionet-mi\"` to begin with the recordings")),
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

/// The error for a name that stands for nothing.
pub(crate) fn unknown_source(key: &str, name: &str, shown: String, place: Place) -> ConfigError {
    let mut choices = Source::names();
    let nearest = nearest(name, choices.iter().map(String::as_str)).map(str::to_owned);
    choices.push("or the path of a file that ends in .toml or .npz".to_owned());
    ConfigError::UnknownValue { key: key.to_owned(), value: shown, place: Box::new(place), nearest, choices }
}
