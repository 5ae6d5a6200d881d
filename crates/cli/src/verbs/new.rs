//! `fedspd new`: a configuration to begin with.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use fedspd_experiment::config::{Config, template};

use super::data::write_json;
use crate::failure::Failure;

/// What to write.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The name of the experiment: NAME.toml is written in this folder.
    #[arg(required_unless_present = "schema")]
    name: Option<String>,
    /// Print the JSON Schema of configurations instead, for editors.
    #[arg(long, conflicts_with = "name")]
    schema: bool,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let Some(name) = &arguments.name else { return write_json(out, &Config::schema()) };
    let path = PathBuf::from(name).with_extension("toml");
    let shown = path.display();
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let file = OpenOptions::new().write(true).create_new(true).open(&path);
    file.and_then(|mut file| file.write_all(template(&stem).as_bytes()))
        .map_err(|error| unwritten(&path, error))?;
    Ok(writeln!(
        out,
        "{shown} is there. Change it, look ahead with `fedspd run {shown} --dry-run`, then `fedspd run {shown}`."
    )?)
}

/// What is there already is the user's to move; what else the system refuses is the machine's.
pub(super) fn unwritten(path: &Path, error: std::io::Error) -> Failure {
    if error.kind() == std::io::ErrorKind::AlreadyExists {
        return Failure::Usage(format!("{} cannot be written: {error}", path.display()));
    }
    Failure::from(fedspd_run::Error::File { path: path.to_owned(), source: error })
}
