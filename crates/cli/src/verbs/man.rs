//! `fedspd man`: manual pages from the definition of the command.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man;
use fedspd_run::atomic;

use crate::failure::Failure;

/// Arguments of `fedspd man`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Folder for the pages of all commands (default: print the page of `fedspd`).
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, command: Command, out: &mut impl Write) -> Result<(), Failure> {
    let mut command = command.disable_help_subcommand(true);
    // Gives every verb its full name, such as `fedspd data list`.
    command.build();
    let Some(folder) = &arguments.out else { return Ok(Man::new(command).render(out)?) };
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::Usage(format!("{} cannot be created: {error}", folder.display())))?;
    write_pages(&command, folder, out)
}

/// Writes the pages of a command and of its subcommands.
fn write_pages(command: &Command, folder: &Path, out: &mut impl Write) -> Result<(), Failure> {
    let page = Man::new(command.clone());
    let path = folder.join(page.get_filename());
    let mut bytes = Vec::new();
    page.render(&mut bytes)?;
    atomic::write(&path, &bytes)?;
    writeln!(out, "{}", path.display())?;
    command
        .get_subcommands()
        .filter(|verb| !verb.is_hide_set())
        .try_for_each(|verb| write_pages(verb, folder, out))
}
