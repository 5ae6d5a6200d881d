//! Ids in definitions: texts or whole numbers.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

/// An id. A whole number stands for its plain decimal text: 4 is "4", not "04".
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a text or a whole number")]
pub(super) enum Id {
    /// A text.
    Text(String),
    /// A whole number.
    Number(i64),
}

impl From<Id> for String {
    fn from(id: Id) -> Self {
        match id {
            Id::Text(text) => text,
            Id::Number(number) => number.to_string(),
        }
    }
}

/// Reads an id.
pub(super) fn id<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Id::deserialize(from).map(String::from)
}

/// Reads a list of ids, if there is one.
pub(super) fn ids<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    let ids: Option<Vec<Id>> = Option::deserialize(from)?;
    Ok(ids.map(|ids| ids.into_iter().map(String::from).collect()))
}
