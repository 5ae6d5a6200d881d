//! Places of keys and values.

use std::fmt;
use std::sync::Arc;

/// Place of a key or a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a file. Lines and columns count from one, columns in characters.
    File {
        /// The file.
        file: Arc<str>,
        /// Its line.
        line: usize,
        /// The column in the line.
        column: usize,
    },
    /// In an override.
    Override(Arc<str>),
    /// In a configuration made by a program.
    Program,
}

/// Finds the places of bytes in a text. It reads the text once, and few bytes for each place.
pub(crate) struct Lines<'a> {
    file: Arc<str>,
    text: &'a str,
    /// The offset of each line.
    starts: Vec<usize>,
    /// The number of characters before every [`STRIDE`]th byte.
    characters: Vec<usize>,
}

/// Bytes from one stored count of characters to the next.
const STRIDE: usize = 64;

impl<'a> Lines<'a> {
    pub(crate) fn new(file: &str, text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let starts = std::iter::once(0).chain(ends.map(|(end, _)| end + 1)).collect();
        let counts = text.as_bytes().chunks(STRIDE).scan(0, |before, chunk| {
            let count = *before;
            *before += characters(chunk);
            Some(count)
        });
        Self { file: file.into(), text, starts, characters: counts.collect() }
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// Returns the place of the byte at an offset.
    pub(crate) fn place(&self, offset: usize) -> Place {
        let offset = offset.min(self.text.len());
        // The first line begins at 0.
        let line = self.starts.partition_point(|&start| start <= offset).max(1);
        let column = self.characters_before(offset) - self.characters_before(self.starts[line - 1]) + 1;
        Place::File { file: Arc::clone(&self.file), line, column }
    }

    fn characters_before(&self, offset: usize) -> usize {
        let chunk = offset / STRIDE;
        let Some(before) = self.characters.get(chunk) else {
            // The offset is the end of the text.
            return self.text.chars().count();
        };
        before + characters(&self.text.as_bytes()[chunk * STRIDE..offset])
    }
}

/// Counts the characters that begin in these bytes of a text.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0b1100_0000 != 0b1000_0000).count()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with a search from the beginning, in lines of all lengths around the stride.
    #[test]
    fn places_count_lines_and_characters() {
        let lines = (0..3 * STRIDE)
            .map(|length| format!("{}\n", "aé€𝄞".chars().cycle().take(length).collect::<String>()));
        for text in [lines.collect::<String>(), String::new(), "a".repeat(STRIDE), "\n\n".into(), "é".into()]
        {
            let lines = Lines::new("file", &text);
            for (offset, _) in text.char_indices().chain([(text.len(), ' ')]) {
                let before = &text[..offset];
                let line = before.matches('\n').count() + 1;
                let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
                assert_eq!(lines.place(offset), Place::File { file: "file".into(), line, column });
            }
            // A place beyond the text is its end.
            assert_eq!(lines.place(text.len() + 9), lines.place(text.len()));
        }
    }
}
