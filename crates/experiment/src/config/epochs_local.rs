//! `federated.epochs_local`: local epochs per round.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// The number of the paper.
const DEFAULT: usize = 2;
/// The key for all clients that are not named.
pub(crate) const OTHERS: &str = "default";

/// Local epochs per round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct EpochsLocal {
    /// The epochs of clients that are not named.
    pub default: usize,
    /// The epochs of named clients.
    pub clients: BTreeMap<String, usize>,
}

/// The forms in a file: a number or a table.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    One(usize),
    Each(BTreeMap<String, usize>),
}

impl EpochsLocal {
    /// Sets the same number for every client.
    pub fn new(epochs: usize) -> Self {
        Self { default: epochs, clients: BTreeMap::new() }
    }

    /// Returns the epochs of a client.
    pub fn of(&self, client: &str) -> usize {
        self.clients.get(client).copied().unwrap_or(self.default)
    }
}

impl Default for EpochsLocal {
    fn default() -> Self {
        Self::new(DEFAULT)
    }
}

impl From<Written> for EpochsLocal {
    fn from(written: Written) -> Self {
        match written {
            Written::One(epochs) => Self::new(epochs),
            Written::Each(mut clients) => {
                Self { default: clients.remove(OTHERS).unwrap_or(DEFAULT), clients }
            }
        }
    }
}

impl From<EpochsLocal> for Written {
    fn from(epochs: EpochsLocal) -> Self {
        let EpochsLocal { default, mut clients } = epochs;
        if clients.is_empty() {
            return Self::One(default);
        }
        clients.insert(OTHERS.to_owned(), default);
        Self::Each(clients)
    }
}

impl JsonSchema for EpochsLocal {
    fn schema_name() -> Cow<'static, str> {
        "EpochsLocal".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let epochs = json_schema!({ "type": "integer", "minimum": 1, "maximum": 1_000_000 });
        json_schema!({ "anyOf": [epochs, { "type": "object", "additionalProperties": epochs }] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_that_are_not_named_take_the_default() {
        let written = Written::Each([("a".to_owned(), 5), (OTHERS.to_owned(), 3)].into());
        let epochs = EpochsLocal::from(written);
        assert_eq!((epochs.of("a"), epochs.of("b")), (5, 3));
        let epochs = EpochsLocal::from(Written::Each([("a".to_owned(), 5)].into()));
        assert_eq!((epochs.of("a"), epochs.of("b")), (5, 2));
        assert_eq!(EpochsLocal::from(Written::One(4)).of("a"), 4);
    }
}
