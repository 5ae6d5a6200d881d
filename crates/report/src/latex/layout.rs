//! The layout of a table on a page: size of letters, widths of columns, and pages.

use super::letters::{LONGEST_WORD, width};
use crate::table::{Cell, Table};

/// The width of a line in points: that of `article` with letters of 10 points, the narrowest of the
/// usual one-column classes.
const LINE: f64 = 345.0;

/// Sizes of letters: command, factor, and space beside a column in points. The first has the
/// defaults of LaTeX.
const SIZES: [(&str, f64, f64); 3] = [("", 1.0, 6.0), ("\\small", 0.91, 4.0), ("\\footnotesize", 0.82, 3.0)];

/// The most lines of a page.
const PAGE: usize = 38;

/// Text with more characters than this wraps.
const LONG: usize = 24;

/// The least width of a column of text that wraps, in points. Words are narrower.
const WRAPPED: f64 = 1.4 * LONGEST_WORD;

/// A column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Column {
    /// Text on one line.
    Left,
    /// Numbers.
    Centre,
    /// Text that wraps, with its share of the line.
    Wrapped(f64),
}

/// Columns that are set side by side, with their indices.
pub(super) type Strip = Vec<(usize, Column)>;

/// The layout of a table.
#[derive(Debug)]
pub(super) struct Layout {
    /// The command for the size of letters; empty for the default.
    pub(super) size: &'static str,
    /// The space beside a column in points.
    pub(super) space: f64,
    /// Whether the names of columns are broken at spaces.
    pub(super) broken_head: bool,
    /// Columns that do not fit beside the others go below them, each time after the first column.
    pub(super) strips: Vec<Strip>,
    /// The numbers of rows on the pages.
    pub(super) pages: Vec<usize>,
}

/// The widths of a column at the default size, in points.
struct Widths {
    /// Of the widest cell.
    cell: f64,
    /// Of its name, whole and broken at spaces.
    head: [f64; 2],
    wraps: bool,
    number: bool,
}

impl Widths {
    fn new(table: &Table, column: usize) -> Self {
        let word = |text: &str| text.split(' ').map(width).fold(0.0, f64::max);
        let name = &table.head[column];
        let mut own = Self { cell: 0.0, head: [width(name), word(name)], wraps: false, number: false };
        for cell in table.rows.iter().map(|row| &row[column]) {
            let text = cell.text(" ± ");
            own.cell = own.cell.max(width(&text));
            own.number |= !matches!(cell, Cell::Word(_));
            own.wraps |= matches!(cell, Cell::Word(_)) && text.chars().count() > LONG;
        }
        own.wraps &= !own.number;
        own
    }

    /// The width on one line.
    fn whole(&self, broken_head: bool) -> f64 {
        self.cell.max(self.head[usize::from(broken_head)])
    }

    /// The least width.
    fn least(&self, broken_head: bool) -> f64 {
        if self.wraps { WRAPPED } else { self.whole(broken_head) }
    }
}

impl Layout {
    pub(super) fn new(table: &Table) -> Self {
        let widths: Vec<Widths> = (0..table.head.len()).map(|column| Widths::new(table, column)).collect();
        let all: Vec<usize> = (0..widths.len()).collect();
        let (size, broken_head, strips) = fitting(&widths, &all).unwrap_or_else(|| {
            let size = SIZES.len() - 1;
            (size, true, strips(&widths, size))
        });
        let (size, factor, space) = SIZES[size];
        let pages = pages(table, &strips, factor);
        Self { size, space, broken_head, strips, pages }
    }
}

/// Finds the largest letters with which all columns fit side by side.
fn fitting(widths: &[Widths], columns: &[usize]) -> Option<(usize, bool, Vec<Strip>)> {
    for size in 0..SIZES.len() {
        for broken_head in [false, true] {
            if let Some(strip) = strip(widths, columns, size, broken_head) {
                return Some((size, broken_head, vec![strip]));
            }
        }
    }
    None
}

/// Sets columns side by side, if they fit. Columns of text that wraps share the rest of the line in
/// proportion to their text.
fn strip(widths: &[Widths], columns: &[usize], size: usize, broken_head: bool) -> Option<Strip> {
    let (_, factor, space) = SIZES[size];
    let least: f64 =
        columns.iter().map(|&column| factor * widths[column].least(broken_head) + 2.0 * space).sum();
    if least > LINE {
        return None;
    }
    let whole = |column: usize| factor * widths[column].whole(broken_head);
    let fits = columns.iter().map(|&column| whole(column) + 2.0 * space).sum::<f64>() <= LINE;
    let wraps = |column: usize| widths[column].wraps && !fits;
    let more = |column: usize| (whole(column) - factor * widths[column].least(broken_head)).max(0.0);
    let wanted: f64 = columns.iter().filter(|&&column| wraps(column)).map(|&column| more(column)).sum();
    let columns = columns.iter().map(|&column| {
        let kind = if wraps(column) {
            let part = if wanted > 0.0 { more(column) / wanted } else { 0.0 };
            Column::Wrapped((factor * widths[column].least(broken_head) + part * (LINE - least)) / LINE)
        } else if widths[column].number {
            Column::Centre
        } else {
            Column::Left
        };
        (column, kind)
    });
    Some(columns.collect())
}

/// Sets columns in several strips, each with the first column and as many others as fit.
fn strips(widths: &[Widths], size: usize) -> Vec<Strip> {
    let mut strips = Vec::new();
    let mut rest: Vec<usize> = (1..widths.len()).collect();
    while !rest.is_empty() {
        let beside = |count: usize| [&[0], &rest[..count]].concat();
        let fitting = (1..=rest.len())
            .rev()
            .find_map(|count| Some((count, strip(widths, &beside(count), size, true)?)));
        // A single column that is too wide wraps, whatever it holds.
        let (count, strip) =
            fitting.unwrap_or_else(|| (1, vec![(0, Column::Wrapped(0.3)), (rest[0], Column::Wrapped(0.6))]));
        strips.push(strip);
        rest.drain(..count);
    }
    strips
}

/// Counts the rows on each page.
fn pages(table: &Table, strips: &[Strip], factor: f64) -> Vec<usize> {
    let caption = (width(&table.caption) / LINE).ceil() as usize;
    let room = PAGE.saturating_sub(caption + 3 * strips.len()).max(1);
    let lines = |row: &Vec<Cell>| -> usize {
        let of = |(column, kind): &(usize, Column)| match kind {
            // Lines end at words, not at the margin.
            Column::Wrapped(share) => {
                (1.25 * factor * width(&row[*column].text(" ± ")) / (share * LINE)).ceil() as usize
            }
            Column::Left | Column::Centre => 1,
        };
        strips.iter().map(|strip| strip.iter().map(of).max().unwrap_or(1).max(1)).sum()
    };
    let (mut pages, mut used) = (vec![0], 0);
    for row in &table.rows {
        let lines = lines(row);
        if used > 0 && used + lines > room {
            pages.push(0);
            used = 0;
        }
        used += lines;
        if let Some(page) = pages.last_mut() {
            *page += 1;
        }
    }
    pages
}
