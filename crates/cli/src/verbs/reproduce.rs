//! `fedspd reproduce`: the paper's experiments on a dataset, next to ours.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use fedspd_experiment::config::Override;
use fedspd_experiment::reproduction::{Cell, DATASETS, cells};
use fedspd_experiment::{Ended, RunSeries};
use fedspd_report::{CellRun, Format, Report};
use fedspd_run::RunFolder;

use crate::failure::Failure;
use crate::progress::Bar;
use crate::rounds::Display;
use crate::{chosen, interrupt};

/// Arguments of `fedspd reproduce`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Dataset.
    #[arg(value_parser = DATASETS)]
    dataset: String,
    /// Folder with the recordings (default: the folder of `fedspd data fetch`).
    #[arg(long)]
    root: Option<PathBuf>,
    /// Folder for the runs and the report (default: `runs/reproduce-DATASET`).
    #[arg(long)]
    out: Option<PathBuf>,
    /// Run only experiments whose names contain this text; may be repeated. The report shows all
    /// runs in the folder.
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// Change a key in all runs; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<Override>,
    /// Number of threads (default: all cores). Results do not depend on it.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    display: Display,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let mut changes = chosen::changes(&arguments.overrides, None, arguments.threads)?;
    if let Some(root) = &arguments.root {
        changes.push(format!("data.root={:?}", root.display().to_string()).parse()?);
    }
    let default = || Path::new("runs").join(format!("reproduce-{}", arguments.dataset));
    let folder = arguments.out.clone().unwrap_or_else(default);
    let cells = cells(&arguments.dataset, &changes)?;
    if let Some(text) = arguments.only.iter().find(|&text| !cells.iter().any(|cell| cell.name.contains(text)))
    {
        let names: Vec<&str> = cells.iter().map(|cell| cell.name.as_str()).collect();
        return Err(Failure::Usage(format!(
            "no run has `{text}` in its name; there are {}",
            names.join(", ")
        )));
    }
    interrupt::listen("the round", arguments.display.shown());
    let (mut series, mut runs) = (RunSeries::default(), Vec::new());
    for (place, cell) in cells.iter().enumerate() {
        let wanted = arguments.only.is_empty() || arguments.only.iter().any(|text| cell.name.contains(text));
        let path = folder.join(&cell.name);
        let missing = if wanted {
            writeln!(out, "{} of {}: {}", place + 1, cells.len(), cell.name)?;
            out.flush()?;
            let why = complete(arguments, &mut series, cell, &path)?;
            if let Some(why) = &why {
                writeln!(out, "  not run: {why}")?;
            }
            // A page may be passed on, so it does not name the missing files and their folder.
            why.map(|_| format!("the recordings of {} are not on this machine", arguments.dataset))
        } else {
            // Seeds of an earlier call are shown, even if not all are finished.
            let some = RunFolder::open(&path).is_ok_and(|run| run.results().is_file());
            (!some).then(|| "excluded by `--only`".to_owned())
        };
        runs.push(CellRun { name: cell.name.clone(), folder: path, missing });
    }
    // These keys change no result.
    let harmless = ["data.root", "run.threads", "run.checkpoint_every"];
    let changed = arguments.overrides.iter().map(Override::key).filter(|key| !harmless.contains(&&**key));
    let report = Report::reproduction(&arguments.dataset, &runs, &changed.collect::<Vec<_>>())?;
    let page = report.write(&folder.join("report"), &Format::ALL)?;
    write!(out, "\n{}\nReport: {}\n", report.text("paper"), page.display())?;
    Ok(())
}

/// Completes a run, or returns the reason why its data are missing.
fn complete(
    arguments: &Arguments,
    series: &mut RunSeries,
    cell: &Cell,
    folder: &Path,
) -> Result<Option<String>, Failure> {
    let config = chosen::with_absolute_paths(cell.config.clone())?;
    let files = Bar::new(arguments.display.shown(), 0, "files");
    let ended = series.complete(&config, &cell.name, folder, &files, |rounds| {
        files.finish();
        arguments.display.rounds(rounds)
    });
    match ended {
        Ok(Ended::Finished) => Ok(None),
        Ok(Ended::Interrupted { round, .. }) => {
            Err(Failure::Interrupted { round, resume: interrupt::same_command() })
        }
        Err(error) if error.is_missing_data() => Ok(Some(error.to_string())),
        Err(error) => Err(error.into()),
    }
}
