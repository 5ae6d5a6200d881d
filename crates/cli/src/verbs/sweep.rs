//! `fedspd sweep`: one setting with several values, and the best on validation trials.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use fedspd_experiment::config::Override;
use fedspd_experiment::sweep::{Sweep, choice};
use fedspd_experiment::{Ended, RunSeries};
use fedspd_report::{Format, Report, SweepRun};
use fedspd_run::{ResultTable, RunFolder, headline, validation_f1};

use crate::failure::Failure;
use crate::outcome::percent;
use crate::progress::Bar;
use crate::rounds::Display;
use crate::table::Table;
use crate::{chosen, interrupt};

/// Arguments of `fedspd sweep`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Built-in experiment such as `sample`, or path of a configuration.
    name: String,
    /// Setting and its values, such as model.dims=12,18,24,32.
    #[arg(long, value_name = "KEY=VALUE,...")]
    over: Sweep,
    /// Change a key; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<Override>,
    /// Seeds: 0..3 means 0, 1 and 2; 0,4 means the seeds 0 and 4.
    #[arg(long)]
    seeds: Option<String>,
    /// Folder for the runs and the report (default: `runs/sweep-NAME-KEY`).
    #[arg(long)]
    out: Option<PathBuf>,
    #[command(flatten)]
    display: Display,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let Arguments { name, over, .. } = arguments;
    if ["run.seeds", "split.seed", "split.fold"].contains(&over.key.as_str()) {
        return Err(Failure::Usage(format!(
            "`{}` cannot be swept, because it repeats an experiment: use `--seeds 0..3`",
            over.key
        )));
    }
    let changes = chosen::changes(&arguments.overrides, arguments.seeds.as_deref(), None)?;
    let (_, title) = chosen::config(name, &changes)?;
    let default = || Path::new("runs").join(format!("sweep-{title}-{}", over.key));
    let folder = arguments.out.clone().unwrap_or_else(default);
    interrupt::listen("the round", arguments.display.shown());
    let (mut series, mut runs) = (RunSeries::default(), Vec::new());
    // Parses all values first, so that an invalid last value costs no time.
    let configs = over.values.iter().map(|value| {
        over.change(value, |change| {
            let mut all = changes.clone();
            all.push(change);
            chosen::variant(name, &all)
        })
    });
    let configs = configs.collect::<Result<Vec<_>, Failure>>()?;
    for (value, config) in over.values.iter().zip(&configs) {
        let label = format!("{}={value}", over.key);
        let path = folder.join(&label);
        writeln!(out, "{label}")?;
        out.flush()?;
        let files = Bar::new(arguments.display.shown(), 0, "files");
        let ended = series.complete(config, &title, &path, &files, |rounds| {
            files.finish();
            arguments.display.rounds(rounds)
        })?;
        if let Ended::Interrupted { round, .. } = ended {
            return Err(Failure::Interrupted { round, resume: interrupt::same_command() });
        }
        runs.push(SweepRun { value: value.clone(), folder: path });
    }
    let mut scores = Vec::new();
    let mut table = Table::new(1, &[&over.key, "validation F1", "test F1"]);
    for run in &runs {
        let results = ResultTable::read(&RunFolder::open(&run.folder)?.results())?;
        let validation = validation_f1(&results);
        table.row(vec![run.value.clone(), percent(&validation), percent(&headline(&results).macro_f1)]);
        scores.push(validation);
    }
    writeln!(out)?;
    table.write(out)?;
    let chosen = choice(&scores);
    if let Some(place) = chosen {
        writeln!(
            out,
            "\nFirst value with the highest validation F1: {}={}. The choice does not use test scores.",
            over.key, runs[place].value
        )?;
    }
    let page = Report::sweep(&over.key, &runs, chosen)?.write(&folder.join("report"), &Format::ALL)?;
    writeln!(out, "Report: {}", page.display())?;
    Ok(())
}
