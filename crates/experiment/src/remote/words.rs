//! What sites say in words, fit for a log that others read.

/// As long as a sentence may be.
const LONGEST: usize = 400;

/// What a site says, as one line of bounded length: nobody writes lines into the log that seem to be another's.
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

/// Neither a control character nor one that turns what follows it around.
fn plain(letter: char) -> bool {
    let turns = matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks = matches!(letter, '\u{2028}' | '\u{2029}');
    !(letter.is_control() || turns || breaks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_one_line() {
        assert_eq!(one_line("klinik süd: it failed"), "klinik süd: it failed");
        let forged = one_line("x\nround 1: a does not count\u{1b}[31m\u{202e}");
        assert_eq!(forged, "x\\nround 1: a does not count\\u{1b}[31m\\u{202e}");
        let long = one_line(&"ä".repeat(100_000));
        assert_eq!(long.chars().count(), LONGEST + 1);
    }
}
