//! The book and the README hold: every block of commands, Python and TOML in them runs as it stands, every link leads somewhere, and what they say of configurations and run folders is all there is.
//!
//! A page runs from top to bottom in a folder of its own, with `fedspd` the binary that was just built. It is made quick: `run` and `sweep` get two rounds, `demo` one, `reproduce` one of four people (see `sandbox.rs`). Blocks are marked where they
//! cannot always be run, and the marks are counted: `needs-data` runs where `FEDSPD_DATA` has all of PhysionetMI, `needs-numpy` where Python has NumPy, `not-run` never. With `FEDSPD_PYTHON`, an interpreter that has the wheel, every block of Python runs.
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

/// A test for each page, so that they run side by side.
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
    methods: "methods.md",
    flower: "flower.md",
    compare: "compare.md",
    python: "python.md",
    configuration: "configuration.md",
    the_run_folder: "run-folder.md",
    speed: "speed.md",
    limits: "limits.md",
}

#[test]
fn the_readme_runs() {
    sandbox::run(&fs::read_to_string(root().join("README.md")).unwrap());
}

/// Every file of the book is in its summary and tested, and nothing else is.
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

/// Few blocks may be left out.
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
