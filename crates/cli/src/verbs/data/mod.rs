//! `fedspd data`: datasets, from the server to covariances.

mod fetch;
mod inspect;
mod list;
mod places;
mod prepare;
mod report;
mod verify;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use fedspd_eeg::dataset::Selection;
use fedspd_eeg::fetch::{Environment, Locations};
use fedspd_eeg::{Alignment, Making, QualitySummary};
use serde_json::{Value, json};

use crate::failure::Failure;

/// Arguments of `fedspd data`.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// List the built-in datasets.
    List(list::Arguments),
    /// Download the missing files of a dataset.
    Fetch(fetch::Arguments),
    /// Compare the files of a dataset with their checksums.
    Verify(verify::Arguments),
    /// Show the folders that are searched for data, and the download folder.
    Where(places::Arguments),
    /// Summarise one file: rate, channels, annotations, gaps, flat channels, rank, amplitude.
    Inspect(inspect::Arguments),
    /// Turn recordings into covariances or trials, as an .npz file.
    Prepare(prepare::Arguments),
}

/// Format of printed results.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text for people.
    Text,
    /// JSON for programs.
    Json,
}

/// Choice of dataset, folder and subjects.
#[derive(Args)]
struct Chosen {
    /// Built-in dataset (see `fedspd data list`), or path of a definition that ends in .toml.
    name: String,
    /// Folder with the files. Otherwise the folder of the definition, `FEDSPD_DATA`, MNE's folder
    /// and the system's data folder are searched.
    #[arg(long)]
    root: Option<PathBuf>,
    /// Subjects, such as 1-10,12 (default: all).
    #[arg(long)]
    subjects: Option<Selection>,
}

impl Chosen {
    fn locations(&self) -> Locations {
        // Files of a custom dataset are usually next to its definition.
        let beside =
            Path::new(&self.name).extension().is_some().then(|| Path::new(&self.name).parent()).flatten();
        let beside = beside.map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        Locations::new(self.root.as_deref().or(beside), &Environment::from_env())
    }
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    match &arguments.verb {
        Verb::List(arguments) => list::run(arguments, out),
        Verb::Fetch(arguments) => fetch::run(arguments, out),
        Verb::Verify(arguments) => verify::run(arguments, out),
        Verb::Where(arguments) => places::run(arguments, out),
        Verb::Inspect(arguments) => inspect::run(arguments, out),
        Verb::Prepare(arguments) => prepare::run(arguments, out),
    }
}

/// Returns the worst quality of many covariances as JSON.
fn quality_json(quality: QualitySummary) -> Value {
    let QualitySummary { rank, smallest, largest, condition } = quality;
    json!({ "rank": rank, "smallest": smallest, "largest": largest, "condition": condition })
}

/// Adds the preparation of the data to the facts.
fn with_making(mut facts: Value, making: &Making) -> Value {
    facts["estimator"] = json!(making.estimator());
    facts["align"] = json!(making.alignment().map(Alignment::name));
    facts["z_score"] = json!(making.z_score());
    facts["bands"] = json!(making.bands());
    facts["windows"] = json!(making.windows());
    facts
}

/// Prints a value as JSON.
pub(crate) fn write_json(out: &mut impl Write, value: &Value) -> Result<(), Failure> {
    Ok(writeln!(out, "{value:#}")?)
}
