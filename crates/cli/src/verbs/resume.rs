//! `fedspd resume`: go on with a run.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use fedspd_experiment::resume;

use super::data::Format;
use crate::failure::Failure;
use crate::progress::Bar;
use crate::rounds::Display;
use crate::{interrupt, outcome};

/// Which run.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The run folder.
    run: PathBuf,
    /// Threads; as many as the machine has if absent. Results do not depend on it.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    display: Display,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    interrupt::listen();
    // How many rounds are left is known to the folder alone, and a bar that begins too late is no lie.
    let mut rounds = arguments.display.rounds(0);
    let files = Bar::new(arguments.display.shown(), 0, "files");
    let threads = arguments.threads.map(usize::from);
    let change = |config: &mut fedspd_experiment::config::Config| {
        config.run.threads = threads.unwrap_or(config.run.threads);
    };
    let (experiment, results, ended) = resume(&arguments.run, change, &files, &mut rounds)?;
    rounds.bar.finish();
    outcome::write(&experiment, &arguments.run, &results, ended, arguments.format, out)
}
