//! A parsed configuration with the place of every key and value.

use std::sync::Arc;

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Value};

use super::error::ConfigError;
use super::place::{Lines, Place};

/// The longest value in a message, in characters.
const SHOWN: usize = 60;

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) place: Place,
    /// The text of the value.
    pub(crate) shown: String,
    pub(crate) value: Kind,
}

/// The content of a node.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Entries in the order of the file, so that the first fault is reported first.
    Table(Vec<Entry>),
    Array(Vec<Node>),
    Leaf(Value),
}

/// A key of a table.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    /// Place of the key. The node has the place of the value.
    pub(crate) place: Place,
    pub(crate) node: Node,
}

/// A text with named places.
pub(crate) trait Origin {
    /// Returns the place of the byte at an offset.
    fn place(&self, offset: usize) -> Place;
    /// Returns the text.
    fn text(&self) -> &str;
}

impl Origin for Lines<'_> {
    fn place(&self, offset: usize) -> Place {
        self.place(offset)
    }

    fn text(&self) -> &str {
        self.text()
    }
}

/// The value of an override.
pub(crate) struct Right<'a> {
    /// The whole override.
    pub(crate) whole: Arc<str>,
    /// The text after the equals sign.
    pub(crate) text: &'a str,
}

impl Origin for Right<'_> {
    fn place(&self, _: usize) -> Place {
        Place::Override(Arc::clone(&self.whole))
    }

    fn text(&self) -> &str {
        self.text
    }
}

impl Node {
    /// Parses a file.
    ///
    /// # Errors
    /// [`ConfigError::Syntax`], and [`ConfigError::Value`] for an integer beyond 64 bits.
    pub(crate) fn parse(file: &Lines<'_>) -> Result<Self, ConfigError> {
        let table = DeTable::parse(file.text()).map_err(|error| ConfigError::Syntax {
            place: Box::new(file.place(error.span().map_or(0, |span| span.start))),
            fault: error.message().to_owned(),
        })?;
        let value = Self::table(file, table.get_ref(), "")?;
        Ok(Self { value, ..Self::empty_table(file.place(0)) })
    }

    /// Converts a value of TOML.
    ///
    /// # Errors
    /// [`ConfigError::Value`] for an integer beyond 64 bits.
    pub(crate) fn new(
        origin: &impl Origin,
        value: &Spanned<DeValue<'_>>,
        path: &str,
    ) -> Result<Self, ConfigError> {
        let place = origin.place(value.span().start);
        // The span of a table is its header or its whole content. A message should show neither.
        let shown = match value.get_ref() {
            DeValue::Table(_) => "a table".to_owned(),
            _ => abridged(origin.text().get(value.span()).unwrap_or_default()),
        };
        let beyond = |expected: &str| ConfigError::Value {
            key: path.to_owned(),
            value: shown.clone(),
            place: Box::new(place.clone()),
            expected: expected.to_owned(),
            hint: None,
        };
        let value = match value.get_ref() {
            DeValue::String(text) => Kind::Leaf(Value::String(text.clone().into_owned())),
            DeValue::Integer(number) => Kind::Leaf(Value::Integer(
                i64::from_str_radix(number.as_str(), number.radix())
                    .map_err(|_| beyond(&format!("a whole number between {} and {}", i64::MIN, i64::MAX)))?,
            )),
            DeValue::Float(number) => {
                Kind::Leaf(Value::Float(number.as_str().parse().map_err(|_| beyond("a number"))?))
            }
            DeValue::Boolean(truth) => Kind::Leaf(Value::Boolean(*truth)),
            DeValue::Datetime(time) => Kind::Leaf(Value::Datetime(*time)),
            DeValue::Array(items) => Kind::Array(
                items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| Self::new(origin, item, &item_path(path, index)))
                    .collect::<Result<_, _>>()?,
            ),
            DeValue::Table(table) => Self::table(origin, table, path)?,
        };
        Ok(Self { place, shown, value })
    }

    fn table(origin: &impl Origin, table: &DeTable<'_>, path: &str) -> Result<Kind, ConfigError> {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let entry = |(key, value): (&Spanned<_>, &Spanned<_>)| {
            let name: &str = AsRef::<str>::as_ref(key.get_ref());
            Ok(Entry {
                key: name.to_owned(),
                place: origin.place(key.span().start),
                node: Self::new(origin, value, &key_path(path, name))?,
            })
        };
        entries.into_iter().map(entry).collect::<Result<_, _>>().map(Kind::Table)
    }

    /// Converts a value that a program made.
    pub(crate) fn of_program(value: Value) -> Self {
        let shown = abridged(&value.to_string());
        let value = match value {
            Value::Table(table) => Kind::Table(
                table
                    .into_iter()
                    .map(|(key, value)| Entry { key, place: Place::Program, node: Self::of_program(value) })
                    .collect(),
            ),
            Value::Array(items) => Kind::Array(items.into_iter().map(Self::of_program).collect()),
            leaf => Kind::Leaf(leaf),
        };
        Self { place: Place::Program, shown, value }
    }

    /// Finds the node at the end of a path. Steps into a list are numbers.
    pub(crate) fn find<S: AsRef<str>>(&self, path: &[S]) -> Option<&Self> {
        let Some((step, rest)) = path.split_first() else { return Some(self) };
        let step = step.as_ref();
        let next = match &self.value {
            Kind::Table(entries) => entries.iter().find(|entry| entry.key == step).map(|entry| &entry.node),
            Kind::Array(items) => step.parse::<usize>().ok().and_then(|index| items.get(index)),
            Kind::Leaf(_) => None,
        };
        next.and_then(|next| next.find(rest))
    }

    /// Replaces the node at the end of a path.
    pub(crate) fn replace(&mut self, path: &[String], node: Self) {
        let Some((step, rest)) = path.split_first() else {
            *self = node;
            return;
        };
        if !matches!(self.value, Kind::Table(_)) {
            *self = Self::empty_table(node.place.clone());
        }
        let Kind::Table(entries) = &mut self.value else { return };
        let place = node.place.clone();
        if let Some(entry) = entries.iter_mut().find(|entry| entry.key == *step) {
            // A message about the key must now name the override.
            if rest.is_empty() {
                entry.place = place;
            }
            entry.node.replace(rest, node);
            return;
        }
        let mut inner = Self::empty_table(place.clone());
        inner.replace(rest, node);
        entries.push(Entry { key: step.clone(), place, node: inner });
    }

    fn empty_table(place: Place) -> Self {
        Self { place, shown: "a table".to_owned(), value: Kind::Table(Vec::new()) }
    }

    /// Returns the value without places.
    pub(crate) fn to_value(&self) -> Value {
        match &self.value {
            Kind::Table(entries) => {
                Value::Table(entries.iter().map(|entry| (entry.key.clone(), entry.node.to_value())).collect())
            }
            Kind::Array(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            Kind::Leaf(value) => value.clone(),
        }
    }
}

/// Returns the path of a key in a table, quoted where TOML needs it.
pub(crate) fn key_path(table: &str, key: &str) -> String {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let key = if bare { key.to_owned() } else { format!("{key:?}") };
    if table.is_empty() { key } else { format!("{table}.{key}") }
}

/// Returns the path of an item of a list.
pub(crate) fn item_path(list: &str, index: usize) -> String {
    format!("{list}[{index}]")
}

/// Shortens text to one line. It reads no more of a long text than it shows.
fn abridged(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if let Some((end, _)) = line.char_indices().nth(SHOWN) {
            line.truncate(end);
            line.push_str("...");
            break;
        }
    }
    line
}
