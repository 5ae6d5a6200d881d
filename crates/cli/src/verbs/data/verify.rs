//! `fedspd data verify`: comparison of files with their checksums.

use std::io::Write;

use clap::Args;
use fedspd_eeg::dataset::definition;
use fedspd_eeg::fetch::State;
use serde_json::json;

use super::{Chosen, Format, write_json};
use crate::failure::Failure;

/// Arguments of `fedspd data verify`.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// Format of the printed result.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let chosen = &arguments.chosen;
    let definition = definition(&chosen.name)?;
    let mut states = Vec::new();
    definition.verify(chosen.subjects.as_ref(), &chosen.locations(), |path, state| {
        states.push((path.to_owned(), state));
    })?;
    let count = |wanted: fn(&State) -> bool| states.iter().filter(|(_, state)| wanted(state)).count();
    let good = count(|state| matches!(state, State::Good));
    let missing = count(|state| matches!(state, State::Missing));
    let wrong = count(|state| matches!(state, State::Wrong { .. }));
    let unchecked = count(|state| matches!(state, State::Unchecked));
    if arguments.format == Format::Json {
        let of = |wanted: fn(&State) -> bool| -> Vec<_> {
            states
                .iter()
                .filter(|(_, state)| wanted(state))
                .map(|(path, _)| path.display().to_string())
                .collect()
        };
        let missing = of(|state| matches!(state, State::Missing));
        let wrong = of(|state| matches!(state, State::Wrong { .. }));
        let facts = json!({ "good": good, "unchecked": unchecked, "missing": missing, "wrong": wrong });
        write_json(out, &facts)?;
    } else {
        for (path, state) in &states {
            match state {
                State::Missing => writeln!(out, "missing  {}", path.display())?,
                State::Wrong { expected, found } => {
                    writeln!(out, "wrong    {} (expected {expected}, found {found})", path.display())?;
                }
                State::Good | State::Unchecked => {}
            }
        }
        writeln!(
            out,
            "files: {good} correct, {wrong} wrong, {missing} missing, {unchecked} without a checksum"
        )?;
    }
    if wrong + missing > 0 { Err(Failure::WrongFiles { wrong, missing }) } else { Ok(()) }
}
