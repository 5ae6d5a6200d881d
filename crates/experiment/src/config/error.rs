//! What can be wrong with a configuration, and where.

use thiserror::Error;

use super::NEWEST_VERSION;
use super::place::Place;

/// Why a configuration was refused.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file is not TOML.
    #[error("{place}: {fault}")]
    Syntax {
        /// Where.
        place: Box<Place>,
        /// What the parser says.
        fault: String,
    },
    /// An override is not of the form `a.b=c`.
    #[error("the override `{text}` has {fault}")]
    Override {
        /// What was written.
        text: String,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// A version that is not known.
    #[error("`version` is {found} in {place}; the newest that is known is {NEWEST_VERSION}")]
    Version {
        /// What was written.
        found: i64,
        /// Where.
        place: Box<Place>,
    },
    /// A key that there is not.
    #[error("unknown key `{key}` in {place}")]
    UnknownKey {
        /// The key with its tables.
        key: String,
        /// Where.
        place: Box<Place>,
        /// What was perhaps meant.
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
        /// What was written.
        value: String,
        /// Where.
        place: Box<Place>,
        /// What was perhaps meant.
        nearest: Option<String>,
        /// What there is.
        choices: Vec<String>,
    },
    /// A value of the wrong type, or out of range.
    #[error("`{key}` is {value} in {place}; it must be {expected}")]
    Value {
        /// The key with its tables.
        key: String,
        /// What was written.
        value: String,
        /// Where.
        place: Box<Place>,
        /// What it may be.
        expected: String,
        /// What to write instead, if that can be said.
        hint: Option<String>,
    },
    /// A key that must be there is not.
    #[error("`{key}` is missing in {file}")]
    Missing {
        /// The key with its tables.
        key: String,
        /// The file.
        file: String,
        /// What to write.
        hint: Option<String>,
    },
    /// Values that are sound alone do not go together.
    #[error("{found} in {place}; {rule}")]
    Conflict {
        /// The values.
        found: String,
        /// Where the first of them is written.
        place: Box<Place>,
        /// What holds between them.
        rule: String,
        /// What to write instead, if that can be said.
        hint: Option<String>,
    },
    /// A value that passed every rule and still could not be taken.
    #[error("{file}: {fault}")]
    Unreadable {
        /// The file.
        file: String,
        /// What serde says.
        fault: String,
    },
}

impl ConfigError {
    /// What the user can do about it, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Syntax { fault, .. } => syntax_hint(fault),
            Self::Override { .. } => Some("write it as `federated.rounds=50`".into()),
            Self::Version { .. } => {
                Some(format!("update fedspd, or write the file for version {NEWEST_VERSION}"))
            }
            Self::UnknownKey { nearest, table, choices, .. } => {
                let keys = choices.join(", ");
                let keys = match table.as_str() {
                    "" => format!("at the top of the file there are {keys}"),
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

/// Advice for the mistakes that are made most often in TOML.
fn syntax_hint(fault: &str) -> Option<String> {
    let hint = if fault.contains("must be quoted") || fault.contains("missing value") {
        "text is written in quotes, as in `name = \"sample\"`"
    } else if fault.contains("duplicate key") {
        "keep one of the two"
    } else if fault.contains("unexpected key or value") {
        "a line holds one key; numbers have a decimal point, as in `lr = 0.001`"
    } else if fault.contains("invalid boolean") {
        "write true or false, in lower case"
    } else {
        return None;
    };
    Some(hint.to_owned())
}
