//! `fedspd compare`: statistical comparison of runs.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use fedspd_report::Label;
use fedspd_report::compare::{Comparison, compare};
use serde_json::json;

use super::data::{Format, write_json};
use crate::failure::Failure;
use crate::table::Table;

/// Arguments of `fedspd compare`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Run folders with the same data, classes, split and clients.
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Name a run in figures and tables; may be repeated. Without it, runs are named by their method
    /// and the settings that differ.
    #[arg(long = "label", value_name = "NAME=RUN")]
    labels: Vec<Label>,
    /// Folder for a page (HTML), the figure (SVG) and the tables (CSV, LaTeX).
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Format of the printed result.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let comparison = compare(&arguments.runs, &arguments.labels)?;
    let page = arguments
        .out
        .as_ref()
        .map(|folder| comparison.report().write(folder, &fedspd_report::Format::ALL))
        .transpose()?;
    if arguments.format == Format::Json {
        return write_json(out, &json!(comparison));
    }
    write_text(&comparison, out)?;
    if let Some(page) = page {
        writeln!(out, "\nReport: {} (figure and tables are next to it)", page.display())?;
    }
    Ok(())
}

fn write_text(comparison: &Comparison, out: &mut impl Write) -> Result<(), Failure> {
    for over in comparison.over() {
        writeln!(out, "Differences of test macro-F1 in points, {}:\n", over.heading())?;
        let head = ["runs", "mean", "95% interval", "median", "dz", "rank-biserial", "p", "p, Holm"];
        let mut table = Table::new(1, &head);
        for (pair, paired) in &over.pairs {
            table.row([comparison.name(pair)].into_iter().chain(paired.shown()).collect());
        }
        table.write(out)?;
        writeln!(out)?;
    }
    for caution in &comparison.cautions {
        writeln!(out, "- {caution}")?;
    }
    Ok(())
}
