//! `run.seeds`: seeds, one run each.

use std::borrow::Cow;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// The largest number of seeds. More are probably a typing error.
const MOST: u64 = 10_000;
/// The largest seed: the largest integer of TOML.
const LARGEST: u64 = i64::MAX as u64;

/// Seeds, one run each, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Seeds(Vec<u64>);

/// The forms in a file: a list, a number or text.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    List(Vec<u64>),
    One(u64),
    Text(String),
}

impl Seeds {
    /// Checks a list of seeds.
    ///
    /// # Errors
    /// A message if the list is empty or too long, or if a seed appears twice or is too large.
    pub fn new(seeds: Vec<u64>) -> Result<Self, String> {
        if seeds.is_empty() {
            return Err("the list is empty".to_owned());
        }
        if seeds.len() as u64 > MOST {
            return Err(format!("there are {} seeds, more than {MOST}", seeds.len()));
        }
        let mut seen = std::collections::HashSet::new();
        if let Some(twice) = seeds.iter().find(|seed| !seen.insert(**seed)) {
            return Err(format!("seed {twice} appears twice"));
        }
        match seeds.iter().find(|seed| **seed > LARGEST) {
            Some(large) => Err(format!("seed {large} is above {LARGEST}")),
            None => Ok(Self(seeds)),
        }
    }

    /// Returns the seeds.
    pub fn as_slice(&self) -> &[u64] {
        &self.0
    }
}

impl Default for Seeds {
    fn default() -> Self {
        Self(vec![0])
    }
}

/// `0..3` is 0, 1 and 2; `4` is one seed; `0,2,5..8` is a list of both.
impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            text.trim()
                .parse::<u64>()
                .map_err(|_| format!("`{}` is not a whole number of at least 0", text.trim()))
        };
        let mut seeds = Vec::new();
        for item in text.split(',') {
            let Some((first, end)) = item.split_once("..") else {
                seeds.push(number(item)?);
                continue;
            };
            let (first, end) = (number(first)?, number(end)?);
            if first >= end {
                return Err(format!("the range {first}..{end} is empty, because its end is excluded"));
            }
            if end - first > MOST {
                return Err(format!("the range {first}..{end} has {} seeds, more than {MOST}", end - first));
            }
            seeds.extend(first..end);
        }
        Self::new(seeds)
    }
}

impl TryFrom<Written> for Seeds {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        match written {
            Written::List(seeds) => Self::new(seeds),
            Written::One(seed) => Self::new(vec![seed]),
            Written::Text(text) => text.parse(),
        }
    }
}

impl From<Seeds> for Written {
    fn from(seeds: Seeds) -> Self {
        Self::List(seeds.0)
    }
}

impl JsonSchema for Seeds {
    fn schema_name() -> Cow<'static, str> {
        "Seeds".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let seed = json_schema!({ "type": "integer", "minimum": 0, "maximum": LARGEST });
        json_schema!({ "anyOf": [
            { "type": "array", "format": "seeds", "items": seed, "minItems": 1, "maxItems": MOST, "uniqueItems": true },
            seed,
            { "type": "string", "format": "seeds", "pattern": r"^\s*\d+\s*(\.\.\s*\d+\s*)?(,\s*\d+\s*(\.\.\s*\d+\s*)?)*$" },
        ]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_single_seeds() {
        let seeds = |text: &str| text.parse::<Seeds>().map(|seeds| seeds.0);
        assert_eq!(seeds("0..3"), Ok(vec![0, 1, 2]));
        assert_eq!(seeds("4"), Ok(vec![4]));
        assert_eq!(seeds("0,1, 2"), Ok(vec![0, 1, 2]));
        assert_eq!(seeds("7,0..3"), Ok(vec![7, 0, 1, 2]));
        assert_eq!(seeds("0..3,2").unwrap_err(), "seed 2 appears twice");
        assert_eq!(seeds("0,").unwrap_err(), "`` is not a whole number of at least 0");
        assert_eq!(seeds("3..3").unwrap_err(), "the range 3..3 is empty, because its end is excluded");
        assert_eq!(seeds("a").unwrap_err(), "`a` is not a whole number of at least 0");
        assert_eq!(seeds("0..20000").unwrap_err(), "the range 0..20000 has 20000 seeds, more than 10000");
        assert_eq!(Seeds::new(vec![1, 2, 1]).unwrap_err(), "seed 1 appears twice");
        assert_eq!(Seeds::new(vec![]).unwrap_err(), "the list is empty");
    }
}
