//! Faults of a configuration, with their places.

use thiserror::Error;

use super::NEWEST_VERSION;
use super::place::Place;

/// A fault of a configuration.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file is not TOML.
    #[error("{place}: {fault}")]
    Syntax {
        /// Place of the fault.
        place: Box<Place>,
        /// The parser's message.
        fault: String,
    },
    /// An override is not of the form `a.b=c`.
    #[error("the override `{text}` has {fault}")]
    Override {
        /// The override.
        text: String,
        /// Its fault.
        fault: &'static str,
    },
    /// An unknown version.
    #[error("`version` is {found} in {place}; the newest known version is {NEWEST_VERSION}")]
    Version {
        /// The version in the file.
        found: i64,
        /// Place of the fault.
        place: Box<Place>,
    },
    /// The definition of a dataset is used as a configuration.
    #[error("{file} is the definition of a dataset, not the configuration of an experiment")]
    Definition {
        /// The file.
        file: String,
    },
    /// An unknown key.
    #[error("unknown key `{key}` in {place}")]
    UnknownKey {
        /// The key with its tables.
        key: String,
        /// Place of the fault.
        place: Box<Place>,
        /// The most similar key.
        nearest: Option<String>,
        /// The table, empty for the top of the file.
        table: String,
        /// The keys of that table.
        choices: Vec<String>,
    },
    /// A word that is not one of the choices.
    #[error("unknown value {value} of `{key}` in {place}")]
    UnknownValue {
        /// The key with its tables.
        key: String,
        /// The value in the file.
        value: String,
        /// Place of the fault.
        place: Box<Place>,
        /// The most similar choice.
        nearest: Option<String>,
        /// All choices.
        choices: Vec<String>,
    },
    /// A value of the wrong type, or out of range.
    #[error("`{key}` is {value} in {place}; it must be {expected}")]
    Value {
        /// The key with its tables.
        key: String,
        /// The value in the file.
        value: String,
        /// Place of the fault.
        place: Box<Place>,
        /// The allowed values.
        expected: String,
        /// A better value, if one is known.
        hint: Option<String>,
    },
    /// A required key is missing.
    #[error("`{key}` is missing in {file}")]
    Missing {
        /// The key with its tables.
        key: String,
        /// The file.
        file: String,
        /// Possible values.
        hint: Option<String>,
    },
    /// Values that are valid alone but not together.
    #[error("{found} in {place}; {rule}")]
    Conflict {
        /// The values.
        found: String,
        /// Place of the first of them.
        place: Box<Place>,
        /// The rule that they break.
        rule: String,
        /// A better value, if one is known.
        hint: Option<String>,
    },
    /// A value that passes every rule but cannot be read.
    #[error("{file}: {fault}")]
    Unreadable {
        /// The file.
        file: String,
        /// Message of serde.
        fault: String,
    },
}

impl ConfigError {
    /// Returns advice for the user, if there is any.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Syntax { fault, .. } => syntax_hint(fault),
            Self::Override { .. } => Some("write it as `federated.rounds=50`".into()),
            Self::Version { .. } => {
                Some(format!("update fedspd, or write the file for version {NEWEST_VERSION}"))
            }
            Self::Definition { file } => Some(format!(
                "convert its recordings with `fedspd data prepare {file} --out DATA.npz`, or name it in a configuration: data.name = {file:?}"
            )),
            Self::UnknownKey { nearest, table, choices, .. } => {
                let keys = choices.join(", ");
                let keys = match table.as_str() {
                    "" => format!("the top-level keys are {keys}"),
                    table => format!("the keys of [{table}] are {keys}"),
                };
                Some(match nearest {
                    Some(nearest) => format!("did you mean `{nearest}`? {keys}"),
                    None => keys,
                })
            }
            Self::UnknownValue { nearest, choices, .. } => {
                let choices = choices.join(", ");
                Some(match nearest {
                    Some(nearest) => format!("did you mean \"{nearest}\"? choices: {choices}"),
                    None => format!("choices: {choices}"),
                })
            }
            Self::Value { hint, .. } | Self::Missing { hint, .. } | Self::Conflict { hint, .. } => {
                hint.clone()
            }
            Self::Unreadable { .. } => None,
        }
    }
}

/// Returns advice for the most common mistakes in TOML.
fn syntax_hint(fault: &str) -> Option<String> {
    let hint = if fault.contains("must be quoted") || fault.contains("missing value") {
        "put text in quotes, as in `name = \"sample\"`"
    } else if fault.contains("duplicate key") {
        "keep one of the two"
    } else if fault.contains("unexpected key or value") {
        "write one key per line, and numbers with a decimal point, as in `lr = 0.001`"
    } else if fault.contains("invalid boolean") {
        "write true or false, in lower case"
    } else {
        return None;
    };
    Some(hint.to_owned())
}
