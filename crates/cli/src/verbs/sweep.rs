//! `fedspd sweep`: one setting, several values, and which is best on validation trials.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use fedspd_experiment::config::Override;
use fedspd_experiment::sweep::{Sweep, choice};
use fedspd_experiment::{Ended, Several};
use fedspd_report::{Format, Report, SweepRun};
use fedspd_run::{ResultTable, RunFolder, headline, validation_f1};

use crate::failure::Failure;
use crate::outcome::percent;
use crate::progress::Bar;
use crate::rounds::Display;
use crate::table::Table;
use crate::{chosen, interrupt};

/// What to vary, and in what.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A built-in experiment such as `sample`, or the path of a configuration.
    name: String,
    /// The setting and its values, such as model.dims=12,18,24,32.
    #[arg(long, value_name = "KEY=VALUE,...")]
    over: Sweep,
    /// Another value for a key; as often as needed.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<Override>,
    /// Which seeds: 0..3 are 0, 1 and 2; 4 is one seed.
    #[arg(long)]
    seeds: Option<String>,
    /// Where the runs and the report go; `runs/sweep-NAME-KEY` if absent.
    #[arg(long)]
    out: Option<PathBuf>,
    #[command(flatten)]
    display: Display,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let Arguments { name, over, .. } = arguments;
    let changes = chosen::changes(&arguments.overrides, arguments.seeds.as_deref(), None)?;
    let (_, title) = chosen::config(name, &changes)?;
    let default = || Path::new("runs").join(format!("sweep-{title}-{}", over.key));
    let folder = arguments.out.clone().unwrap_or_else(default);
    interrupt::listen("the round", arguments.display.shown());
    let (mut several, mut runs) = (Several::default(), Vec::new());
    // All of them first: a mistake in the last value should not cost the time of the others.
    let configs = over.values.iter().map(|value| {
        over.change(value, |change| {
            let mut all = changes.clone();
            all.push(change);
            chosen::config(name, &all).map(|(config, _)| config)
        })
    });
    let configs = configs.collect::<Result<Vec<_>, Failure>>()?;
    for (value, config) in over.values.iter().zip(&configs) {
        let label = format!("{}={value}", over.key);
        let path = folder.join(&label);
        writeln!(out, "{label}")?;
        out.flush()?;
        let files = Bar::new(arguments.display.shown(), 0, "files");
        let ended = several.complete(config, &title, &path, &files, |rounds| {
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
            "\nThe first value with the highest validation F1: {}={}. Test scores had no say.",
            over.key, runs[place].value
        )?;
    }
    let page = Report::sweep(&over.key, &runs, chosen)?.write(&folder.join("report"), &Format::ALL)?;
    writeln!(out, "Report: {}", page.display())?;
    Ok(())
}
