//! A plot: two axes and the room between them.

use super::canvas::{Area, Canvas, Stroke};
use super::letters::{Anchor, Letters};
use super::{Ink, Scale};

/// What an axis shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it is, with its unit.
    pub label: String,
    /// Its scale; one that holds the data if absent.
    pub scale: Option<Scale>,
    /// Whether a scale that is found is logarithmic.
    pub log: bool,
}

impl Axis {
    /// With a scale that holds the data.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: None, log: false }
    }

    /// The same, in ratios.
    pub fn log(label: impl Into<String>) -> Self {
        Self { log: true, ..Self::new(label) }
    }

    /// With this scale.
    pub fn on(label: impl Into<String>, scale: Scale) -> Self {
        Self { scale: Some(scale), ..Self::new(label) }
    }

    /// Its scale, or one around these numbers.
    pub fn scale_for(&self, values: impl IntoIterator<Item = f64>) -> Scale {
        self.scale.unwrap_or_else(|| Scale::around(values, self.log))
    }
}

/// A panel with axes.
#[derive(Clone, Debug)]
pub struct Plot {
    /// Where marks go.
    pub canvas: Canvas,
    /// The room between the axes.
    pub area: Area,
    x: Scale,
    y: Scale,
}

/// The size of a panel: what is legible on a telephone and two of which are a calm pair on a desk.
pub(crate) const PANEL: (f64, f64) = (460.0, 290.0);

impl Plot {
    /// Axes with a heading, leaving so much room on the right. The label of the vertical axis lies above it, where it is read without turning one's head.
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

    /// The same without ticks in height, leaving so much room on the left and on the right.
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

    /// Where a number is across; none if it is off the axis.
    pub fn x(&self, value: f64) -> Option<f64> {
        Some(self.area.left + self.area.width * self.x.place(value)?)
    }

    /// Where a number is in height.
    pub fn y(&self, value: f64) -> Option<f64> {
        Some(self.area.top + self.area.height * (1.0 - self.y.place(value)?))
    }

    /// Where a point is.
    pub fn at(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        Some((self.x(x)?, self.y(y)?))
    }
}
