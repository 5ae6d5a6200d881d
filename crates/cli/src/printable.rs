//! Texts of files and servers, made safe for a terminal.

/// Escapes control characters, because a name must not start a new line or change colours.
pub(crate) fn printable(text: &str) -> String {
    escaped(text, char::is_control)
}

/// Escapes control characters in a message, which may have several lines.
pub(crate) fn printable_lines(text: &str) -> String {
    escaped(text, |letter| letter.is_control() && letter != '\n')
}

fn escaped(text: &str, control: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if control(letter) { out.extend(letter.escape_default()) } else { out.push(letter) }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_written_out() {
        assert_eq!(printable("C3\n\u{1b}[31m\u{9b}µV"), "C3\\n\\u{1b}[31m\\u{9b}µV");
        assert_eq!(printable_lines("line 1\n\u{7}"), "line 1\n\\u{7}");
    }
}
