//! One palette everywhere.

/// What a mark is for; its colour follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Text that is read.
    Text,
    /// Text that is looked up: ticks, notes.
    Muted,
    /// Lines that guide the eye.
    Rule,
    /// What is behind all.
    Paper,
    /// A series by its number; after the last colour they begin again.
    Series(usize),
}

/// How many colours there are for series: those of Okabe and Ito (2008) without yellow, which is too light for lines on white, and black, which is for text.
pub const SERIES: usize = 6;

/// The values: role, light, dark. The dark ones are the same hues, lighter.
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

/// Dashes by the number of a series: none first.
const DASHES: [&str; SERIES] = ["", "7 3", "2 2.5", "9 3 2 3", "5 2 1 2 1 2", "1 3"];

impl Ink {
    /// As an attribute has it: a variable that the page sets.
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
        // The second time round a colour has another dash.
        if let Self::Series(number) = self { DASHES[(number + number / SERIES) % SERIES] } else { "" }
    }
}

/// The variables of a theme, as declarations of CSS.
pub fn theme(dark: bool) -> String {
    let value =
        |(name, light, night): &(&str, &str, &str)| format!("--{name}:{};", if dark { night } else { light });
    VALUES.iter().map(value).collect()
}

/// A drawing with the colours themselves in place of the variables, which programs other than browsers do not know.
pub(crate) fn in_light(svg: &str) -> String {
    VALUES.iter().fold(svg.to_owned(), |svg, (name, light, _)| svg.replace(&format!("var(--{name})"), light))
}
