//! Fuzz target: definitions of datasets, and their use on a small recording.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use fedspd_eeg::Definition;
use fedspd_eeg::prepare::{Plan, PlanOptions};
use fedspd_fuzz::{Memory, Target, words};

/// A definition that fits the recording.
const SMALL: &str = r#"name = "mine"
format = "edf"
files = "S{subject}/{session}/R{run:2}.edf"
subjects = "1-2"
sessions = ["a"]
runs = ["1"]
sfreq = 20
unit = "uV"
channels = ["Fp1", "Cz"]
rename = { "EEG Fp1" = "Fp1" }
interval = [0, 0.5]
band = [1, 9]
events = [{ runs = ["1"], classes = { T1 = "one", blink = "two", "look left" = "two", left = "one" } }]
excluded = [{ subject = "2", reason = "broken" }]
"#;

fn main() -> ExitCode {
    fedspd_fuzz::main(target())
}

fn target() -> Result<Target, Box<dyn Error>> {
    let physionet = include_str!("../../../crates/eeg/src/dataset/physionet-mi.toml");
    let weibo = include_str!("../../../crates/eeg/src/dataset/weibo2014.toml");
    let scratch = tempfile::tempdir()?;
    fs::create_dir_all(scratch.path().join("S1/a"))?;
    fs::write(scratch.path().join("S1/a/R01.edf"), include_bytes!("../../../golden/edf/small.edf"))?;
    Ok(Target {
        name: "definition",
        seeds: [SMALL, &SMALL.replace("channels =", "# channels ="), physionet, weibo]
            .map(|text| text.as_bytes().to_vec())
            .to_vec(),
        tokens: &[
            b"{subject:9}",
            b"{subject:4294967295}",
            b"{session}{session}",
            b"{run}{run}",
            b"{}",
            b"*",
            b"..",
            b"\"1-4294967295\"",
            b"[1e6, 1e9]",
            b"1e6",
            b"format = \"mat\"",
            b"[mat]\n",
        ],
        read: Box::new(move |bytes| {
            let read = prepare(&String::from_utf8_lossy(bytes), scratch.path());
            read.map_or_else(|error| words(&error), |trials| format!("{} trials", trials.min(2)))
        }),
        // A selection of subjects may be a range. The recording may be resampled to a high rate.
        memory: Memory { fixed: 256 << 20, per_byte: 4096 },
    })
}

fn prepare(text: &str, folder: &Path) -> Result<usize, fedspd_eeg::Error> {
    let definition =
        Definition::parse(Path::new("mine.toml"), text).inspect_err(|error| drop(error.hint()))?;
    let options = PlanOptions { resample: true, ..PlanOptions::default() };
    let plan = Plan::new(definition, &[folder.to_owned()], &options)?;
    let trials = plan.all_trials(plan.definition().band, &())?;
    Ok(trials.about.origins.len())
}
