//! The `fedspd` command.
//!
//! One file per verb under `verbs/`; [`command`] parses, calls the verb and turns its result into an exit code:
//! 0 success, 1 the user can fix it, 2 a bug or the environment, 130 interrupted. The binary and the Python package call this one function. Failures go to standard error: a sentence and a hint, or an
//! object on one line for who asked for `--format json`.

mod chosen;
mod failure;
mod interrupt;
mod outcome;
mod printable;
mod progress;
mod rounds;
mod table;
mod verbs;

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
    /// Train on a small sample of real EEG in every way there is, and compare. Takes about a minute.
    Demo(verbs::demo::Arguments),
    /// Datasets: list, download, verify, inspect, and turn into covariances.
    Data(verbs::data::Arguments),
    /// Write a commented configuration to begin with.
    New(verbs::new::Arguments),
    /// Run an experiment: a built-in one such as `sample`, or a configuration of your own.
    Run(verbs::run::Arguments),
    /// Run one experiment with several values of a setting, and choose on validation trials.
    Sweep(verbs::sweep::Arguments),
    /// Run the paper's experiments on a dataset, and ours beside them; ends in its table and figure.
    Reproduce(verbs::reproduce::Arguments),
    /// Go on with a run that was interrupted or killed.
    Resume(verbs::resume::Arguments),
    /// Turn runs into a report: one page, figures, tables.
    Report(verbs::report::Arguments),
    /// Try a trained model on other data.
    Eval(verbs::eval::Arguments),
    /// Which of several runs is better, and how sure one may be of it.
    Compare(verbs::compare::Arguments),
    /// Hand trained models on to other programs.
    Export(verbs::export::Arguments),
    /// Training across machines, with Flower.
    Flower(verbs::flower::Arguments),
    /// What this machine offers: instructions, threads, folders.
    Doctor(verbs::doctor::Arguments),
    /// What a shell needs to complete commands, to be sourced by it.
    Completions(verbs::completions::Arguments),
    /// Manual pages.
    Man(verbs::man::Arguments),
}

/// Does what the words ask for, the first of which is the name of the command, and gives the exit code.
pub fn command(words: Vec<OsString>) -> u8 {
    // A bug is no excuse for an exit code that means something else.
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
        // Help and version, which go to standard output.
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
        Verb::Compare(arguments) => verbs::compare::run(&arguments, out),
        Verb::Export(arguments) => verbs::export::run(&arguments, out),
        Verb::Flower(arguments) => verbs::flower::run(&arguments, out),
        Verb::Doctor(arguments) => verbs::doctor::run(&arguments, out),
        Verb::Completions(arguments) => verbs::completions::run(&arguments, Arguments::command(), out),
        Verb::Man(arguments) => verbs::man::run(&arguments, Arguments::command(), out),
    }
}

/// Whether JSON was asked for: then a failure is an object as well, also that to make sense of the words.
fn asks_for_json(words: &[OsString]) -> bool {
    words.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json")
        || words.iter().any(|word| word == "--format=json")
}
