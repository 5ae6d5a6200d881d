//! The `fedspd` command.
//!
//! There is one file per verb under `verbs/`. [`command`] parses, calls the verb and returns the
//! exit code. Exit codes: 0 success, 1 the user can fix it, 2 a bug or the environment, 130
//! interrupted. The binary and the Python package call this function. Failures go to standard
//! error: a sentence and a hint, or one line of JSON with `--format json`.

mod chosen;
mod failure;
mod interrupt;
mod outcome;
mod printable;
mod progress;
mod rounds;
mod table;
mod verbs;
mod warning;

use std::ffi::OsString;
use std::io::Write;

use clap::{CommandFactory, Parser, Subcommand};

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
    /// Train on a small sample of real EEG in three ways and compare them. Takes about a minute.
    Demo(verbs::demo::Arguments),
    /// List, download, verify, inspect and prepare datasets.
    Data(verbs::data::Arguments),
    /// Write a commented configuration file.
    New(verbs::new::Arguments),
    /// Run an experiment: a built-in one such as `sample`, or your own configuration.
    Run(verbs::run::Arguments),
    /// Run one experiment with several values of a setting and choose the best on validation
    /// trials.
    Sweep(verbs::sweep::Arguments),
    /// Run the paper's experiments and ours on a dataset, and write the paper's table and figure.
    Reproduce(verbs::reproduce::Arguments),
    /// Resume a run that was interrupted or killed.
    Resume(verbs::resume::Arguments),
    /// Write a report on runs: one page, figures and tables.
    Report(verbs::report::Arguments),
    /// Score a trained model on other data.
    Eval(verbs::eval::Arguments),
    /// Predict the classes of new trials with a trained model.
    Predict(verbs::predict::Arguments),
    /// Compare runs: paired differences, tests and effect sizes.
    Compare(verbs::compare::Arguments),
    /// Export trained models for other programs.
    Export(verbs::export::Arguments),
    /// Set up training across machines with Flower.
    Flower(verbs::flower::Arguments),
    /// Check this machine: instruction sets, threads, folders.
    Doctor(verbs::doctor::Arguments),
    /// Print a completion script, to be sourced by your shell.
    Completions(verbs::completions::Arguments),
    /// Print or write manual pages.
    Man(verbs::man::Arguments),
}

/// Runs a command line, whose first word is the name of the program, and returns the exit code.
pub fn command(words: Vec<OsString>) -> u8 {
    // A panic is a bug, so the exit code is 2.
    std::panic::catch_unwind(|| parse_and_run(words)).unwrap_or(2)
}

fn parse_and_run(words: Vec<OsString>) -> u8 {
    interrupt::begin(&words);
    let json = asks_for_json(&words);
    let mut out = std::io::stdout().lock();
    let parsed = Arguments::try_parse_from(words).map_err(Failure::Unparsed);
    let result = parsed.and_then(|arguments| run(arguments.verb, &mut out));
    match result.and_then(|()| out.flush().map_err(Failure::from)) {
        Ok(()) | Err(Failure::OutputClosed) => 0,
        // Help and version go to standard output.
        Err(Failure::Unparsed(answer)) if !answer.use_stderr() => u8::from(answer.print().is_err()),
        Err(failure) => {
            failure.tell(json);
            failure.exit_code()
        }
    }
}

fn run(verb: Verb, out: &mut impl Write) -> Result<(), Failure> {
    match verb {
        Verb::Demo(arguments) => verbs::demo::run(&arguments, out),
        Verb::Data(arguments) => verbs::data::run(&arguments, out),
        Verb::New(arguments) => verbs::new::run(&arguments, out),
        Verb::Run(arguments) => verbs::run::run(&arguments, out),
        Verb::Sweep(arguments) => verbs::sweep::run(&arguments, out),
        Verb::Reproduce(arguments) => verbs::reproduce::run(&arguments, out),
        Verb::Resume(arguments) => verbs::resume::run(&arguments, out),
        Verb::Report(arguments) => verbs::report::run(&arguments, out),
        Verb::Eval(arguments) => verbs::eval::run(&arguments, out),
        Verb::Predict(arguments) => verbs::predict::run(&arguments, out),
        Verb::Compare(arguments) => verbs::compare::run(&arguments, out),
        Verb::Export(arguments) => verbs::export::run(&arguments, out),
        Verb::Flower(arguments) => verbs::flower::run(&arguments, out),
        Verb::Doctor(arguments) => verbs::doctor::run(&arguments, out),
        Verb::Completions(arguments) => verbs::completions::run(&arguments, Arguments::command(), out),
        Verb::Man(arguments) => verbs::man::run(&arguments, Arguments::command(), out),
    }
}

/// Returns whether JSON was requested. Failures are then JSON objects too, even if the command line
/// is invalid.
fn asks_for_json(words: &[OsString]) -> bool {
    words.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json")
        || words.iter().any(|word| word == "--format=json")
}
