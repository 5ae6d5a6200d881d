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

/// What to do with data.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// The datasets there are.
    List(list::Arguments),
    /// Download the files of a dataset that are not on the disk yet.
    Fetch(fetch::Arguments),
    /// Compare the files of a dataset with their checksums.
    Verify(verify::Arguments),
    /// Show where data are looked for, and where they go.
    Where(places::Arguments),
    /// Look at one file: rate, channels, annotations, gaps, flat channels, rank, amplitude.
    Inspect(inspect::Arguments),
    /// Turn recordings into covariances or trials, as an .npz file.
    Prepare(prepare::Arguments),
}

/// How results are printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Which dataset, where, and whose data.
#[derive(Args)]
struct Chosen {
    /// A built-in dataset (see `fedspd data list`), or the path of a definition that ends in .toml.
    name: String,
    /// The folder with the files; otherwise the folder of the definition, `FEDSPD_DATA`, MNE's folder and the data folder of the system are searched.
    #[arg(long)]
    root: Option<PathBuf>,
    /// Which subjects, such as 1-10,12; all if absent.
    #[arg(long)]
    subjects: Option<Selection>,
}

impl Chosen {
    fn locations(&self) -> Locations {
        // The files of a dataset of one's own are usually beside its definition.
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

/// The worst of many covariances.
fn quality_json(quality: QualitySummary) -> Value {
    let QualitySummary { rank, smallest, largest, condition } = quality;
    json!({ "rank": rank, "smallest": smallest, "largest": largest, "condition": condition })
}

/// Facts, and how the data were made.
fn with_making(mut facts: Value, making: &Making) -> Value {
    let Making { estimator, align, z_score, bands, windows } = making;
    facts["estimator"] = json!(estimator);
    facts["align"] = json!(align.map(Alignment::name));
    facts["z_score"] = json!(z_score);
    facts["bands"] = json!(bands);
    facts["windows"] = json!(windows);
    facts
}

/// Prints a value for programs.
pub(crate) fn write_json(out: &mut impl Write, value: &Value) -> Result<(), Failure> {
    Ok(writeln!(out, "{value:#}")?)
}
