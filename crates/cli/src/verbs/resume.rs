//! `fedspd resume`: continuation of a run.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use fedspd_experiment::Resumable;
use fedspd_experiment::config::Config;

use super::data::Format;
use crate::failure::Failure;
use crate::interrupt;
use crate::outcome::{self, Told};
use crate::progress::Bar;
use crate::rounds::Display;

/// Arguments of `fedspd resume`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Run folder.
    run: PathBuf,
    /// Number of threads (default: that of the run). Results do not depend on it.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    display: Display,
    /// Format of the printed result.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let files = Bar::new(arguments.display.shown(), 0, "files");
    let threads = arguments.threads.map(usize::from);
    let change = |config: &mut Config| config.run.threads = threads.unwrap_or(config.run.threads);
    let mut run = Resumable::open(&arguments.run, change, &files)?;
    files.finish();
    interrupt::listen("the round", arguments.display.shown());
    let mut rounds = arguments.display.rounds(run.rounds_left()?);
    let told = Told::of(&run.experiment);
    let (results, ended) = run.go_on(&mut rounds)?;
    rounds.bar.finish();
    outcome::write(&told, &arguments.run, &results, ended, arguments.format, out)
}
