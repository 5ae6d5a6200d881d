//! Keys of a definition: the schema, and unknown keys with their places.

use schemars::generate::SchemaSettings;
use serde_json::Value as Json;
use toml::de::{DeTable, DeValue};

use super::Definition;
use crate::nearest;

/// An unknown key of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownKey {
    /// The key with its tables.
    pub key: String,
    /// Its line, counted from one.
    pub line: usize,
    /// Its column, counted from one in characters.
    pub column: usize,
    /// The most similar key of the table.
    pub nearest: Option<String>,
    /// The table, empty for the top of the file.
    pub table: String,
    /// The keys of the table.
    pub choices: Vec<String>,
}

impl UnknownKey {
    /// Finds the first unknown key of a text; none if the text is not TOML.
    pub(super) fn find(text: &str) -> Option<Self> {
        let table = DeTable::parse(text).ok()?;
        unknown(&Definition::schema(), table.get_ref(), "").map(|(offset, mut unknown)| {
            (unknown.line, unknown.column) = line_and_column(text, offset);
            unknown
        })
    }

    /// Names the similar key and the keys of the table.
    pub(crate) fn hint(&self) -> String {
        let keys = self.choices.join(", ");
        let keys = match &*self.table {
            "" => format!("the top-level keys are {keys}"),
            table => format!("the keys of [{table}] are {keys}"),
        };
        self.nearest.as_ref().map_or(keys.clone(), |nearest| format!("did you mean `{nearest}`? {keys}"))
    }
}

impl Definition {
    /// Returns the JSON Schema (draft 2020-12) of a definition.
    pub fn schema() -> Json {
        let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
        settings.into_generator().into_root_schema_for::<Self>().to_value()
    }
}

/// Returns line and column of the byte at an offset, both counted from one.
pub(super) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let column = before.rsplit('\n').next().unwrap_or(before).chars().count() + 1;
    (before.matches('\n').count() + 1, column)
}

/// Finds the first unknown key of a table, with its offset. Tables without a list of keys may have
/// any key.
fn unknown(schema: &Json, table: &DeTable<'_>, path: &str) -> Option<(usize, UnknownKey)> {
    let keys = schema.get("properties")?.as_object()?;
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries.into_iter().find_map(|(key, value)| {
        let name: &str = key.get_ref().as_ref();
        let whole = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let Some(schema) = keys.get(name) else {
            let choices: Vec<String> = keys.keys().cloned().collect();
            let nearest = nearest(name, choices.iter().map(String::as_str)).map(str::to_owned);
            let (line, column, table) = (0, 0, path.to_owned());
            let unknown = UnknownKey { key: whole, line, column, nearest, table, choices };
            return Some((key.span().start, unknown));
        };
        match value.get_ref() {
            DeValue::Table(inner) => unknown(schema, inner, &whole),
            DeValue::Array(items) => items.iter().find_map(|item| match item.get_ref() {
                DeValue::Table(inner) => unknown(&schema["items"], inner, &whole),
                _ => None,
            }),
            _ => None,
        }
    })
}
