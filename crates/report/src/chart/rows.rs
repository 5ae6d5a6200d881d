//! Dot plots: one row for each item, its numbers as dots on a common axis.

use super::axes::{Axis, PANEL};
use super::canvas::{Canvas, Stroke};
use super::letters::{Anchor, Letters};
use super::{Ink, Reference};

/// A row of a dot plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Its colour and marker, by number.
    pub style: usize,
    /// All its numbers, drawn small and pale.
    pub dots: Vec<f64>,
    /// Its main number, such as the mean.
    pub centre: Option<f64>,
    /// The interval around the main number.
    pub interval: Option<(f64, f64)>,
    /// Text at the end of the row.
    pub note: String,
}

/// A dot plot.
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    /// Heading that distinguishes the panel from its neighbours; may be empty.
    pub heading: &'a str,
    /// The common axis.
    pub x: Axis,
    /// A reference value, such as chance or no difference.
    pub reference: Option<Reference>,
}

impl Rows<'_> {
    /// Draws the rows from top to bottom.
    pub fn draw(&self, rows: &[Row]) -> Canvas {
        // Many rows are closer together.
        let (pitch, size) = if rows.len() > 24 { (12.5, 10.0) } else { (22.0, 12.5) };
        let label = Letters { size, ..Letters::LABEL };
        let note = Letters { size: size.min(11.5), ..Letters::NOTE };
        let widest = |of: &dyn Fn(&Row) -> f64| rows.iter().map(of).fold(0.0, f64::max);
        let left = widest(&|row| label.width(&row.name)) + 12.0;
        let notes = widest(&|row| note.width(&row.note));
        let right = if notes > 0.0 { notes + 14.0 } else { 14.0 };
        let top = if self.heading.is_empty() { 8.0 } else { 28.0 };
        let mark = if self.reference.is_some() { 16.0 } else { 0.0 };
        let bottom = top + mark + pitch * rows.len() as f64 + 4.0;
        // Long names widen the panel, so that the dots keep enough room.
        let width = PANEL.0.max(left + right + 180.0);
        let mut canvas = Canvas::new(self.heading, width, bottom + 42.0);
        if !self.heading.is_empty() {
            canvas.text((0.0, 14.0), self.heading, Letters::HEADING);
        }
        let numbers = rows.iter().flat_map(|row| {
            let interval = row.interval.map_or([f64::NAN; 2], |(low, high)| [low, high]);
            row.dots.iter().copied().chain(row.centre).chain(interval)
        });
        let scale = self.x.scale_for(numbers.chain(self.reference.iter().map(|level| level.y)));
        let place = |value: f64| Some(left + (width - left - right) * scale.place(value)?);
        for tick in scale.ticks(((width - left - right) / 42.0).max(2.0) as usize) {
            let Some(x) = place(tick.value) else { continue };
            canvas.line((x, top + mark), (x, bottom), Stroke::RULE);
            canvas.text((x, bottom + 16.0), &tick.label, Letters::NOTE.at(Anchor::Middle));
        }
        let middle = left + (width - left - right) / 2.0;
        canvas.text((middle, bottom + 34.0), &self.x.label, Letters::NOTE.at(Anchor::Middle));
        if let Some(level) = &self.reference
            && let Some(x) = place(level.y)
        {
            let stroke = Stroke { ink: Ink::Muted, width: 1.2, dash: "3 3" };
            canvas.line((x, top + mark), (x, bottom), stroke);
            let half = Letters::NOTE.width(&level.name) / 2.0;
            let at = x.max(half).min(width - half);
            canvas.text((at, top + mark - 5.0), &level.name, Letters::NOTE.at(Anchor::Middle));
        }
        for (number, row) in rows.iter().enumerate() {
            let y = top + mark + pitch * (number as f64 + 0.5);
            canvas.text((left - 10.0, y + size * 0.34), &row.name, label.at(Anchor::End));
            for x in row.dots.iter().filter_map(|&value| place(value)) {
                canvas.marker((x, y), row.style, size * 0.2, 0.4);
            }
            if let Some((low, high)) = row.interval {
                // Interval ends off the axis are moved to its end.
                let (first, last) = scale.ends();
                let ends = (place(low.clamp(first, last)), place(high.clamp(first, last)));
                if let (Some(low), Some(high)) = ends {
                    let stroke = Stroke { ink: Ink::Series(row.style), width: 2.0, dash: "" };
                    canvas.line((low, y), (high, y), stroke);
                }
            }
            if let Some(x) = row.centre.and_then(place) {
                canvas.marker((x, y), row.style, size * 0.34, 1.0);
            }
            canvas.text((width, y + size * 0.34), &row.note, note.at(Anchor::End));
        }
        canvas
    }
}
