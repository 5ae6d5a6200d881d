//! Sweeps: several values of one setting, compared on validation trials.

use fedspd_run::Summary;

use crate::config::{Config, ConfigError, Override};

/// Values of a setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// The key, such as `model.dims`.
    pub key: String,
    /// Its values, in order.
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
        let twice = (1..values.len()).find(|&place| values[..place].contains(&values[place]));
        if let Some(place) = twice {
            return Err(format!("`{text}` has the value `{}` twice", values[place]));
        }
        Ok(Self { key: key.trim().to_owned(), values })
    }
}

/// Splits text at the commas outside of brackets.
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
    /// Applies one of the values. If the key expects a list, a single value becomes a list:
    /// `model.dims=12` means `model.dims=[12]`.
    ///
    /// # Errors
    /// Those of `parse`.
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

/// Returns the index of the first score with the largest mean. If the values ascend, it is the
/// smallest such value, the paper's rule for `d`.
pub fn choice(scores: &[Summary]) -> Option<usize> {
    let better = |best: Option<usize>, (place, score): (usize, &Summary)| match best {
        Some(best) if score.mean <= scores[best].mean => Some(best),
        _ => Some(place),
    };
    scores.iter().enumerate().filter(|(_, score)| !score.mean.is_nan()).fold(None, better)
}
