//! The configuration of an experiment: one TOML file.
//!
//! ```
//! use fedspd_experiment::config::Config;
//!
//! let text = "[data]\nname = \"sample\"\n[federated]\nagregation = \"rl-avg\"";
//! let error = Config::parse(text, "mine.toml", &[]).unwrap_err();
//! assert_eq!(error.to_string(), "unknown key `federated.agregation` in mine.toml, line 4, column 1");
//! assert!(error.hint().unwrap().starts_with("did you mean `aggregation`?"));
//!
//! let config = Config::parse(text, "mine.toml", &["federated={aggregation='rl-avg'}".parse()?])?;
//! assert_eq!(config.federated.rounds, 150);
//! # Ok::<(), fedspd_experiment::config::ConfigError>(())
//! ```

mod align;
mod builtin;
mod clients;
mod conflict;
mod consistency;
mod covariance;
mod data;
mod effects;
mod epochs_local;
mod error;
mod federated;
mod model;
mod overrides;
mod place;
mod rules;
mod run;
mod seeds;
mod source;
mod split;
mod template;
mod train;
mod tree;

pub use align::{Align, AlignFit, AlignKind};
pub use builtin::{PRESETS, Preset};
pub use clients::Clients;
pub use covariance::Covariance;
pub use data::{Data, Generated};
pub use epochs_local::EpochsLocal;
pub use error::ConfigError;
pub use federated::{Aggregation, Federated, OnFailure, Weighting};
pub use model::{FedBn, ModelKind, ModelSettings, Precision};
pub use overrides::Override;
pub use place::Place;
pub use run::{Run, Select};
pub use seeds::Seeds;
pub use source::Source;
pub(crate) use split::LEAST_FOLDS_OF_PEOPLE;
pub use split::{Split, SplitKind};
pub use template::template;
pub use train::{OptimiserKind, SchedulerKind, Train};

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toml::Value;

use self::place::Lines;
use self::rules::Rules;
use self::tree::{Kind, Node};
use crate::error::hexadecimal;

/// The newest version of the file format.
pub const NEWEST_VERSION: i64 = 1;

/// Configuration of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Version of the file format.
    #[serde(default = "newest_version")]
    #[schemars(range(min = 1, max = 1))]
    pub version: i64,
    /// Training mode.
    #[serde(default)]
    pub mode: Mode,
    /// Source and selection of trials.
    pub data: Data,
    /// Estimation of covariance matrices from trials.
    #[serde(default)]
    pub covariance: Covariance,
    /// Alignment of subjects before training.
    #[serde(default)]
    pub align: Align,
    /// Network.
    #[serde(default)]
    pub model: ModelSettings,
    /// Local training of a client.
    #[serde(default)]
    pub train: Train,
    /// Clients, rounds and aggregation.
    #[serde(default)]
    pub federated: Federated,
    /// Split into training, validation and test trials.
    #[serde(default)]
    pub split: Split,
    /// Seeds, threads and intervals.
    #[serde(default)]
    pub run: Run,
}

/// Training mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Clients train locally. The server averages their models after every round.
    #[default]
    Federated,
    /// One client holds all trials.
    Centralised,
    /// Each client trains a model of its own.
    Local,
}

impl Mode {
    /// Returns the name in settings and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Federated => "federated",
            Self::Centralised => "centralised",
            Self::Local => "local",
        }
    }
}

fn newest_version() -> i64 {
    NEWEST_VERSION
}

impl Config {
    /// Creates a configuration with all defaults, for data of this name.
    pub fn new(data: impl Into<String>) -> Self {
        Self {
            version: NEWEST_VERSION,
            mode: Mode::default(),
            data: Data::new(data),
            covariance: Covariance::default(),
            align: Align::default(),
            model: ModelSettings::default(),
            train: Train::default(),
            federated: Federated::default(),
            split: Split::default(),
            run: Run::default(),
        }
        .resolved()
    }

    /// Parses a file, applies overrides and checks the result. Messages use the name of the file.
    ///
    /// Fills in the defaults that depend on other keys (`model.precision`, `model.dropout`,
    /// `run.select`), so that a saved configuration is complete.
    ///
    /// # Errors
    /// The first fault, with its line and column or its override.
    pub fn parse(text: &str, file: &str, overrides: &[Override]) -> Result<Self, ConfigError> {
        Self::parse_with_places(text, file, overrides).map(|(config, _)| config)
    }

    /// Does [`Config::parse`] for a person who wrote the file or the overrides: it also refuses keys
    /// without effect, such as `train.epochs` in federated training.
    ///
    /// # Errors
    /// As [`Config::parse`], and the first key without effect.
    pub fn parse_written(text: &str, file: &str, overrides: &[Override]) -> Result<Self, ConfigError> {
        let (config, root) = Self::parse_with_places(text, file, overrides)?;
        config.check_effects(&root).map_err(|conflict| conflict.locate(&root))?;
        Ok(config)
    }

    fn parse_with_places(
        text: &str,
        file: &str,
        overrides: &[Override],
    ) -> Result<(Self, Node), ConfigError> {
        let rules = Rules::new(Self::schema());
        let mut root = Node::parse(&Lines::new(file, text))?;
        if ["files", "events"].iter().all(|key| root.find(&[key]).is_some()) && root.find(&["data"]).is_none()
        {
            return Err(ConfigError::Definition { file: file.to_owned() });
        }
        for replaced in overrides {
            replaced.apply(&mut root, &rules);
        }
        check_version(&root)?;
        rules.check(&root, file)?;
        let config: Self = root.to_value().try_into().map_err(|error: toml::de::Error| {
            ConfigError::Unreadable { file: file.to_owned(), fault: error.message().to_owned() }
        })?;
        config.consistent().map_err(|conflict| conflict.locate(&root))?;
        Ok((config.resolved(), root))
    }

    /// Checks a configuration that a program made, by the rules for files.
    ///
    /// # Errors
    /// The first fault.
    pub fn check(&self) -> Result<(), ConfigError> {
        let value = Value::try_from(self).map_err(|error| ConfigError::Unreadable {
            file: Place::Program.to_string(),
            fault: error.to_string(),
        })?;
        let root = Node::of_program(value);
        check_version(&root)?;
        Rules::new(Self::schema()).check(&root, &Place::Program.to_string())?;
        self.consistent().map_err(|conflict| conflict.locate(&root))
    }

    /// Returns the configuration as TOML with every key that has a value. Parsing the text gives an
    /// equal configuration.
    ///
    /// Every configuration that [`Config::check`] accepts can be written. If another one cannot,
    /// the text is a comment with the reason.
    pub fn to_toml(&self) -> String {
        toml::to_string(&self.clone().resolved())
            .unwrap_or_else(|fault| format!("# this configuration cannot be written as TOML: {fault}\n"))
    }

    /// Returns the number of first trials that a held-out subject is calibrated on. None without
    /// alignment and without statistics in the network.
    pub(crate) fn calibration(&self) -> Option<usize> {
        let fits = self.align.kind != AlignKind::None || self.model.kind.has_statistics();
        self.align.calibration.filter(|_| fits)
    }

    /// Returns the SHA-256 of all settings that affect results, in hexadecimal digits.
    pub fn hash(&self) -> String {
        // Former leave-run-out splits had other validation trials, so their hash must differ.
        self.hash_without(if self.split.kind.has_folds() { &[] } else { &["refit = false\n"] })
    }

    /// Returns the hash of the settings without some lines.
    fn hash_without(&self, lines: &[&str]) -> String {
        let mut config = self.clone();
        (config.run.threads, config.run.checkpoint_every) = (0, 1);
        config.split = config.split.for_hash();
        // Runs from before these keys existed can be resumed: they behaved like the defaults, and
        // `prox_mu` selected the method.
        let select = format!("select = \"{}\"\n", self.default_select().name());
        let known = [
            "population = false\n",
            "validate_every = 1\n",
            "method = \"fedavg\"\n",
            "method = \"fedprox\"\n",
            &select,
        ];
        let text = known.iter().chain(lines).fold(config.to_toml(), |text, line| text.replace(line, ""));
        hexadecimal(&Sha256::digest(text))
    }

    /// Whether the hash is that of the same leave-run-out split in former versions, whose validation
    /// trials were others.
    pub(crate) fn is_former_split(&self, hash: &str) -> bool {
        let split = &self.split;
        split.kind == SplitKind::LeaveRunOut
            && !split.refit
            && self.hash_without(&["refit = false\n"]) == hash
    }

    /// Returns the rule for the model that is saved and scored.
    pub fn select(&self) -> Select {
        self.run.select.unwrap_or_else(|| self.default_select())
    }

    /// Returns the default of `run.select`: the rule of early stopping if it is on.
    /// Whether validation trials decide anything about the final model.
    pub(crate) fn chooses(&self) -> bool {
        let stops = self.mode != Mode::Federated && self.train.early_stop > 0;
        stops || self.split.refit || self.select() == Select::BestValidation
    }

    fn default_select(&self) -> Select {
        let stops = self.mode != Mode::Federated && self.train.early_stop > 0;
        if stops { Select::BestValidation } else { Select::Last }
    }

    /// Returns the JSON Schema (draft 2020-12) of the file, for editors.
    pub fn schema() -> serde_json::Value {
        // No references, because the parser walks the same schema.
        let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
        settings.into_generator().into_root_schema_for::<Self>().to_value()
    }

    fn resolved(mut self) -> Self {
        self.model.precision = Some(self.model.resolved_precision());
        self.model.dropout = Some(self.model.resolved_dropout());
        self.federated.method = self.federated.resolved_method();
        self.run.select = Some(self.select());
        self
    }
}

/// Checks the version first, because a newer file may have unknown keys.
fn check_version(root: &Node) -> Result<(), ConfigError> {
    match root.find(&["version"]) {
        Some(Node { value: Kind::Leaf(Value::Integer(found)), place, .. }) if *found != NEWEST_VERSION => {
            Err(ConfigError::Version { found: *found, place: Box::new(place.clone()) })
        }
        _ => Ok(()),
    }
}
