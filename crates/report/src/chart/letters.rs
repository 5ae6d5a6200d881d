//! Text styles.

use super::Ink;
use super::text::width;

/// Block of a text that is at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// A text style.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Letters {
    /// Its size.
    pub size: f64,
    /// Its colour.
    pub ink: Ink,
    /// The part at its position.
    pub anchor: Anchor,
    /// Whether it is bold.
    pub bold: bool,
    /// Whether it has a halo in the background colour.
    pub halo: bool,
}

impl Letters {
    /// Names and labels.
    pub const LABEL: Self =
        Self { size: 12.5, ink: Ink::Text, anchor: Anchor::Start, bold: false, halo: false };
    /// Ticks and notes.
    pub const NOTE: Self =
        Self { size: 11.5, ink: Ink::Muted, anchor: Anchor::Start, bold: false, halo: false };
    /// A panel's heading.
    pub const HEADING: Self =
        Self { size: 13.0, ink: Ink::Text, anchor: Anchor::Start, bold: true, halo: false };

    /// Returns the style with this anchor.
    pub fn at(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    /// Returns the style in this colour.
    pub fn in_ink(self, ink: Ink) -> Self {
        Self { ink, ..self }
    }

    /// Estimates the width of a text in this style.
    pub fn width(self, text: &str) -> f64 {
        width(text, self.size) * if self.bold { 1.06 } else { 1.0 }
    }
}
