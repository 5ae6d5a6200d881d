//! A table in LaTeX.

use std::fmt::Write;

use super::layout::{Column, Layout, Strip};
use super::letters::{breakable, escape};
use crate::table::{Cell, Table};

/// Renders a table with booktabs rules. `best` marks its cells.
pub(crate) fn table(table: &Table, best: &[Vec<bool>]) -> String {
    let layout = Layout::new(table);
    let mut out =
        String::from("% Needs \\usepackage{booktabs} in the preamble. Plain ASCII, for any encoding.\n");
    let mut first = 0;
    for (page, &rows) in layout.pages.iter().enumerate() {
        let (caption, slug) = (escape(&table.caption), &table.slug);
        let _ = if page == 0 {
            write!(
                out,
                "\\begin{{table}}\n  \\centering\n  \\caption{{{caption}}}\n  \\label{{tab:{slug}}}\n"
            )
        } else {
            write!(out, "\\begin{{table}}\n  \\centering\n  \\caption{{{caption} (continued)}}\n")
        };
        if !layout.size.is_empty() {
            let _ = writeln!(out, "  {}\\setlength{{\\tabcolsep}}{{{}pt}}", layout.size, layout.space);
        }
        for (place, strip) in layout.strips.iter().enumerate() {
            if place > 0 {
                out += "\n  \\medskip\n";
            }
            tabular(&mut out, table, best, (&layout, strip), first..first + rows);
        }
        out += "\\end{table}\n";
        first += rows;
    }
    out
}

fn tabular(
    out: &mut String,
    table: &Table,
    best: &[Vec<bool>],
    (layout, strip): (&Layout, &Strip),
    rows: std::ops::Range<usize>,
) {
    let kinds: String = strip
        .iter()
        .map(|(_, kind)| match kind {
            Column::Left => "l".to_owned(),
            Column::Centre => "c".into(),
            Column::Wrapped(share) => format!("p{{{share:.3}\\linewidth}}"),
        })
        .collect();
    let head: Vec<String> =
        strip.iter().map(|&(column, kind)| name(&table.head[column], kind, layout.broken_head)).collect();
    let _ = write!(
        out,
        "  \\begin{{tabular}}{{{kinds}}}\n    \\toprule\n    {} \\\\\n    \\midrule\n",
        head.join(" & ")
    );
    for row in rows {
        let cells: Vec<String> = strip
            .iter()
            .map(|&(column, kind)| cell(&table.rows[row][column], kind, best[row][column]))
            .collect();
        let _ = writeln!(out, "    {} \\\\", cells.join(" & "));
    }
    *out += "    \\bottomrule\n  \\end{tabular}\n";
}

/// Formats the name of a column, broken at spaces if asked to.
fn name(text: &str, kind: Column, broken: bool) -> String {
    match kind {
        Column::Wrapped(_) => wrapped(&breakable(text)),
        _ if broken && text.contains(' ') => {
            let lines: Vec<String> = text.split(' ').map(escape).collect();
            let side = if kind == Column::Centre { 'c' } else { 'l' };
            format!("\\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}{}\\end{{tabular}}", lines.join("\\\\"))
        }
        _ => escape(text),
    }
}

fn cell(cell: &Cell, kind: Column, best: bool) -> String {
    match cell {
        Cell::Score { mean, .. } if mean.is_nan() => "--".into(),
        Cell::Score { mean, std } => {
            let mean = if best { format!("\\mathbf{{{mean:.1}}}") } else { format!("{mean:.1}") };
            if std.is_nan() { format!("${mean}$") } else { format!("${mean} \\pm {std:.1}$") }
        }
        Cell::Word(text) | Cell::Number(text) if matches!(kind, Column::Wrapped(_)) => {
            wrapped(&breakable(text))
        }
        Cell::Word(text) | Cell::Number(text) => escape(text),
    }
}

/// Sets text in lines that end at words. `\raggedright` would change the end of the row.
fn wrapped(text: &str) -> String {
    format!("\\rightskip=0pt plus 1fil\\relax {text}")
}
