//! Overrides of the command line: `--set a.b=c`.

use std::str::FromStr;

use toml::Value;
use toml::de::{DeTable, DeValue};

use super::error::ConfigError;
use super::place::Place;
use super::rules::Rules;
use super::tree::{Kind, Node, Right, key_path};

/// A value that replaces one of the file, written `a.b=c`.
///
/// The text after the equals sign is TOML. A word that is not TOML is text, so that
/// `federated.aggregation=rl-avg` needs no quotes.
#[derive(Clone, Debug)]
pub struct Override {
    /// The whole override, for messages.
    whole: String,
    path: Vec<String>,
    /// The text after the equals sign.
    text: String,
    node: Node,
}

impl Override {
    /// Returns the key, such as `federated.rounds`.
    pub fn key(&self) -> String {
        self.path.join(".")
    }

    /// Whether it sets this key or a table that contains it.
    pub fn is_of(&self, key: &[&str]) -> bool {
        self.path.len() <= key.len() && self.path.iter().zip(key).all(|(step, other)| step == other)
    }

    /// Puts the value into a configuration.
    pub(crate) fn apply(&self, root: &mut Node, rules: &Rules) {
        let mut node = self.node.clone();
        // If a key takes only text, `data.subjects=4` means the text "4".
        if !matches!(node.value, Kind::Leaf(Value::String(_))) && rules.wants_text(&self.path) {
            node.value = Kind::Leaf(Value::String(self.text.clone()));
        }
        root.replace(&self.path, node);
    }
}

impl FromStr for Override {
    type Err = ConfigError;

    fn from_str(whole: &str) -> Result<Self, ConfigError> {
        let refuse = |fault| ConfigError::Override { text: whole.to_owned(), fault };
        let (key, text) = whole.split_once('=').ok_or_else(|| refuse("no equals sign"))?;
        let (key, text) = (key.trim(), text.trim());
        if key.is_empty() {
            return Err(refuse("no key before the equals sign"));
        }
        if text.is_empty() {
            return Err(refuse("no value after the equals sign"));
        }
        let path = path(key).ok_or_else(|| refuse("an invalid key before the equals sign"))?;
        let dotted = path.iter().fold(String::new(), |path, step| key_path(&path, step));
        let node = match DeValue::parse(text) {
            Ok(value) => Node::new(&Right { whole: whole.into(), text }, &value, &dotted)?,
            Err(_) => Node {
                place: Place::Override(whole.into()),
                shown: format!("{text:?}"),
                value: Kind::Leaf(Value::String(text.to_owned())),
            },
        };
        Ok(Self { whole: whole.to_owned(), path, text: text.to_owned(), node })
    }
}

impl std::fmt::Display for Override {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.whole)
    }
}

/// Splits a dotted key into its steps.
fn path(key: &str) -> Option<Vec<String>> {
    let document = format!("{key} = 0");
    let mut table = DeTable::parse(&document).ok()?.into_inner();
    let mut steps = Vec::new();
    loop {
        let (step, value) = table.into_iter().next()?;
        steps.push(step.into_inner().into_owned());
        match value.into_inner() {
            DeValue::Table(inner) => table = inner,
            _ => return Some(steps),
        }
    }
}
