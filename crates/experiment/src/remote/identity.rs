//! The identity of a run, which differs even between runs of the same configuration.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::str::FromStr;

use fedspd_run::{RunFolder, atomic};

use crate::Error;

/// 32 random hexadecimal digits, drawn with a new run folder. They name the state folders of the
/// sites; nothing else depends on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity(String);

impl Identity {
    /// Draws a new identity. The standard library seeds its hashes from the system's entropy.
    pub(super) fn draw() -> Self {
        let [high, low] = [0, 1].map(|half: u64| RandomState::new().hash_one(half));
        Self(format!("{high:016x}{low:016x}"))
    }

    pub(super) fn read(folder: &RunFolder) -> Result<Self, Error> {
        let path = folder.identity();
        let text =
            std::fs::read_to_string(&path).map_err(|source| fedspd_run::Error::File { path, source })?;
        text.trim_end().parse()
    }

    pub(super) fn write(&self, folder: &RunFolder) -> Result<(), Error> {
        Ok(atomic::write(&folder.identity(), format!("{self}\n").as_bytes())?)
    }
}

impl FromStr for Identity {
    type Err = Error;

    /// Parses an identity. It accepts no character with a meaning in paths, because sites use it as
    /// the name of a folder.
    fn from_str(text: &str) -> Result<Self, Error> {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        if digits && text.len() == 32 {
            return Ok(Self(text.to_owned()));
        }
        let shown: String = text.chars().take(40).collect();
        Err(Error::Message {
            fault: format!("the identity of the run is {shown:?}, which is not 32 hexadecimal digits"),
        })
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_are_the_same_and_each_is_read_again() {
        let (one, other) = (Identity::draw(), Identity::draw());
        assert_ne!(one, other);
        assert_eq!(one.to_string().parse::<Identity>().unwrap(), one);
    }

    #[test]
    fn nothing_else_is_accepted() {
        let uppercase = "A".repeat(32);
        for text in ["", "../../../../etc/cron.d/0123456789", "0123", &uppercase, &"0".repeat(33)] {
            assert!(text.parse::<Identity>().is_err(), "{text}");
        }
    }
}
