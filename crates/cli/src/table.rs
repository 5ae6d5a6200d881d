//! Aligned tables for the terminal.

use std::io::{self, Write};

use crate::printable::printable;

/// Rows of cells. The first columns hold text and are left-aligned; the others hold numbers and are
/// right-aligned.
pub(crate) struct Table {
    words: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Makes a table with this header, whose first `words` columns hold text.
    pub(crate) fn new(words: usize, head: &[&str]) -> Self {
        Self { words, rows: vec![head.iter().map(ToString::to_string).collect()] }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        // Cells often hold text from files.
        self.rows.push(cells.into_iter().map(|cell| printable(&cell)).collect());
    }

    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let columns = self.rows[0].len();
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let aligned = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
                if column < self.words { format!("  {cell:<width$}") } else { format!("  {cell:>width$}") }
            });
            writeln!(out, "{}", aligned.collect::<String>().trim_end())?;
        }
        Ok(())
    }
}
