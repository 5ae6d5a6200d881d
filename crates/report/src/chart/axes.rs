//! Plots: two axes and the area between them.

use super::canvas::{Area, Canvas, Stroke};
use super::letters::{Anchor, Letters};
use super::{Ink, Scale};

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its label, with the unit.
    pub label: String,
    /// Its scale; if absent, one that fits the data.
    pub scale: Option<Scale>,
    /// Whether a fitted scale is logarithmic.
    pub log: bool,
}

impl Axis {
    /// Makes an axis with a scale that fits the data.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: None, log: false }
    }

    /// Makes an axis with a logarithmic scale that fits the data.
    pub fn log(label: impl Into<String>) -> Self {
        Self { log: true, ..Self::new(label) }
    }

    /// Makes an axis with this scale.
    pub fn on(label: impl Into<String>, scale: Scale) -> Self {
        Self { scale: Some(scale), ..Self::new(label) }
    }

    /// Returns its scale, or one that fits these numbers.
    pub fn scale_for(&self, values: impl IntoIterator<Item = f64>) -> Scale {
        self.scale.unwrap_or_else(|| Scale::around(values, self.log))
    }
}

/// A panel with axes.
#[derive(Clone, Debug)]
pub struct Plot {
    /// The drawing.
    pub canvas: Canvas,
    /// The area between the axes.
    pub area: Area,
    x: Scale,
    y: Scale,
}

/// Size of a panel: legible on a phone, and two fit side by side on a desktop.
pub(crate) const PANEL: (f64, f64) = (460.0, 290.0);

impl Plot {
    /// Draws axes with a heading and a margin `right`. The label of the vertical axis is
    /// horizontal, above the axis.
    pub fn new(heading: &str, x: (&str, Scale), y: (&str, Scale), size: (f64, f64), right: f64) -> Self {
        let ticks = y.1.ticks(5);
        let left = 10.0 + ticks.iter().map(|tick| Letters::NOTE.width(&tick.label)).fold(0.0, f64::max);
        let mut plot = Self::bare(heading, x, y, size, (left, right));
        let Area { left, width, .. } = plot.area;
        for tick in ticks {
            let Some(at) = plot.y(tick.value) else { continue };
            plot.canvas.line((left, at), (left + width, at), Stroke::RULE);
            plot.canvas.text((left - 6.0, at + 4.0), &tick.label, Letters::NOTE.at(Anchor::End));
        }
        plot
    }

    /// Draws axes without vertical ticks, with margins `left` and `right`.
    pub fn bare(
        heading: &str,
        (x_label, x): (&str, Scale),
        (y_label, y): (&str, Scale),
        (width, height): (f64, f64),
        (left, right): (f64, f64),
    ) -> Self {
        let note = Letters::NOTE;
        let top = if heading.is_empty() { 26.0 } else { 46.0 };
        let area = Area { left, top, width: width - left - right, height: height - top - 42.0 };
        let mut canvas = Canvas::new(heading, width, height);
        if !heading.is_empty() {
            canvas.text((0.0, 14.0), heading, Letters::HEADING);
        }
        canvas.text((0.0, top - 12.0), y_label, note);
        let mut plot = Self { canvas, area, x, y };
        let bottom = area.top + area.height;
        let axis = Stroke { ink: Ink::Muted, width: 1.0, dash: "" };
        plot.canvas.line((area.left, bottom), (area.left + area.width, bottom), axis);
        let about = (area.width / 55.0) as usize;
        let mut free = f64::NEG_INFINITY;
        for tick in x.ticks(about.max(2)) {
            let Some(at) = plot.x(tick.value) else { continue };
            let half = note.width(&tick.label) / 2.0;
            plot.canvas.line((at, bottom), (at, bottom + 4.0), axis);
            if at - half < free || at + half > width {
                continue;
            }
            free = at + half + 8.0;
            plot.canvas.text((at, bottom + 17.0), &tick.label, note.at(Anchor::Middle));
        }
        plot.canvas.text((area.left + area.width / 2.0, bottom + 35.0), x_label, note.at(Anchor::Middle));
        plot
    }

    /// Returns the horizontal position of a number; none if it is off the axis.
    pub fn x(&self, value: f64) -> Option<f64> {
        Some(self.area.left + self.area.width * self.x.place(value)?)
    }

    /// Returns the vertical position of a number; none if it is off the axis.
    pub fn y(&self, value: f64) -> Option<f64> {
        Some(self.area.top + self.area.height * (1.0 - self.y.place(value)?))
    }

    /// Returns the position of a point; none if it is off an axis.
    pub fn at(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        Some((self.x(x)?, self.y(y)?))
    }
}
