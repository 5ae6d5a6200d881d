//! `fedspd new`: a commented configuration file.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use fedspd_experiment::config::{Config, template};

use super::data::write_json;
use crate::failure::Failure;

/// Arguments of `fedspd new`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Name of the experiment. The file is NAME.toml in this folder.
    #[arg(required_unless_present = "schema")]
    name: Option<String>,
    /// Print the JSON Schema of configurations for editors instead.
    #[arg(long, conflicts_with = "name")]
    schema: bool,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let Some(name) = &arguments.name else { return write_json(out, &Config::schema()) };
    let path = PathBuf::from(name).with_extension("toml");
    let shown = path.display();
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let file = OpenOptions::new().write(true).create_new(true).open(&path);
    let mut file = file.map_err(|error| unwritten(&path, error))?;
    file.write_all(template(&stem).as_bytes()).map_err(|error| {
        // Half a file would stand in the way of the next attempt. The first error is the one to report.
        let _ = std::fs::remove_file(&path);
        unwritten(&path, error)
    })?;
    Ok(writeln!(
        out,
        "Wrote {shown}. Edit it, check it with `fedspd run {shown} --dry-run`, then start `fedspd run {shown}`."
    )?)
}

/// Returns the failure to write a file or folder. An existing one is the user's to move; other
/// causes are the machine's.
pub(super) fn unwritten(path: &Path, error: std::io::Error) -> Failure {
    if error.kind() == std::io::ErrorKind::AlreadyExists {
        let path = path.display();
        return Failure::Usage(format!(
            "{path} exists already, and nothing is overwritten: choose another name, or delete it first"
        ));
    }
    Failure::from(fedspd_run::Error::File { path: path.to_owned(), source: error })
}
