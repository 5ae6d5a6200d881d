//! Selections of ids, such as `1-10,12`.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The largest number of ids in one range.
const LARGEST_RANGE: u64 = 100_000;

/// Ids in order: numbers, ranges of numbers, or words, separated by commas.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Selection {
    text: String,
    ids: Vec<String>,
}

impl Selection {
    /// The ids.
    pub fn ids(&self) -> &[String] {
        &self.ids
    }
}

impl FromStr for Selection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut ids = Vec::new();
        for piece in text.split(',').map(str::trim) {
            if piece.is_empty() {
                return Err(format!("`{text}` has an empty piece; write something like 1-10,12"));
            }
            let range = piece.split_once('-').map(|(a, b)| (a.parse::<u64>(), b.parse::<u64>()));
            match range {
                Some((Ok(first), Ok(last))) => {
                    if first > last {
                        return Err(format!("the range `{piece}` ends before it begins"));
                    }
                    if last - first >= LARGEST_RANGE {
                        return Err(format!("the range `{piece}` has more than {LARGEST_RANGE} members"));
                    }
                    ids.extend((first..=last).map(|id| id.to_string()));
                }
                _ => ids.push(piece.to_owned()),
            }
        }
        let mut seen = std::collections::HashSet::new();
        if let Some(twice) = ids.iter().find(|id| !seen.insert(*id)) {
            return Err(format!("`{text}` names {twice} twice"));
        }
        Ok(Self { text: text.to_owned(), ids })
    }
}

impl TryFrom<String> for Selection {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Selection> for String {
    fn from(selection: Selection) -> Self {
        selection.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_numbers_and_words() {
        let ids = |text: &str| text.parse::<Selection>().map(|selection| selection.ids);
        assert_eq!(ids("1-3, 7,A01").unwrap(), ["1", "2", "3", "7", "A01"]);
        assert_eq!(ids("3-1").unwrap_err(), "the range `3-1` ends before it begins");
        assert_eq!(ids("1,,2").unwrap_err(), "`1,,2` has an empty piece; write something like 1-10,12");
        assert_eq!(ids("1-3,2").unwrap_err(), "`1-3,2` names 2 twice");
        assert_eq!(ids("0-99999999").unwrap_err(), "the range `0-99999999` has more than 100000 members");
    }
}
