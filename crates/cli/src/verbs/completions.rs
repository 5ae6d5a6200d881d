//! `fedspd completions`: completion scripts for shells, from the definition of the command.

use std::io::Write;

use clap::{Args, Command};
use clap_complete::{Shell, generate};

use crate::failure::Failure;

/// Arguments of `fedspd completions`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments, mut command: Command, out: &mut impl Write) -> Result<(), Failure> {
    // The generator panics if it cannot write.
    let mut script = Vec::new();
    generate(arguments.shell, &mut command, "fedspd", &mut script);
    Ok(out.write_all(&script)?)
}
