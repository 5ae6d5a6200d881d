//! `fedspd run`: an experiment, from its configuration to a run folder.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use fedspd_experiment::config::{Override, PRESETS};
use fedspd_experiment::{Experiment, Forecast, run as run_experiment};

use super::data::{Format, write_json};
use crate::failure::Failure;
use crate::outcome::{self, Told};
use crate::progress::Bar;
use crate::rounds::Display;
use crate::table::Table;
use crate::warning::warn;
use crate::{chosen, interrupt};

/// Arguments of `fedspd run`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Built-in experiment such as `sample`, or path of a configuration (see `fedspd new`).
    #[arg(required_unless_present = "list")]
    name: Option<String>,
    /// List the built-in experiments.
    #[arg(long)]
    list: bool,
    /// Change a key, such as federated.aggregation=rl-avg; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<Override>,
    /// Seeds: 0..3 means 0, 1 and 2; 0,4 means the seeds 0 and 4.
    #[arg(long)]
    seeds: Option<String>,
    /// Run folder (default: `runs/NAME-HASH`).
    #[arg(long)]
    out: Option<PathBuf>,
    /// Number of threads (default: `run.threads`, otherwise all cores). Results do not depend on
    /// it.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Show the planned run, and write nothing.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    display: Display,
    /// Format of the printed result.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    // The parser requires a name unless --list is given.
    let Some(name) = arguments.name.as_deref().filter(|_| !arguments.list) else {
        return list(arguments.format, out);
    };
    let changes = chosen::changes(&arguments.overrides, arguments.seeds.as_deref(), arguments.threads)?;
    let (config, name) = chosen::config(name, &changes)?;
    let files = Bar::new(arguments.display.shown(), 0, "files");
    let experiment = Experiment::new(config, &files)?;
    files.finish();
    if arguments.dry_run {
        return forecast(&experiment, arguments.format, out);
    }
    let folder = match &arguments.out {
        Some(folder) => folder.clone(),
        None => Path::new("runs").join(format!("{name}-{}", &experiment.config_hash()[..8])),
    };
    interrupt::listen("the round", arguments.display.shown());
    let mut rounds = arguments.display.rounds(experiment.all_rounds()?);
    let (results, ended) = run_experiment(&experiment, &name, &folder, &mut rounds)?;
    rounds.bar.finish();
    outcome::write(&Told::of(&experiment), &folder, &results, ended, arguments.format, out)
}

/// Lists the built-in experiments.
fn list(format: Format, out: &mut impl Write) -> Result<(), Failure> {
    if format == Format::Json {
        let presets: Vec<_> = PRESETS
            .iter()
            .map(|preset| serde_json::json!({ "name": preset.name, "about": preset.about }))
            .collect();
        return write_json(out, &presets.into());
    }
    let mut table = Table::new(2, &["name", "description"]);
    for preset in PRESETS {
        table.row(vec![preset.name.into(), preset.about.into()]);
    }
    Ok(table.write(out)?)
}

fn forecast(experiment: &Experiment, format: Format, out: &mut impl Write) -> Result<(), Failure> {
    let (forecast, warnings) = (Forecast::new(experiment)?, experiment.warnings()?);
    warn(&warnings);
    let classes = &experiment.dataset.about().classes;
    if format == Format::Json {
        return write_json(
            out,
            &serde_json::json!({
                "shards": forecast.shards, "classes": classes, "folds": forecast.folds, "rounds": forecast.rounds, "participants": forecast.participants, "parameters": forecast.parameters,
                "shared": forecast.shared, "bytes_per_round": forecast.bytes_per_round, "data_bytes": forecast.data_bytes, "state_bytes": forecast.state_bytes,
                "reply_bytes": forecast.reply_bytes, "seconds": forecast.seconds,
                "warnings": warnings,
            }),
        );
    }
    writeln!(out, "Trials for training, validation and test, by class ({}):\n", classes.join(", "))?;
    let mut table = Table::new(2, &["client", "subjects", "training", "validation", "test"]);
    let counts = |counts: &[usize]| counts.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    for client in &forecast.shards.clients {
        let subjects = client.subjects.join(", ");
        table.row(vec![
            client.name.clone(),
            subjects,
            counts(&client.train),
            counts(&client.val),
            counts(&client.test),
        ]);
    }
    for held_out in &forecast.shards.held_out {
        table.row(vec![
            "held out".into(),
            held_out.subject.clone(),
            String::new(),
            String::new(),
            counts(&held_out.trials),
        ]);
    }
    table.write(out)?;
    let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    writeln!(out)?;
    let mut table = Table::new(1, &["quantity", "value"]);
    for (what, value) in [
        ("seeds", experiment.config.run.seeds.as_slice().len().to_string()),
        ("folds", forecast.folds.to_string()),
        ("rounds, at most", forecast.rounds.to_string()),
        ("clients in a round", forecast.participants.to_string()),
        ("parameters", forecast.parameters.to_string()),
        ("parameters sent", forecast.shared.to_string()),
        ("sent per round, up and down", megabytes(forecast.bytes_per_round)),
        ("memory for trials", megabytes(forecast.data_bytes)),
        ("memory for client state", megabytes(forecast.state_bytes)),
        ("memory for replies until a round ends", megabytes(forecast.reply_bytes)),
        ("time, about", duration(forecast.seconds)),
    ] {
        table.row(vec![what.into(), value]);
    }
    Ok(table.write(out)?)
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}
