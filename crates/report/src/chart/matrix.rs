//! Heat maps of shares, such as confusion matrices.

use super::Ink;
use super::canvas::{Area, Canvas};
use super::letters::{Anchor, Letters};

/// A confusion matrix with a row for each true class.
#[derive(Clone, Debug)]
pub struct Matrix<'a> {
    /// Heading that distinguishes the panel from its neighbours; may be empty.
    pub heading: &'a str,
    /// The label of the rows.
    pub rows: &'a str,
    /// The label of the columns.
    pub columns: &'a str,
    /// The names of rows and columns.
    pub names: &'a [String],
    /// The shares, from 0 to 1, row by row; cells that are not finite stay blank.
    pub shares: &'a [f64],
    /// Small text below each share.
    pub notes: &'a [String],
}

/// Opacity for shares 0 and 1. Text on either keeps its contrast in both themes.
const SHADES: (f64, f64) = (0.03, 0.6);

impl Matrix<'_> {
    /// Draws the matrix.
    pub fn draw(&self) -> Canvas {
        let count = self.names.len();
        let widest = self.names.iter().map(|name| Letters::LABEL.width(name)).fold(0.0, f64::max);
        let left = widest.max(Letters::NOTE.width(self.rows)) + 10.0;
        // Columns show their names if all fit, otherwise numbers.
        let cell = ((420.0 - left) / count as f64).clamp(44.0, 78.0);
        let short = |place: usize| {
            let name = &self.names[place];
            if Letters::NOTE.width(name) <= cell - 4.0 { name.clone() } else { format!("{}", place + 1) }
        };
        let numbered = self.names.iter().any(|name| Letters::NOTE.width(name) > cell - 4.0);
        let top = if self.heading.is_empty() { 40.0 } else { 60.0 };
        let side = cell * count as f64;
        let height = cell * 0.72;
        let mut canvas = Canvas::new(self.heading, left + side + 2.0, top + height * count as f64 + 4.0);
        canvas.text((0.0, 14.0), self.heading, Letters::HEADING);
        let middle = Letters::NOTE.at(Anchor::Middle);
        canvas.text((left + side / 2.0, top - 24.0), self.columns, middle);
        canvas.text((left - 10.0, top - 7.0), self.rows, Letters::NOTE.at(Anchor::End));
        for row in 0..count {
            let name =
                if numbered { format!("{} {}", row + 1, self.names[row]) } else { self.names[row].clone() };
            let y = top + height * row as f64;
            canvas.text((left - 10.0, y + height / 2.0 + 4.0), &name, Letters::LABEL.at(Anchor::End));
            let head = if numbered { (row + 1).to_string() } else { short(row) };
            canvas.text((left + cell * (row as f64 + 0.5), top - 7.0), &head, middle);
            for column in 0..count {
                let (share, note) = (self.shares[row * count + column], &self.notes[row * count + column]);
                let x = left + cell * column as f64;
                let area = Area { left: x + 1.0, top: y + 1.0, width: cell - 2.0, height: height - 2.0 };
                if !share.is_finite() {
                    canvas.rectangle(area, Ink::Rule, 0.3);
                    continue;
                }
                canvas.rectangle(area, Ink::Series(0), SHADES.0 + (SHADES.1 - SHADES.0) * share);
                let at = |dy: f64| (x + cell / 2.0, y + height / 2.0 + dy);
                let text = Letters { size: 13.0, bold: row == column, ..Letters::LABEL };
                canvas.text(at(0.0), &format!("{:.0}%", 100.0 * share), text.at(Anchor::Middle));
                let small = Letters { size: 10.5, ..Letters::LABEL };
                canvas.text(at(14.0), note, small.at(Anchor::Middle));
            }
        }
        canvas
    }
}
