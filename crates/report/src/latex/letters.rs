//! Text in LaTeX: plain ASCII, whatever the letters.

/// Accents with their commands: plain letters, and the same letters with the accent.
const ACCENTS: [(&str, &str, &str); 11] = [
    ("'", "aeiouyAEIOUYcnszlrCNSZLR", "áéíóúýÁÉÍÓÚÝćńśźĺŕĆŃŚŹĹŔ"),
    ("`", "aeiouAEIOU", "àèìòùÀÈÌÒÙ"),
    ("^", "aeiouAEIOUcghsSCGH", "âêîôûÂÊÎÔÛĉĝĥŝŜĈĜĤ"),
    ("\"", "aeiouyAEIOUY", "äëïöüÿÄËÏÖÜŸ"),
    ("~", "anoiuANOIU", "ãñõĩũÃÑÕĨŨ"),
    ("c", "cstCST", "çşţÇŞŢ"),
    ("v", "cdenrstzgCDENRSTZG", "čďěňřšťžǧČĎĚŇŘŠŤŽǦ"),
    ("=", "aeiouAEIOU", "āēīōūĀĒĪŌŪ"),
    ("u", "agAG", "ăğĂĞ"),
    (".", "zegcZEGCI", "żėġċŻĖĠĊİ"),
    ("H", "ouOU", "őűŐŰ"),
];

/// Greek letters with the names of their commands. Capitals that look like Latin letters are those.
const GREEK: [(char, &str); 34] = [
    ('α', "alpha"),
    ('β', "beta"),
    ('γ', "gamma"),
    ('δ', "delta"),
    ('ε', "varepsilon"),
    ('ζ', "zeta"),
    ('η', "eta"),
    ('θ', "theta"),
    ('ι', "iota"),
    ('κ', "kappa"),
    ('λ', "lambda"),
    ('μ', "mu"),
    ('µ', "mu"),
    ('ν', "nu"),
    ('ξ', "xi"),
    ('π', "pi"),
    ('ρ', "rho"),
    ('σ', "sigma"),
    ('ς', "varsigma"),
    ('τ', "tau"),
    ('υ', "upsilon"),
    ('φ', "varphi"),
    ('χ', "chi"),
    ('ψ', "psi"),
    ('ω', "omega"),
    ('Γ', "Gamma"),
    ('Δ', "Delta"),
    ('Θ', "Theta"),
    ('Λ', "Lambda"),
    ('Ξ', "Xi"),
    ('Π', "Pi"),
    ('Σ', "Sigma"),
    ('Φ', "Phi"),
    ('Ω', "Omega"),
];

/// Other letters and signs.
const SIGNS: [(char, &str); 62] = [
    ('\\', "\\textbackslash{}"),
    ('~', "\\textasciitilde{}"),
    ('^', "\\textasciicircum{}"),
    ('<', "$<$"),
    ('>', "$>$"),
    ('|', "$|$"),
    ('"', "''"),
    ('`', "\\textquoteleft{}"),
    ('‘', "\\textquoteleft{}"),
    ('’', "'"),
    ('“', "``"),
    ('”', "''"),
    ('„', ",,"),
    ('«', "$\\ll$"),
    ('»', "$\\gg$"),
    ('–', "--"),
    ('—', "---"),
    ('‐', "-"),
    ('‑', "-"),
    ('…', "\\dots{}"),
    ('±', "$\\pm$"),
    ('−', "$-$"),
    ('×', "$\\times$"),
    ('·', "$\\cdot$"),
    ('≥', "$\\geq$"),
    ('≤', "$\\leq$"),
    ('≈', "$\\approx$"),
    ('≠', "$\\neq$"),
    ('∞', "$\\infty$"),
    ('√', "$\\surd$"),
    ('→', "$\\rightarrow$"),
    ('←', "$\\leftarrow$"),
    ('°', "$^\\circ$"),
    ('ᵀ', "$^{\\mathsf T}$"),
    ('¹', "$^1$"),
    ('²', "$^2$"),
    ('³', "$^3$"),
    ('⁺', "$^+$"),
    ('⁻', "$^-$"),
    ('ⁿ', "$^n$"),
    ('\u{a0}', "~"),
    ('\u{2009}', "\\,"),
    ('\u{202f}', "\\,"),
    ('ß', "\\ss{}"),
    ('æ', "\\ae{}"),
    ('Æ', "\\AE{}"),
    ('œ', "\\oe{}"),
    ('Œ', "\\OE{}"),
    ('ø', "\\o{}"),
    ('Ø', "\\O{}"),
    ('å', "\\aa{}"),
    ('Å', "\\AA{}"),
    ('ł', "\\l{}"),
    ('Ł', "\\L{}"),
    ('ı', "\\i{}"),
    ('ů', "\\r{u}"),
    ('Ů', "\\r{U}"),
    ('§', "\\S{}"),
    ('©', "\\copyright{}"),
    ('€', "EUR"),
    ('¿', "?`"),
    ('¡', "!`"),
];

/// Letters with marks that the usual fonts lack, and the plain letters.
const PLAIN: (&str, &str) = ("ąęįųĄĘĮŲđĐðÐħĦňķļņĶĻŅģĢ", "aeiuAEIUdDdDhHnklnKLNgG");

/// Escapes text so that `pdflatex` prints it and reads no part of it as a command. The result is
/// plain ASCII. Letters that the usual fonts lack appear as their number, such as U+4F60.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // At the start of a row, LaTeX would read it as an option of the previous command.
    if text.starts_with(['[', '*']) {
        out.push_str("{}");
    }
    for letter in text.chars() {
        match letter {
            '{' | '}' | '$' | '&' | '#' | '_' | '%' => out.extend(['\\', letter]),
            // Two of them would become one sign.
            '-' | '\'' if out.ends_with(letter) => out.extend(['{', '}', letter]),
            letter if letter.is_control() => out.push(' '),
            letter => match named(letter) {
                Some(command) => out.push_str(&command),
                None if letter.is_ascii() => out.push(letter),
                None if is_invisible(letter) => {}
                None => out.push_str(&number(letter)),
            },
        }
    }
    out
}

/// Returns the number of a letter, for letters without a command.
fn number(letter: char) -> String {
    format!("U+{:04X}", u32::from(letter))
}

/// Combining accents, joiners and marks of direction: the text is legible without them.
fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

/// Returns the command of a letter, if it has one.
fn named(letter: char) -> Option<String> {
    if letter.is_ascii_alphanumeric() {
        return None;
    }
    if let Some((_, command)) = SIGNS.iter().find(|(sign, _)| *sign == letter) {
        return Some((*command).to_owned());
    }
    if let Some((_, name)) = GREEK.iter().find(|(sign, _)| *sign == letter) {
        return Some(format!("$\\{name}$"));
    }
    if let Some(place) = PLAIN.0.chars().position(|marked| marked == letter) {
        return PLAIN.1.chars().nth(place).map(String::from);
    }
    ACCENTS.iter().find_map(|(accent, plain, accented)| {
        let place = accented.chars().position(|marked| marked == letter)?;
        // The dot of an i gives way to the accent.
        Some(match plain.chars().nth(place)? {
            'i' => format!("\\{accent}{{\\i}}"),
            plain => format!("\\{accent}{{{plain}}}"),
        })
    })
}

/// Estimates the width of text in points, for the usual fonts of 10 points. Text is rarely wider.
pub(super) fn width(text: &str) -> f64 {
    let of = |letter: char| match letter {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '!' | '|' => 2.8,
        ' ' | '-' | '‐' | '\u{a0}' => 3.4,
        'f' | 't' | 'r' | 's' | 'I' | '(' | ')' | '[' | ']' | '/' => 4.0,
        'm' | 'w' | '%' | '±' | '−' | '×' | '≥' | '≤' | '≈' | '…' => 8.4,
        'M' | 'W' => 10.3,
        letter if letter.is_ascii_lowercase() || letter.is_ascii_digit() => 5.3,
        letter if letter.is_ascii_uppercase() => 7.8,
        letter if letter.is_ascii() => 7.8,
        letter if is_invisible(letter) => 0.0,
        letter if named(letter).is_some() => 7.8,
        letter => 6.4 * number(letter).len() as f64,
    };
    text.chars().map(of).sum()
}

/// Escapes text with places where a line may end in long words, such as hashes and paths.
pub(super) fn breakable(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        let letters: Vec<char> = word.chars().collect();
        if width(word) <= LONGEST_WORD {
            return escape(word);
        }
        let parts = letters.chunks(6).map(|part| escape(&part.iter().collect::<String>()));
        parts.collect::<Vec<_>>().join("\\allowbreak{}")
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The widest word that is kept whole, in points.
pub(super) const LONGEST_WORD: f64 = 60.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_plain_ascii_and_no_command() {
        for (text, expected) in [
            ("a_b 5% {x} $1 & #2", "a\\_b 5\\% \\{x\\} \\$1 \\& \\#2"),
            ("|WᵀW − I| ≥ 2×10 …", "$|$W$^{\\mathsf T}$W $-$ I$|$ $\\geq$ 2$\\times$10 \\dots{}"),
            ("“it’s” \"x\"", "``it's'' ''x''"),
            (
                "José Müller, Łódź, Ångström",
                "Jos\\'{e} M\\\"{u}ller, \\L{}\\'{o}d\\'{z}, \\AA{}ngstr\\\"{o}m",
            ),
            ("naïve", "na\\\"{\\i}ve"),
            ("κ ε µV", "$\\kappa$ $\\varepsilon$ $\\mu$V"),
            ("你 Ж", "U+4F60 U+0416"),
            ("e\u{301}\u{200b}", "e"),
            ("[a", "{}[a"),
            ("a--b", "a-{}-b"),
            ("a\tb", "a b"),
        ] {
            let found = escape(text);
            assert_eq!(found, expected);
            assert!(found.is_ascii());
        }
    }

    /// No table is misaligned: each accented letter has its plain letter.
    #[test]
    fn every_accented_letter_has_a_plain_one() {
        let plain = [(PLAIN.1, PLAIN.0)];
        for (plain, marked) in ACCENTS.iter().map(|(_, plain, marked)| (*plain, *marked)).chain(plain) {
            assert_eq!(plain.chars().count(), marked.chars().count(), "{marked}");
        }
    }

    #[test]
    fn long_words_may_be_broken() {
        assert_eq!(breakable("a short text"), "a short text");
        assert!(breakable(&"ab".repeat(20)).contains("ababab\\allowbreak{}ababab"));
    }
}
