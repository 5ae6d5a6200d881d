//! Faults in file operations. Every operation of a command is killed, torn or failed once, and the
//! command is repeated. The result must have the bytes of an undisturbed one.
//!
//! `preload.c` disturbs the operations. The tests need Linux and a C compiler.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)] // helpers of tests may panic as tests do
#![allow(clippy::print_stderr)] // the tests print what they cover

mod disturb;
mod scenario;
mod tree;

use std::fs;
use std::path::Path;

use disturb::{Fault, Library, Mode, fedspd};
use scenario::Scenario;

const CONFIG: &str = r#"
    [data]
    name = "generated"
    [data.generated]
    subjects = 4
    trials = 8
    channels = 4
    classes = 2
    [model]
    dims = [3]
    [federated]
    rounds = 3
    # Subject 4 has no client, so that every seed begins with a warning.
    clients = { a = [1, 2], b = [3] }
    [run]
    seeds = [0, 1]
    threads = 1
"#;

const RUN: &[&str] = &["run", "small.toml", "--out", "out/run", "--quiet"];
const RESUME: &[&str] = &["resume", "out/run", "--quiet"];

fn config(folder: &Path) {
    fs::write(folder.join("small.toml"), CONFIG).unwrap();
}

/// A run that was set up is resumed, otherwise it begins again.
fn resume_or_run(folder: &Path) -> &'static [&'static str] {
    if folder.join("out/run/manifest.json").exists() { RESUME } else { RUN }
}

#[test]
fn run() {
    Scenario { name: "run", before: &config, command: RUN, again: &resume_or_run }.check();
}

#[test]
fn resume() {
    let Some(library) = Library::build() else { return };
    // Killed between the first and the second round.
    let before = |folder: &Path| {
        config(folder);
        let operations = library.operations(folder, RUN);
        fs::remove_dir_all(folder.join("out")).unwrap();
        fs::create_dir(folder.join("out")).unwrap();
        let first = |line: &String| line.starts_with("rename") && line.ends_with("seed-0.ckpt");
        let at = operations.iter().position(first).unwrap() + 2;
        let (code, _) = library.disturbed(folder, RUN, Fault { mode: Mode::Kill, at });
        assert_eq!(code, None);
    };
    Scenario { name: "resume", before: &before, command: RESUME, again: &|_| RESUME }.check();
}

#[test]
fn sweep() {
    const SWEEP: &[&str] =
        &["sweep", "small.toml", "--over", "train.lr=1e-2,1e-3", "--out", "out/sweep", "--quiet"];
    Scenario { name: "sweep", before: &config, command: SWEEP, again: &|_| SWEEP }.check();
}

#[test]
fn report() {
    const REPORT: &[&str] = &["report", "out/run"];
    let before = |folder: &Path| {
        config(folder);
        assert_eq!(fedspd(folder, RUN), (Some(0), String::new()));
    };
    Scenario { name: "report", before: &before, command: REPORT, again: &|_| REPORT }.check();
}

#[test]
fn prepare() {
    const PREPARE: &[&str] = &[
        "data",
        "prepare",
        "mine.toml",
        "--root",
        "files",
        "--out",
        "out/mine.npz",
        "--quality",
        "out/mine.csv",
        "--progress",
        "off",
        "--threads",
        "1",
    ];
    let before = |folder: &Path| {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/eeg");
        fs::create_dir_all(folder.join("files/S001")).unwrap();
        fs::copy(golden.join("S001/S001R04.edf"), folder.join("files/S001/S001R04.edf")).unwrap();
        let definition = r#"
            name = "mine"
            format = "edf"
            files = "S{subject:3}/S{subject:3}R{run:2}.edf"
            sfreq = 160
            interval = [0, 3]
            band = [8, 32]
            events = [{ classes = { T1 = "one", T2 = "two" } }]
        "#;
        fs::write(folder.join("mine.toml"), definition).unwrap();
    };
    Scenario { name: "data prepare", before: &before, command: PREPARE, again: &|_| PREPARE }.check();
}
