//! Colour palette of all figures and pages.

/// Role of a mark, which determines its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Main text.
    Text,
    /// Secondary text: ticks, notes.
    Muted,
    /// Grid lines.
    Rule,
    /// Background.
    Paper,
    /// A series by its number; colours repeat after the last one.
    Series(usize),
}

/// Number of colours for series: those of Okabe and Ito (2008) without yellow (too light for lines
/// on white) and black (used for text).
pub const SERIES: usize = 6;

/// Colours: role, light theme, dark theme. The dark theme has the same hues, lighter.
const VALUES: [(&str, &str, &str); 4 + SERIES] = [
    ("text", "#1c2126", "#e6e8ea"),
    ("muted", "#5b6570", "#a3adb7"),
    ("rule", "#d9dee3", "#353c44"),
    ("paper", "#ffffff", "#14181c"),
    ("s0", "#0072b2", "#4ba6de"),
    ("s1", "#d55e00", "#f28a45"),
    ("s2", "#009e73", "#35c19a"),
    ("s3", "#b5568f", "#dd9cc3"),
    ("s4", "#c98a00", "#efb94a"),
    ("s5", "#3f9fd6", "#9bd4f5"),
];

/// Dashes by the number of a series; the first is solid.
const DASHES: [&str; SERIES] = ["", "7 3", "2 2.5", "9 3 2 3", "5 2 1 2 1 2", "1 3"];

impl Ink {
    /// Returns the colour as a CSS variable, which the page sets.
    pub fn css(self) -> String {
        format!("var(--{})", VALUES[self.place()].0)
    }

    fn place(self) -> usize {
        match self {
            Self::Text => 0,
            Self::Muted => 1,
            Self::Rule => 2,
            Self::Paper => 3,
            Self::Series(number) => 4 + number % SERIES,
        }
    }

    /// The dash of a line of this ink.
    pub(crate) fn dash(self) -> &'static str {
        // When colours repeat, the dash changes.
        if let Self::Series(number) = self { DASHES[(number + number / SERIES) % SERIES] } else { "" }
    }
}

/// Returns the variables of a theme as CSS declarations.
pub fn theme(dark: bool) -> String {
    let value =
        |(name, light, night): &(&str, &str, &str)| format!("--{name}:{};", if dark { night } else { light });
    VALUES.iter().map(value).collect()
}

/// Replaces the variables of a drawing by light colours, because only browsers support variables.
pub(crate) fn in_light(svg: &str) -> String {
    VALUES.iter().fold(svg.to_owned(), |svg, (name, light, _)| svg.replace(&format!("var(--{name})"), light))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The relative luminance of a colour over a background (WCAG 2).
    fn luminance(color: &str, paper: &str, opacity: f64) -> f64 {
        let channel = |text: &str, place: usize| {
            f64::from(u8::from_str_radix(&text[1 + 2 * place..3 + 2 * place], 16).unwrap()) / 255.0
        };
        let linear = |place: usize| {
            let mixed = opacity * channel(color, place) + (1.0 - opacity) * channel(paper, place);
            if mixed <= 0.04045 { mixed / 12.92 } else { ((mixed + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(0) + 0.7152 * linear(1) + 0.0722 * linear(2)
    }

    fn contrast(a: f64, b: f64) -> f64 {
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn words_and_marks_can_be_seen_in_both_themes() {
        for theme in [1, 2] {
            let value = |ink: Ink| {
                let (_, light, dark) = VALUES[ink.place()];
                if theme == 1 { light } else { dark }
            };
            let paper = value(Ink::Paper);
            let on_paper =
                |ink: Ink| contrast(luminance(value(ink), paper, 1.0), luminance(paper, paper, 1.0));
            assert!(on_paper(Ink::Text) > 12.0 && on_paper(Ink::Muted) > 4.5);
            for series in 0..SERIES {
                assert!(on_paper(Ink::Series(series)) > 2.7, "{series}: {}", on_paper(Ink::Series(series)));
            }
            // Text on the darkest cell of a matrix.
            let cell = luminance(value(Ink::Series(0)), paper, 0.6);
            assert!(contrast(luminance(value(Ink::Text), paper, 1.0), cell) > 4.5, "{theme}");
        }
    }
}
