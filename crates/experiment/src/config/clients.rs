//! `federated.clients`: the assignment of subjects to clients.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::conflict::Conflict;
use super::epochs_local::OTHERS;
use super::tree::key_path;

/// Assignment of subjects to clients.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub enum Clients {
    /// Consecutive subjects, `subjects_per_client` each.
    #[default]
    Fixed,
    /// Subjects in an order that the seed shuffles, `subjects_per_client` each.
    Shuffled,
    /// The subjects of each client, by name.
    Explicit(BTreeMap<String, Vec<String>>),
}

/// The forms in a file: a word or a table.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Written {
    Rule(Rule),
    Explicit(BTreeMap<String, Vec<Id>>),
}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Rule {
    Fixed,
    Shuffled,
}

/// A subject. Ids are text, but a number without quotes is accepted too.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Id {
    Number(u64),
    Word(String),
}

impl JsonSchema for Id {
    fn schema_name() -> Cow<'static, str> {
        "Id".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({ "type": ["integer", "string"], "minimum": 0 })
    }
}

impl From<Written> for Clients {
    fn from(written: Written) -> Self {
        let word = |id| match id {
            Id::Number(number) => number.to_string(),
            Id::Word(word) => word,
        };
        match written {
            Written::Rule(Rule::Fixed) => Self::Fixed,
            Written::Rule(Rule::Shuffled) => Self::Shuffled,
            Written::Explicit(map) => Self::Explicit(
                map.into_iter().map(|(name, ids)| (name, ids.into_iter().map(word).collect())).collect(),
            ),
        }
    }
}

impl From<Clients> for Written {
    fn from(clients: Clients) -> Self {
        match clients {
            Clients::Fixed => Self::Rule(Rule::Fixed),
            Clients::Shuffled => Self::Rule(Rule::Shuffled),
            Clients::Explicit(map) => Self::Explicit(
                map.into_iter().map(|(name, ids)| (name, ids.into_iter().map(Id::Word).collect())).collect(),
            ),
        }
    }
}

impl JsonSchema for Clients {
    fn schema_name() -> Cow<'static, str> {
        "Clients".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Written::json_schema(generator)
    }
}

impl Clients {
    pub(crate) fn check(&self) -> Result<(), Conflict> {
        let Self::Explicit(map) = self else { return Ok(()) };
        if map.is_empty() {
            let rule = "it needs at least one client";
            return Err(Conflict::new(
                &["federated", "clients"],
                "`federated.clients` is an empty table",
                rule,
            )
            .hint("write `a = [1, 2]` in it, or `clients = \"fixed\"`"));
        }
        if map.contains_key(OTHERS) {
            let key = key_path("federated.clients", OTHERS);
            let rule = "`federated.epochs_local` uses this name for all other clients";
            return Err(Conflict::new(
                &["federated", "clients", OTHERS],
                format!("`{key}` is a client"),
                rule,
            )
            .hint("give the client another name"));
        }
        let mut holders = BTreeMap::new();
        for (name, ids) in map {
            let key = key_path("federated.clients", name);
            if ids.is_empty() {
                let rule = "a client needs at least one subject";
                return Err(Conflict::new(
                    &["federated", "clients", name],
                    format!("`{key}` is empty"),
                    rule,
                )
                .hint("remove the client, or give it a subject"));
            }
            for (index, id) in ids.iter().enumerate() {
                if let Some(other) = holders.insert(id, name) {
                    let found = if other == name {
                        format!("`{key}` names subject {id} twice")
                    } else {
                        format!("`{key}` names subject {id}, which client {other} has too,")
                    };
                    let at = index.to_string();
                    let rule = "each subject belongs to one client";
                    return Err(Conflict::new(&["federated", "clients", name, &at], found, rule));
                }
            }
        }
        Ok(())
    }
}
