//! One setting, several values: which is best on validation trials.

use fedspd_run::Summary;

use crate::config::{Config, ConfigError, Override};

/// The values of a setting that are tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// The key, such as `model.dims`.
    pub key: String,
    /// What it is set to, in turn.
    pub values: Vec<String>,
}

impl std::str::FromStr for Sweep {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fault = || format!("`{text}` is not of the form KEY=VALUE,VALUE,...");
        let (key, values) = text.split_once('=').ok_or_else(fault)?;
        let values: Vec<String> =
            split_outside_brackets(values).into_iter().map(|value| value.trim().to_owned()).collect();
        if key.trim().is_empty() || values.iter().any(String::is_empty) {
            return Err(fault());
        }
        Ok(Self { key: key.trim().to_owned(), values })
    }
}

/// The parts between commas that are not within a list.
fn split_outside_brackets(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (place, character) in text.char_indices() {
        match character {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..place]);
                start = place + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

impl Sweep {
    /// The change for one of the values. Where a list is expected, one value stands for a list of one: `model.dims=12` is `model.dims=[12]`.
    ///
    /// # Errors
    /// As `parse` finds the configuration with it.
    pub fn change<E: From<ConfigError>>(
        &self,
        value: &str,
        parse: impl Fn(Override) -> Result<Config, E>,
    ) -> Result<Config, E> {
        let plain: Override = format!("{}={value}", self.key).parse()?;
        parse(plain).or_else(|fault| {
            let list: Override = format!("{}=[{value}]", self.key).parse()?;
            parse(list).map_err(|_| fault)
        })
    }
}

/// Which of some scores is chosen: the first with the largest mean, which is the smallest value where values ascend (the paper's rule for `d`).
pub fn choice(scores: &[Summary]) -> Option<usize> {
    let better = |best: Option<usize>, (place, score): (usize, &Summary)| match best {
        Some(best) if score.mean <= scores[best].mean => Some(best),
        _ => Some(place),
    };
    scores.iter().enumerate().filter(|(_, score)| !score.mean.is_nan()).fold(None, better)
}
