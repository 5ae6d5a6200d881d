//! Conflicts between values.

use fedspd_eeg::filter::Band;

use super::error::ConfigError;
use super::place::Place;
use super::tree::Node;

/// A conflict between values, without its place.
#[derive(Debug)]
pub(crate) struct Conflict {
    /// Paths of the values. The first one in the file gives the place.
    paths: Vec<Vec<String>>,
    found: String,
    rule: String,
    hint: Option<String>,
}

impl Conflict {
    /// Creates a conflict from the value at a path and the rule that it breaks.
    pub(crate) fn new(path: &[&str], found: impl Into<String>, rule: impl Into<String>) -> Self {
        Self { paths: Vec::new(), found: found.into(), rule: rule.into(), hint: None }.or_at(path)
    }

    /// Adds a path, for when the file has none of the paths so far.
    pub(crate) fn or_at(mut self, path: &[&str]) -> Self {
        self.paths.push(path.iter().map(|&step| step.to_owned()).collect());
        self
    }

    /// Adds a hint.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Returns the error with its place.
    pub(crate) fn locate(self, root: &Node) -> ConfigError {
        let node = self.paths.iter().find_map(|path| root.find(path));
        ConfigError::Conflict {
            found: self.found,
            place: Box::new(node.map_or(Place::Program, |node| node.place.clone())),
            rule: self.rule,
            hint: self.hint,
        }
    }
}

/// Checks that an interval begins before it ends.
pub(crate) fn check_interval(path: &[&str], name: &str, [start, end]: [f64; 2]) -> Result<(), Conflict> {
    if start < end {
        return Ok(());
    }
    Err(Conflict::new(path, format!("`{name}` is [{start}, {end}]"), "it must begin before it ends"))
}

/// Checks that a band of frequencies begins above 0 Hz and before it ends.
pub(crate) fn check_band(path: &[&str], name: &str, [low, high]: [f64; 2]) -> Result<(), Conflict> {
    let Some(rule) = Band { low, high }.fault() else { return Ok(()) };
    let conflict = Conflict::new(path, format!("`{name}` is [{low}, {high}]"), rule);
    Err(if high > 0.0 && high < low { conflict.hint(format!("write [{high}, {low}]")) } else { conflict })
}
