//! The one file that says what an experiment is.
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
mod epochs_local;
mod error;
mod federated;
mod model;
mod nearest;
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
pub use run::Run;
pub use seeds::Seeds;
pub use source::Source;
pub use split::{Split, SplitKind};
pub use template::template;
pub use train::{OptimiserKind, SchedulerKind, Train};

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toml::Value;

use self::rules::Rules;
use self::tree::{File, Kind, Node};
use crate::error::hexadecimal;

/// The newest version of the file.
pub const NEWEST_VERSION: i64 = 1;

/// An experiment of fedspd.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The version of this file.
    #[serde(default = "newest_version")]
    #[schemars(range(min = 1, max = 1))]
    pub version: i64,
    /// Who trains with whom.
    #[serde(default)]
    pub mode: Mode,
    /// Which trials.
    pub data: Data,
    /// From a trial to matrices.
    #[serde(default)]
    pub covariance: Covariance,
    /// What takes differences between subjects away before training.
    #[serde(default)]
    pub align: Align,
    /// The network.
    #[serde(default)]
    pub model: ModelSettings,
    /// How a client trains.
    #[serde(default)]
    pub train: Train,
    /// Clients, rounds and what the server does with their replies.
    #[serde(default)]
    pub federated: Federated,
    /// Which trials train, which choose, which judge.
    #[serde(default)]
    pub split: Split,
    /// How it is run.
    #[serde(default)]
    pub run: Run,
}

/// Who trains with whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Clients train by themselves and average what they learnt, round by round.
    #[default]
    Federated,
    /// One client holds everything.
    Centralised,
    /// Each client trains alone.
    Local,
}

impl Mode {
    /// Its name in settings and results.
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
    /// The defaults, for data of this name.
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

    /// Reads a file, puts overrides in the place of its values, and checks the outcome. The name of the file is for messages.
    ///
    /// What depends on the network (`model.precision`, `model.dropout`) is filled in, so that a saved configuration says all.
    ///
    /// # Errors
    /// The first fault, with its line and column or its override.
    pub fn parse(text: &str, file: &str, overrides: &[Override]) -> Result<Self, ConfigError> {
        let rules = Rules::new(Self::schema());
        let mut root = Node::parse(&File { name: file, text })?;
        for replaced in overrides {
            replaced.apply(&mut root, &rules);
        }
        check_version(&root)?;
        rules.check(&root, file)?;
        let config: Self = root.to_value().try_into().map_err(|error: toml::de::Error| {
            ConfigError::Unreadable { file: file.to_owned(), fault: error.message().to_owned() }
        })?;
        config.consistent().map_err(|conflict| conflict.locate(&root))?;
        Ok(config.resolved())
    }

    /// Checks a configuration that was made by a program, by the rules for files.
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

    /// The whole configuration as TOML, with every key that has a value; parsing it gives an equal one.
    ///
    /// What [`Config::check`] accepts can be written. If something else cannot, the text is a comment that says why.
    pub fn to_toml(&self) -> String {
        toml::to_string(&self.clone().resolved())
            .unwrap_or_else(|fault| format!("# this configuration cannot be written as TOML: {fault}\n"))
    }

    /// How many first trials of a held-out subject something is fitted on; none where there is nothing to fit.
    pub(crate) fn calibration(&self) -> Option<usize> {
        let fits = self.align.kind != AlignKind::None || self.model.kind.has_statistics();
        self.align.calibration.filter(|_| fits)
    }

    /// SHA-256 of all settings that have a say in results, in hexadecimal digits.
    pub fn hash(&self) -> String {
        let mut config = self.clone();
        (config.run.threads, config.run.checkpoint_every) = (0, 1);
        // Runs from before these keys were there go on: they did what the defaults say.
        let text = config.to_toml().replace("validate_every = 1\n", "").replace("method = \"fedavg\"\n", "");
        hexadecimal(&Sha256::digest(text))
    }

    /// The JSON Schema (draft 2020-12) of the file, for editors.
    pub fn schema() -> serde_json::Value {
        // Without references: the parser walks the same schema.
        let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
        settings.into_generator().into_root_schema_for::<Self>().to_value()
    }

    fn resolved(mut self) -> Self {
        self.model.precision = Some(self.model.resolved_precision());
        self.model.dropout = Some(self.model.resolved_dropout());
        self
    }
}

/// Before all else: a newer file has keys that are not known here.
fn check_version(root: &Node) -> Result<(), ConfigError> {
    match root.find(&["version"]) {
        Some(Node { value: Kind::Leaf(Value::Integer(found)), place, .. }) if *found != NEWEST_VERSION => {
            Err(ConfigError::Version { found: *found, place: Box::new(place.clone()) })
        }
        _ => Ok(()),
    }
}
