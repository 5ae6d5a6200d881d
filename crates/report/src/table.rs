//! Tables as HTML, plain text, CSV and LaTeX.

use std::fmt::Write;

use crate::chart::escape;
use crate::latex;

/// Rows of cells under a header.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The name of its files and its anchor in the page.
    pub slug: String,
    /// Its caption.
    pub caption: String,
    /// The names of its columns.
    pub head: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<Cell>>,
    /// Where the best number is marked.
    pub best: Best,
}

/// The cells among which the best score is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Best {
    /// None.
    Nowhere,
    /// The scores of each row.
    InRow,
    /// The scores of each column.
    InColumn,
    /// The scores of the column with this index only.
    InTheColumn(usize),
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Text, possibly empty.
    Word(String),
    /// A formatted number, which is not compared.
    Number(String),
    /// A score, shown with its deviation if there is one. Scores are compared: higher is better.
    Score {
        /// The mean, in the unit shown.
        mean: f64,
        /// The standard deviation; NaN if there is none.
        std: f64,
    },
}

impl Cell {
    /// Makes a cell of text.
    pub fn word(text: impl Into<String>) -> Self {
        Self::Word(text.into())
    }

    /// Formats the cell, with `plus` between mean and deviation.
    pub(crate) fn text(&self, plus: &str) -> String {
        match self {
            Self::Word(text) | Self::Number(text) => text.clone(),
            Self::Score { mean, .. } if mean.is_nan() => "–".into(),
            Self::Score { mean, std } if std.is_nan() => format!("{mean:.1}"),
            Self::Score { mean, std } => format!("{mean:.1}{plus}{std:.1}"),
        }
    }

    /// The score rounded as shown, because scores that read the same count as equal.
    fn shown(&self) -> Option<i64> {
        match self {
            Self::Score { mean, .. } if mean.is_finite() => Some((mean * 10.0).round() as i64),
            _ => None,
        }
    }
}

/// Allows line breaks in long hexadecimal words such as hashes.
fn breakable(text: &str) -> String {
    let word = |word: &str| {
        if word.len() < 64 || !word.bytes().all(|letter| letter.is_ascii_hexdigit()) {
            return word.to_owned();
        }
        let parts: Vec<&str> =
            (0..word.len()).step_by(16).map(|at| &word[at..word.len().min(at + 16)]).collect();
        parts.join("<wbr>")
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

impl Table {
    /// Returns for each cell whether it has the best of the compared scores. A single score is never
    /// the best.
    fn best(&self) -> Vec<Vec<bool>> {
        let columns = self.head.len();
        let best = |scores: &mut dyn Iterator<Item = &Cell>| {
            let scores: Vec<i64> = scores.filter_map(Cell::shown).collect();
            scores.iter().copied().max().filter(|_| scores.len() > 1)
        };
        let of_columns: Vec<Option<i64>> = (0..columns)
            .map(|column| match self.best {
                Best::InTheColumn(only) if only != column => None,
                Best::InColumn | Best::InTheColumn(_) => best(&mut self.rows.iter().map(|row| &row[column])),
                Best::Nowhere | Best::InRow => None,
            })
            .collect();
        let marked = |row: &Vec<Cell>| {
            let of_row = if self.best == Best::InRow { best(&mut row.iter()) } else { None };
            let marked = row.iter().zip(&of_columns);
            marked
                .map(|(cell, of_column)| cell.shown().is_some_and(|own| Some(own) == of_row.or(*of_column)))
                .collect()
        };
        self.rows.iter().map(marked).collect()
    }

    /// Renders the table as HTML. A wide table scrolls in its own box; the caption does not move.
    pub fn html(&self) -> String {
        let (slug, caption) = (escape(&self.slug), escape(&self.caption));
        let mut out = format!(
            "<div class=\"table\" id=\"{slug}\"><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"{slug}-c\"><table><thead><tr>"
        );
        let (best, numbers) = (self.best(), self.numbers());
        for (name, &number) in self.head.iter().zip(&numbers) {
            let class = if number { " class=\"n\"" } else { "" };
            let _ = write!(out, "<th scope=\"col\"{class}>{}</th>", escape(name));
        }
        out += "</tr></thead><tbody>";
        for (place, row) in self.rows.iter().enumerate() {
            out += "<tr>";
            for (column, cell) in row.iter().enumerate() {
                let text = breakable(&escape(&cell.text("\u{a0}±\u{a0}")));
                let text = if best[place][column] { format!("<b>{text}</b>") } else { text };
                let _ = match (column, numbers[column]) {
                    (0, _) => write!(out, "<th scope=\"row\">{text}</th>"),
                    (_, true) => write!(out, "<td class=\"n\">{text}</td>"),
                    (_, false) => write!(out, "<td>{text}</td>"),
                };
            }
            out += "</tr>";
        }
        let _ = write!(out, "</tbody></table></div><p class=\"caption\" id=\"{slug}-c\">{caption}</p></div>");
        out
    }

    /// Returns for each column whether it holds numbers.
    fn numbers(&self) -> Vec<bool> {
        let number = |column: usize| self.rows.iter().any(|row| !matches!(row[column], Cell::Word(_)));
        (0..self.head.len()).map(number).collect()
    }

    /// Renders the table as plain text in columns.
    pub fn text(&self) -> String {
        let body = self.rows.iter().map(|row| row.iter().map(|cell| cell.text(" ± ")).collect());
        let lines: Vec<Vec<String>> = std::iter::once(self.head.clone()).chain(body).collect();
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let shown = |line: &Vec<String>| {
            let cells = line.iter().zip(&widths).enumerate().map(|(column, (text, &width))| {
                if column == 0 { format!("  {text:<width$}") } else { format!("  {text:>width$}") }
            });
            cells.collect::<String>().trim_end().to_owned() + "\n"
        };
        lines.iter().map(shown).collect()
    }

    /// Renders the table as CSV (RFC 4180). A score has two columns, mean and deviation, with all
    /// digits. A missing number is an empty field.
    pub fn csv(&self) -> String {
        let is_score = |column: usize| self.rows.iter().any(|row| matches!(row[column], Cell::Score { .. }));
        let scores: Vec<bool> = (0..self.head.len()).map(is_score).collect();
        let mut lines = Vec::with_capacity(self.rows.len() + 1);
        let head = self.head.iter().enumerate().flat_map(|(column, name)| {
            if scores[column] {
                vec![format!("{name} mean"), format!("{name} std")]
            } else {
                vec![name.clone()]
            }
        });
        lines.push(head.collect::<Vec<_>>());
        let digits = |value: f64| if value.is_nan() { String::new() } else { value.to_string() };
        for row in &self.rows {
            let fields = row.iter().enumerate().flat_map(|(column, cell)| match cell {
                Cell::Score { mean, std } => vec![digits(*mean), digits(*std)],
                Cell::Word(text) | Cell::Number(text) if scores[column] => vec![text.clone(), String::new()],
                Cell::Word(text) | Cell::Number(text) => vec![text.clone()],
            });
            lines.push(fields.collect());
        }
        let quoted = |field: &String| {
            if field.contains([',', '"', '\n', '\r']) {
                format!("\"{}\"", field.replace('"', "\"\""))
            } else {
                field.clone()
            }
        };
        lines.iter().map(|line| line.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n").collect()
    }

    /// Renders the table as LaTeX with booktabs rules. It is no wider and no longer than a page.
    pub fn latex(&self) -> String {
        latex::table(self, &self.best())
    }
}
