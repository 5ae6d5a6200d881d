//! `fedspd flower`: Flower apps for training across machines.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use fedspd_experiment::config::template;

use super::new::unwritten;
use crate::failure::Failure;

/// Arguments of `fedspd flower`.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Write a Flower app, ready to run, with a commented configuration.
    New {
        /// Folder of the app, which must not exist yet.
        folder: PathBuf,
    },
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let Verb::New { folder } = &arguments.verb;
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let runs = std::path::absolute(folder)?.join("run");
    let project = include_str!("app/pyproject.toml")
        .replace("NAME", &name)
        .replace("\"OUT\"", &toml_text(&runs.to_string_lossy()));
    fs::create_dir(folder).map_err(|error| unwritten(folder, error))?;
    let package = folder.join("fedspd_app");
    fs::create_dir(&package).map_err(|error| unwritten(&package, error))?;
    let files = [
        (folder.join("pyproject.toml"), project),
        (package.join("__init__.py"), "\"\"\"A Flower app over fedspd.\"\"\"\n".to_owned()),
        (package.join("server_app.py"), include_str!("app/server_app.py").to_owned()),
        (package.join("client_app.py"), include_str!("app/client_app.py").to_owned()),
        (package.join("experiment.toml"), template("experiment")),
    ];
    for (path, text) in files {
        fs::write(&path, text).map_err(|error| unwritten(&path, error))?;
    }
    let shown = folder.display();
    Ok(writeln!(
        out,
        "Wrote {shown}. Edit the experiment in {shown}/fedspd_app/experiment.toml and the deployment in {shown}/pyproject.toml. Run it with `python -m fedspd.flower run {shown}`."
    )?)
}

/// Quotes text as a TOML string.
fn toml_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
