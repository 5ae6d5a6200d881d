//! `fedspd doctor`: instruction sets, threads and folders of this machine.

use std::io::Write;
use std::path::Path;

use clap::Args;
use fedspd_eeg::fetch::{Environment, Locations};
use fedspd_manifold::simd::Simd;
use serde_json::json;

use super::data::{Format, write_json};
use crate::failure::Failure;
use crate::table::Table;

/// Arguments of `fedspd doctor`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Format of the printed result.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let simd = Simd::detect()?;
    let available: Vec<&str> = Simd::available().map(Simd::name).collect();
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let locations = Locations::new(None, &Environment::from_env());
    let folders: Vec<(String, &str)> =
        locations.folders().iter().map(|folder| (folder.display().to_string(), state(folder))).collect();
    let here = if writable(Path::new(".")) { "writable" } else { "read-only" };
    if arguments.format == Format::Json {
        let folders = folders.iter().map(|(folder, state)| json!({ "folder": folder, "state": state }));
        return write_json(
            out,
            &json!({
                "version": env!("CARGO_PKG_VERSION"), "instructions": simd.name(), "available": available, "threads": threads,
                "data_folders": folders.collect::<Vec<_>>(), "this_folder": here,
            }),
        );
    }
    let mut table = Table::new(2, &["item", "found"]);
    table.row(vec!["version".into(), env!("CARGO_PKG_VERSION").into()]);
    table.row(vec!["instructions".into(), format!("{} (of {})", simd.name(), available.join(", "))]);
    table.row(vec!["threads".into(), threads.to_string()]);
    for (folder, state) in folders {
        table.row(vec!["data folder".into(), format!("{folder}: {state}")]);
    }
    table.row(vec!["this folder".into(), here.into()]);
    Ok(table.write(out)?)
}

fn state(folder: &Path) -> &'static str {
    match (folder.is_dir(), writable(folder)) {
        (false, _) => "missing",
        (true, true) => "writable",
        (true, false) => "read-only",
    }
}

/// Returns whether a file can be created in a folder. Creates one, because permissions alone do not
/// tell.
fn writable(folder: &Path) -> bool {
    let probe = folder.join(format!(".fedspd-{}.partial", std::process::id()));
    let made = std::fs::File::create_new(&probe).is_ok();
    made && std::fs::remove_file(&probe).is_ok()
}
