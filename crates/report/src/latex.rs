//! Text in LaTeX.

/// Escapes text so that LaTeX reads no part of it as a command.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // At the start of a row, LaTeX would read it as an option of the previous command.
    if text.starts_with(['[', '*']) {
        out.push_str("{}");
    }
    for letter in text.chars() {
        match letter {
            '\\' => out.push_str("\\textbackslash{}"),
            '{' | '}' | '$' | '&' | '#' | '_' | '%' => out.extend(['\\', letter]),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '±' => out.push_str("$\\pm$"),
            '−' => out.push_str("$-$"),
            '–' => out.push_str("--"),
            'κ' => out.push_str("$\\kappa$"),
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}
