//! `fedspd data where`: the data folders.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use fedspd_eeg::fetch::{Environment, Locations};
use serde_json::json;

use super::{Format, write_json};
use crate::failure::Failure;

/// Arguments of `fedspd data where`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Folder to search first.
    #[arg(long)]
    root: Option<PathBuf>,
    /// Format of the printed result.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let locations = Locations::new(arguments.root.as_deref(), &Environment::from_env());
    let downloads = locations.download_target();
    // Not every path is valid text; json! would panic at such a path.
    let name = |path: &Path| path.display().to_string();
    if arguments.format == Format::Json {
        let searched: Vec<String> = locations.folders().iter().map(|folder| name(folder)).collect();
        return write_json(out, &json!({ "searched": searched, "downloads": downloads.map(name) }));
    }
    writeln!(out, "searched, in this order:")?;
    for folder in locations.folders() {
        let there = if folder.is_dir() { "" } else { " (not there)" };
        writeln!(out, "  {}{there}", folder.display())?;
    }
    match downloads {
        Some(folder) => writeln!(out, "downloads go to:\n  {}", folder.display())?,
        None => writeln!(out, "no folder for downloads: set FEDSPD_DATA")?,
    }
    Ok(())
}
