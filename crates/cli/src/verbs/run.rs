//! `fedspd run`: an experiment, from its configuration to a run folder.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use fedspd_experiment::config::{Config, Override, Source, builtin, builtin_names};
use fedspd_experiment::{Experiment, Forecast, run as run_experiment};

use super::data::{Format, write_json};
use crate::failure::Failure;
use crate::progress::Bar;
use crate::rounds::Display;
use crate::table::Table;
use crate::{interrupt, outcome};

/// What to run, and how.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A built-in experiment such as `sample`, or the path of a configuration (see `fedspd new`).
    name: String,
    /// Another value for a key, such as federated.aggregation=rl-avg; as often as needed.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<Override>,
    /// Which seeds: 0..3 are 0, 1 and 2; 4 is one seed.
    #[arg(long)]
    seeds: Option<String>,
    /// The run folder; `runs/NAME-HASH` if absent.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Threads; as many as the machine has if absent. Results do not depend on it.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Say what would be done, and write nothing.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    display: Display,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let (config, name) = config(arguments)?;
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
    interrupt::listen();
    let seeds = experiment.config.run.seeds.as_slice();
    let mut rounds = arguments.display.rounds(seeds.len() * experiment.rounds() as usize);
    let (results, ended) = run_experiment(&experiment, &name, &folder, &mut rounds)?;
    rounds.bar.finish();
    outcome::write((seeds, experiment.held_out_note()), &folder, &results, ended, arguments.format, out)
}

/// The configuration with all overrides, and its name.
fn config(arguments: &Arguments) -> Result<(Config, String), Failure> {
    let mut overrides = arguments.overrides.clone();
    if let Some(seeds) = &arguments.seeds {
        overrides.push(format!("run.seeds={seeds:?}").parse()?);
    }
    if let Some(threads) = arguments.threads {
        overrides.push(format!("run.threads={threads}").parse()?);
    }
    let (text, file, name) = if let Some(text) = builtin(&arguments.name) {
        (text.to_owned(), format!("the built-in `{}`", arguments.name), arguments.name.clone())
    } else {
        let path = Path::new(&arguments.name);
        let text = std::fs::read_to_string(path).map_err(|error| unreadable(&arguments.name, &error))?;
        let stem = path.file_stem().map_or_else(|| "run".into(), |stem| stem.to_string_lossy().into_owned());
        (text, arguments.name.clone(), stem)
    };
    let mut config = Config::parse(&text, &file, &overrides)?;
    // A run may be resumed from anywhere.
    if let Source::Definition(path) | Source::Npz(path) = config.data.source()? {
        config.data.name = std::path::absolute(&path)?.to_string_lossy().into_owned();
    }
    if let Some(root) = &config.data.root {
        config.data.root = Some(std::path::absolute(root)?);
    }
    Ok((config, name))
}

fn unreadable(name: &str, error: &std::io::Error) -> Failure {
    let known = builtin_names().join(", ");
    Failure::Usage(format!(
        "{name} is not a built-in experiment ({known}), and the file cannot be read: {error}"
    ))
}

fn forecast(experiment: &Experiment, format: Format, out: &mut impl Write) -> Result<(), Failure> {
    let forecast = Forecast::new(experiment)?;
    let classes = &experiment.dataset.about().classes;
    if format == Format::Json {
        return write_json(
            out,
            &serde_json::json!({
                "shards": forecast.shards, "classes": classes, "rounds": forecast.rounds, "participants": forecast.participants, "parameters": forecast.parameters,
                "shared": forecast.shared, "bytes_per_round": forecast.bytes_per_round, "data_bytes": forecast.data_bytes, "state_bytes": forecast.state_bytes,
                "seconds": forecast.seconds,
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
    let mut table = Table::new(1, &["what", "value"]);
    for (what, value) in [
        ("seeds", experiment.config.run.seeds.as_slice().len().to_string()),
        ("rounds, at most", forecast.rounds.to_string()),
        ("clients in a round", forecast.participants.to_string()),
        ("parameters", forecast.parameters.to_string()),
        ("parameters that are sent", forecast.shared.to_string()),
        ("sent in a round, both ways", megabytes(forecast.bytes_per_round)),
        ("memory of the trials", megabytes(forecast.data_bytes)),
        ("memory of what clients keep", megabytes(forecast.state_bytes)),
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
