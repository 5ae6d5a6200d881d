//! Sandbox folder in which a page runs from top to bottom.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fedspd_experiment::config::Config;

use super::blocks::{self, Block};
use super::root;

/// `fedspd` with little work, and `cargo run` as a call of it.
const FEDSPD: &str = r#"#!/bin/sh
case "$1" in
  run) case "$*" in
      *mode=*|*-centralised*) exec "BINARY" "$@" --set train.epochs=2 --quiet ;;
      *) exec "BINARY" "$@" --set federated.rounds=2 --quiet ;;
    esac ;;
  sweep) exec "BINARY" "$@" --set federated.rounds=2 --quiet ;;
  reproduce) exec "BINARY" "$@" --set federated.rounds=1 --set train.epochs=1 --set run.seeds=0 --set data.subjects=1-6 --quiet ;;
  demo) exec "BINARY" "$@" --rounds 1 --quiet ;;
  *) exec "BINARY" "$@" ;;
esac
"#;
const CARGO: &str = "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec fedspd \"$@\"\n";

pub(crate) fn run(page: &str) {
    let folder = tempfile::tempdir().unwrap();
    furnish(folder.path());
    for block in blocks::of(page) {
        let here = format!("the {} block in line {}", block.language, block.line);
        match &*block.language {
            "sh" if is_left_out(&block) => eprintln!("{here} is not run"),
            "sh" => check(&here, &shell(folder.path(), &block.text)),
            "python" if !interpreter_has(&modules(&block.text)) => {
                eprintln!("{here} is not run: no {:?}", modules(&block.text));
            }
            "python" => check(&here, &python(folder.path(), &block.text)),
            "toml" => toml(folder.path(), &block.text),
            "text" => {}
            other => panic!("{here}: a block must be sh, python, toml or text, not `{other}`"),
        }
    }
}

fn check(here: &str, output: &Output) {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{here}: {}\n{out}{err}", output.status);
}

/// Creates the files that pages assume: two recordings, a definition, new data, and the commands.
fn furnish(folder: &Path) {
    let recordings = folder.join("recordings/S001");
    fs::create_dir_all(&recordings).unwrap();
    for name in ["S001R04.edf", "S001R06.edf"] {
        fs::copy(root().join("golden/eeg/S001").join(name), recordings.join(name)).unwrap();
    }
    fs::copy(recordings.join("S001R04.edf"), folder.join("S001R04.edf")).unwrap();
    // The README uses the study of the page on your own data.
    let study = blocks::of(&super::page("own-data.md"))
        .into_iter()
        .find(|block| block.text.starts_with("# my-study.toml"));
    fs::write(folder.join("my-study.toml"), study.unwrap().text).unwrap();
    fedspd_eeg::sample::sample().unwrap().save(&folder.join("new.npz")).unwrap();
    let commands = folder.join(".bin");
    fs::create_dir(&commands).unwrap();
    let binary = assert_cmd::cargo::cargo_bin!("fedspd").display().to_string();
    for (name, script) in [("fedspd", FEDSPD.replace("BINARY", &binary)), ("cargo", CARGO.to_owned())] {
        let path = commands.join(name);
        fs::write(&path, script).unwrap();
        let made = Command::new("chmod").arg("+x").arg(&path).status();
        assert!(made.unwrap().success());
    }
}

fn is_left_out(block: &Block) -> bool {
    block.marks.iter().any(|mark| match &**mark {
        "not-run" => true,
        "needs-data" => !has_physionet_mi(),
        "needs-numpy" => !interpreter_has(&["numpy".to_owned()]),
        other => panic!("line {}: unknown mark `{other}`", block.line),
    })
}

/// Returns whether `FEDSPD_DATA` has the last recording of PhysionetMI. Ten subjects are not
/// enough, and tests download nothing.
fn has_physionet_mi() -> bool {
    let layouts =
        ["", "MNE-eegbci-data/files/eegmmidb/1.0.0", "physionet.org/files/eegmmidb/1.0.0", "eegmmidb/1.0.0"];
    let root = std::env::var_os("FEDSPD_DATA").map(std::path::PathBuf::from);
    root.is_some_and(|root| layouts.iter().any(|layout| root.join(layout).join("S109/S109R14.edf").exists()))
}

fn shell(folder: &Path, script: &str) -> Output {
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", folder.join(".bin").display());
    Command::new("sh").args(["-euc", script]).current_dir(folder).env("PATH", path).output().unwrap()
}

/// Returns the interpreter of an environment with the wheel, if there is one. With it, every block
/// runs.
fn environment() -> Option<PathBuf> {
    std::env::var_os("FEDSPD_PYTHON").map(PathBuf::from)
}

fn python(folder: &Path, program: &str) -> Output {
    let interpreter = environment().unwrap_or_else(|| "python3".into());
    // The commands of that environment come first.
    let own = interpreter.parent().unwrap_or(Path::new("")).display();
    let path = format!("{own}:{}", std::env::var("PATH").unwrap_or_default());
    let output =
        Command::new(&interpreter).args(["-c", program]).current_dir(folder).env("PATH", path).output();
    output.unwrap_or_else(|error| panic!("{}: {error}", interpreter.display()))
}

/// Returns the modules that a program imports.
fn modules(program: &str) -> Vec<String> {
    let imports = program
        .lines()
        .filter_map(|line| line.strip_prefix("import ").or_else(|| line.strip_prefix("from ")));
    imports.filter_map(|rest| rest.split([' ', '.']).next().map(str::to_owned)).collect()
}

/// Returns whether these modules can be imported. The environment of `FEDSPD_PYTHON` must have all
/// of them.
fn interpreter_has(modules: &[String]) -> bool {
    let found = python(Path::new("."), &format!("import {}", modules.join(", "))).status.success();
    assert!(found || environment().is_none(), "FEDSPD_PYTHON cannot import {}", modules.join(", "));
    found
}

/// Checks the definition of a dataset, the policy of a site or the configuration of an experiment.
/// Writes it to a file if its first line is a file name.
fn toml(folder: &Path, text: &str) {
    let name = text
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("# "))
        .filter(|name| Path::new(name).extension().is_some_and(|ending| ending == "toml"));
    if let Some(name) = name {
        fs::write(folder.join(name), text).unwrap();
    }
    if text.contains("format = ") {
        fedspd_eeg::Definition::parse(Path::new("block.toml"), text).unwrap();
    } else if text.contains("approval = ") {
        fedspd_experiment::remote::SitePolicy::parse(text, Path::new("block.toml")).unwrap();
    } else {
        Config::parse(text, "block.toml", &[]).unwrap();
    }
}
