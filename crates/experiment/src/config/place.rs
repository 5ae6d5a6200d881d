//! Places of keys and values.

use std::fmt;

/// Place of a key or a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a file. Lines and columns count from one, columns in characters.
    File {
        /// The file.
        file: String,
        /// Its line.
        line: usize,
        /// The column in the line.
        column: usize,
    },
    /// In an override.
    Override(String),
    /// In a configuration made by a program.
    Program,
}

impl Place {
    /// Returns the place of the byte at an offset.
    pub(crate) fn of_offset(file: &str, text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or(before).chars().count() + 1;
        Self::File { file: file.to_owned(), line, column }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { file, line, column } => write!(f, "{file}, line {line}, column {column}"),
            Self::Override(text) => write!(f, "the override `{text}`"),
            Self::Program => f.write_str("the configuration"),
        }
    }
}
