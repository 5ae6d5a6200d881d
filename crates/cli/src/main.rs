//! The `fedspd` command.
//!
//! One file per verb under `verbs/`; this file parses, calls the verb and turns its result into an exit code:
//! 0 success, 1 the user can fix it, 2 a bug or the environment.

mod failure;
mod progress;
mod table;
mod verbs;

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand, error::ErrorKind};

use failure::Failure;

/// Federated learning of SPD networks on EEG, with weights that stay on the Stiefel manifold.
#[derive(Parser)]
#[command(name = "fedspd", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Train a small network on generated data, and show what averaging does to its weights.
    Demo(verbs::demo::Arguments),
    /// Datasets: list, download, verify, inspect, and turn into covariances.
    Data(verbs::data::Arguments),
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version go to standard output and are a success; everything else is the user's to fix.
            let asked_for = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            let _ = error.print();
            return ExitCode::from(u8::from(!asked_for));
        }
    };
    let mut out = std::io::stdout().lock();
    let result = match arguments.verb {
        Verb::Demo(arguments) => verbs::demo::run(&arguments, &mut out),
        Verb::Data(arguments) => verbs::data::run(&arguments, &mut out),
    };
    match result.and_then(|()| out.flush().map_err(Failure::from)) {
        Ok(()) | Err(Failure::OutputClosed) => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = write!(std::io::stderr(), "{failure}");
            failure.exit_code()
        }
    }
}
