//! Checks the book and the README. Every block of commands, Python and TOML runs as written, and
//! every local link works. The pages on configurations and run folders are complete.
//!
//! A page runs from top to bottom in a folder of its own, with the `fedspd` binary that was just
//! built. To save time, `run` and `sweep` get two rounds, `demo` one, and `reproduce` one with six
//! subjects (see `sandbox.rs`).
//!
//! Blocks that cannot always run have marks, which are counted. `needs-data` runs if `FEDSPD_DATA`
//! has all of PhysionetMI, `needs-numpy` if Python has NumPy, `not-run` never. If `FEDSPD_PYTHON`
//! names an interpreter with the wheel, every block of Python runs.
#![allow(clippy::unwrap_used, clippy::print_stderr)] // helpers of tests may panic as tests do, and say what they leave out

mod blocks;
mod links;
mod reference;
mod run_folder;
mod sandbox;

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn page(file: &str) -> String {
    fs::read_to_string(root().join("docs/src").join(file)).unwrap()
}

/// Makes a test for each page, so that pages run in parallel.
macro_rules! pages {
    ($($name:ident: $file:literal),* $(,)?) => {
        const PAGES: &[&str] = &[$($file),*];
        $(#[test]
        fn $name() {
            sandbox::run(&page($file));
        })*
    };
}

pages! {
    start: "start.md",
    reproduce: "reproduce.md",
    physionet_mi: "physionet-mi.md",
    own_data: "own-data.md",
    predict: "predict.md",
    methods: "methods.md",
    flower: "flower.md",
    threat_model: "threat-model.md",
    compare: "compare.md",
    python: "python.md",
    configuration: "configuration.md",
    definition: "definition.md",
    the_run_folder: "run-folder.md",
    speed: "speed.md",
    limits: "limits.md",
}

#[test]
fn the_readme_runs() {
    sandbox::run(&fs::read_to_string(root().join("README.md")).unwrap());
}

/// The summary, the tests and the files of the book list the same pages.
#[test]
fn the_summary_is_complete() {
    let listed: Vec<String> = links::of(&page("SUMMARY.md"));
    assert_eq!(listed, PAGES);
    let mut files: Vec<String> = fs::read_dir(root().join("docs/src"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| {
            Path::new(name).extension().is_some_and(|ending| ending == "md") && name != "SUMMARY.md"
        })
        .collect();
    files.sort();
    let mut expected = PAGES.to_vec();
    expected.sort_unstable();
    assert_eq!(files, expected);
}

/// Only a few blocks may be skipped.
#[test]
fn exceptions_are_few() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let texts = PAGES.iter().map(|file| page(file)).chain([readme]);
    let blocks: Vec<_> = texts.flat_map(|text| blocks::of(&text)).collect();
    let marked = |mark: &str| blocks.iter().filter(|block| block.marks.iter().any(|m| m == mark)).count();
    let runnable = blocks.iter().filter(|block| ["sh", "python", "toml"].contains(&&*block.language)).count();
    assert!(runnable > 25, "{runnable}");
    assert_eq!((marked("needs-data"), marked("needs-numpy"), marked("not-run")), (5, 1, 2));
}
