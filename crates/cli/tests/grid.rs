//! Several runs from one command: sweeps and the paper's grid.
#![allow(clippy::unwrap_used)] // helpers of tests may panic as tests do

use std::path::Path;
use std::process::Command;

use tempfile::tempdir;

/// Runs the command in a folder, without recordings of this machine. Returns its exit code and
/// output.
fn fedspd(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(assert_cmd::cargo::cargo_bin!("fedspd"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("FEDSPD_DATA")
        .env("HOME", folder)
        .env("XDG_DATA_HOME", folder)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn what_is_built_in_is_listed() {
    let folder = tempdir().unwrap();
    let (code, out, _) = fedspd(folder.path(), &["run", "--list"]);
    assert_eq!(code, 0);
    for name in
        ["sample", "physionet-mi-spdnet-half-rl-avg", "physionet-mi-best", "weibo2014-eegnet-centralised"]
    {
        assert!(out.contains(name), "{out}");
    }
    let (code, _, error) = fedspd(folder.path(), &["run"]);
    assert!(code == 1 && error.contains("<NAME>"), "{error}");
}

#[test]
fn a_sweep_chooses_on_validation_trials_and_does_nothing_twice() {
    let folder = tempdir().unwrap();
    let sweep = [
        "sweep",
        "sample",
        "--over",
        "model.dims=4,[6, 5]",
        "--seeds",
        "0..2",
        "--set",
        "federated.rounds=2",
        "--out",
        "swept",
        "-q",
    ];
    let (code, first, error) = fedspd(folder.path(), &sweep);
    assert_eq!(code, 0, "{error}");
    assert!(
        first.contains("validation F1") && first.contains("The choice does not use test scores."),
        "{first}"
    );
    let page = std::fs::read_to_string(folder.path().join("swept/report/report.html")).unwrap();
    assert!(page.contains("Scores by value") && page.contains("model.dims=[6, 5]"));
    let manifest = folder.path().join("swept/model.dims=4/manifest.json");
    let before = std::fs::metadata(&manifest).unwrap().modified().unwrap();
    let (code, second, _) = fedspd(folder.path(), &sweep);
    assert_eq!((code, second), (0, first));
    assert_eq!(std::fs::metadata(&manifest).unwrap().modified().unwrap(), before);
}

#[test]
fn a_sweep_says_what_is_wrong_with_a_value() {
    let folder = tempdir().unwrap();
    let (code, _, error) = fedspd(folder.path(), &["sweep", "sample", "--over", "train.lr=0.1,much"]);
    assert_eq!(code, 1);
    assert!(error.contains("train.lr"), "{error}");
    let (code, _, error) = fedspd(folder.path(), &["sweep", "sample", "--over", "train.lr"]);
    assert!(code == 1 && error.contains("not of the form KEY=VALUE,VALUE,..."), "{error}");
}

#[test]
fn a_reproduction_without_recordings_says_so_beside_the_published_numbers() {
    let folder = tempdir().unwrap();
    let (code, out, error) = fedspd(folder.path(), &["reproduce", "physionet-mi", "-q"]);
    assert_eq!(code, 0, "{error}");
    assert!(out.contains("not run") && out.contains("39.5 ± 0.6") && out.contains("50.8 ± 0.7"), "{out}");
    let page = std::fs::read_to_string(folder.path().join("runs/reproduce-physionet-mi/report/report.html"))
        .unwrap();
    assert!(page.contains("Not run (") && page.contains("Claims of the paper"));
    // The command names the missing file and its folder; the page does not, because it may be
    // passed on.
    let here = folder.path().display().to_string();
    assert!(out.contains(&here) && !page.contains(&here), "{out}");
    let (code, _, error) = fedspd(folder.path(), &["reproduce", "physionet-mi", "--only", "spdnett"]);
    assert!(
        code == 1 && error.contains("no run has `spdnett` in its name; there are physionet-mi-spdnet, "),
        "{error}"
    );
}

/// The full pipeline of the paper's second dataset: `.mat` files in its layout, every cell of the
/// grid, the report.
#[test]
fn weibo2014_goes_from_its_files_to_the_report() {
    let folder = tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/weibo2014/make.py");
    let made = Command::new("python3")
        .arg(script)
        .arg(folder.path().join("files"))
        .args(["6", "6"])
        .status()
        .unwrap();
    assert!(made.success());
    let reproduce = [
        "reproduce",
        "weibo2014",
        "--root",
        "files",
        "--out",
        "grid",
        "-q",
        "--set",
        "data.subjects=1-6",
        "--set",
        "federated.rounds=1",
        "--set",
        "train.epochs=1",
        "--set",
        "run.seeds=[0]",
    ];
    let (code, out, error) = fedspd(folder.path(), &reproduce);
    assert_eq!(code, 0, "{out}{error}");
    assert!(out.contains("43.3 ± 1.0") && !out.contains("not run"), "{out}");
    let report = folder.path().join("grid/report");
    let page = std::fs::read_to_string(report.join("report.html")).unwrap();
    for part in [
        "The paper’s table",
        "The paper’s figure",
        "Claims of the paper",
        "Beyond the paper",
        "Network interpretation",
    ] {
        assert!(page.contains(part), "{part}");
    }
    for file in ["tables/paper.tex", "tables/claims.csv", "figures/paper-convergence.svg"] {
        assert!(report.join(file).is_file(), "{file}");
    }
    // A second call trains nothing and gives the same report, even if the files have moved.
    let (code, again, _) = fedspd(folder.path(), &reproduce);
    assert_eq!((code, again), (0, out.clone()));
    std::fs::rename(folder.path().join("files"), folder.path().join("moved")).unwrap();
    let (code, moved, error) =
        fedspd(folder.path(), &reproduce.map(|word| if word == "files" { "moved" } else { word }));
    assert_eq!((code, moved), (0, out), "{error}");
    assert_eq!(std::fs::read_to_string(report.join("report.html")).unwrap(), page);
}

#[test]
fn seeds_are_listed_and_not_swept() {
    let folder = tempdir().unwrap();
    let (code, _, error) = fedspd(folder.path(), &["sweep", "sample", "--over", "run.seeds=0,1"]);
    assert_eq!(code, 1);
    assert_eq!(
        error,
        "error: `run.seeds` cannot be swept, because it repeats an experiment: use `--seeds 0..3`\n"
    );
    let words = ["run", "sample", "--seeds", "0,2", "--set", "federated.rounds=1", "--out", "run", "-q"];
    let (code, _, error) = fedspd(folder.path(), &words);
    assert_eq!(code, 0, "{error}");
    assert!(folder.path().join("run/models/seed-2.safetensors").is_file());
}
