//! How words look.

use super::Ink;
use super::text::width;

/// Which end of a text is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// How a text looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Letters {
    /// Its size.
    pub size: f64,
    /// Its colour.
    pub ink: Ink,
    /// Which end is at its place.
    pub anchor: Anchor,
    /// Whether it is a heading.
    pub bold: bool,
    /// Whether it keeps clear of what is behind it.
    pub halo: bool,
}

impl Letters {
    /// What is read: names and labels.
    pub const LABEL: Self =
        Self { size: 12.5, ink: Ink::Text, anchor: Anchor::Start, bold: false, halo: false };
    /// What is looked up: ticks and notes.
    pub const NOTE: Self =
        Self { size: 11.5, ink: Ink::Muted, anchor: Anchor::Start, bold: false, halo: false };
    /// A panel's heading.
    pub const HEADING: Self =
        Self { size: 13.0, ink: Ink::Text, anchor: Anchor::Start, bold: true, halo: false };

    /// With this end at its place.
    pub fn at(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    /// In this colour.
    pub fn in_ink(self, ink: Ink) -> Self {
        Self { ink, ..self }
    }

    /// How wide a text is in these letters, about.
    pub fn width(self, text: &str) -> f64 {
        width(text, self.size) * if self.bold { 1.06 } else { 1.0 }
    }
}
