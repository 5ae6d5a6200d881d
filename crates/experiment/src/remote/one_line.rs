//! Sanitised text from sites, for logs.

/// The longest text, in characters.
const LONGEST: usize = 400;

/// Returns text of a site as one line of bounded length, so that no site can forge log lines of
/// another.
pub fn one_line(text: &str) -> String {
    let mut line = String::new();
    for letter in text.chars().take(LONGEST) {
        if plain(letter) { line.push(letter) } else { line.extend(letter.escape_default()) }
    }
    if text.chars().nth(LONGEST).is_some() {
        line.push('…');
    }
    line
}

/// Whether a character is visible, and neither controls the terminal nor changes the direction of
/// writing.
fn plain(letter: char) -> bool {
    let hidden = matches!(
        letter,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{2064}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    );
    let turns = matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks = matches!(letter, '\u{2028}' | '\u{2029}');
    !(letter.is_control() || turns || breaks || hidden)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_one_line() {
        assert_eq!(one_line("klinik süd: it failed"), "klinik süd: it failed");
        let forged = one_line("x\nround 1: a does not count\u{1b}[31m\u{202e}");
        assert_eq!(forged, "x\\nround 1: a does not count\\u{1b}[31m\\u{202e}");
        assert_eq!(one_line("a\u{200b}b\u{feff}"), "a\\u{200b}b\\u{feff}");
        let long = one_line(&"ä".repeat(100_000));
        assert_eq!(long.chars().count(), LONGEST + 1);
    }
}
