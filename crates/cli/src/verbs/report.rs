//! `fedspd report`: a page, figures and tables from run folders.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fedspd_report::{Format, Label, Report, read_runs};
use fedspd_run::RunFolder;

use crate::failure::Failure;

/// Arguments of `fedspd report`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Run folders; several are compared in one report.
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Name a run in figures and tables; may be repeated. Without it, runs are named by their method
    /// and the settings that differ.
    #[arg(long = "label", value_name = "NAME=RUN")]
    labels: Vec<Label>,
    /// Folder for the report (default: `report` in the run folder, or in this folder for several
    /// runs).
    #[arg(long)]
    out: Option<PathBuf>,
    /// Output formats, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Kind::Html, Kind::Svg, Kind::Csv, Kind::Latex])]
    format: Vec<Kind>,
    /// Name subjects and clients. Without it, the report names nobody.
    #[arg(long)]
    name_subjects: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// One page with figures and tables.
    Html,
    /// Figures.
    Svg,
    /// Tables for programs.
    Csv,
    /// Tables for papers.
    Latex,
}

impl Kind {
    fn format(self) -> Format {
        match self {
            Self::Html => Format::Html,
            Self::Svg => Format::Svg,
            Self::Csv => Format::Csv,
            Self::Latex => Format::Latex,
        }
    }
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let formats: Vec<Format> = arguments.format.iter().map(|kind| kind.format()).collect();
    let folder = match (&arguments.out, &arguments.runs[..]) {
        (Some(folder), _) => folder.clone(),
        (None, [run]) => RunFolder::open(run).map_err(fedspd_report::Error::from)?.report(),
        (None, _) => PathBuf::from("report"),
    };
    let runs = read_runs(&arguments.runs, &arguments.labels)?;
    let path = Report::of(&runs, arguments.name_subjects)?.write(&folder, &formats)?;
    writeln!(out, "Report: {}", path.display())?;
    Ok(())
}
