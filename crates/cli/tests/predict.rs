//! `fedspd predict` and `fedspd eval` on recordings, definitions and prepared data.
#![allow(clippy::unwrap_used)] // helpers of tests may panic as tests do

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

/// Runs the command in a folder, without the data folders of this machine.
fn fedspd(at: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::cargo_bin("fedspd").unwrap();
    for variable in ["FEDSPD_DATA", "MNE_DATA", "XDG_DATA_HOME"] {
        command.env_remove(variable);
    }
    let output = command.env("HOME", "/nowhere").current_dir(at).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn done(at: &Path, arguments: &[&str]) -> (String, String) {
    let (code, out, err) = fedspd(at, arguments);
    assert_eq!(code, 0, "{arguments:?}: {err}");
    (out, err)
}

fn golden() -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/eeg");
    path.canonicalize().unwrap().to_str().unwrap().to_owned()
}

/// A folder with a definition of the golden recordings and a model trained on them.
fn trained() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let definition = |band: &str| {
        format!(
            "name = \"mine\"\nformat = \"edf\"\nfiles = \"S{{subject:3}}/S{{subject:3}}R{{run:2}}.edf\"\nsfreq = 160\n\
             interval = [0, 3]\nband = {band}\nevents = [{{ classes = {{ T1 = \"one\", T2 = \"two\" }} }}]\n"
        )
    };
    fs::write(at.join("mine.toml"), definition("[8, 32]")).unwrap();
    fs::write(at.join("wide.toml"), definition("[1, 40]")).unwrap();
    let root = format!("data.root={:?}", golden());
    let run = format!(
        "[data]\nname = '{}'\n[covariance]\nshrinkage = 0.1\n[model]\ndims = [2]\n[federated]\nrounds = 2\n\
         subjects_per_client = 1\n[split]\ntrain = 0.6\nval = 0.2\ntest = 0.2\n[run]\nthreads = 1\n",
        at.join("mine.toml").display()
    );
    fs::write(at.join("run.toml"), run).unwrap();
    done(at, &["run", "run.toml", "--set", &root, "--out", "model", "--quiet"]);
    folder
}

/// The probabilities of a table of predictions, as text: the digits restore every bit.
fn probabilities(table: &str) -> Vec<String> {
    let rows = table.lines().skip(1);
    rows.map(|row| row.splitn(6, ',').last().unwrap().to_owned()).collect()
}

#[test]
fn recordings_and_prepared_data_have_the_same_predictions() {
    let folder = trained();
    let (at, root) = (folder.path(), golden());
    let (out, _) =
        done(at, &["predict", "model", "--data", "mine.toml", "--root", &root, "--out", "definition.csv"]);
    assert!(out.starts_with("definition.csv: predictions of "), "{out}");
    let table = fs::read_to_string(at.join("definition.csv")).unwrap();
    assert!(table.starts_with("subject,session,run,onset,class,probability:one,probability:two\n1,0,4,"));
    let expected = probabilities(&table);
    assert!(expected.len() > 4, "{table}");

    // A recording without a definition: the model knows which annotations begin trials.
    let recording = format!("{root}/S001/S001R04.edf");
    done(at, &["predict", "model", "--data", &recording, "--out", "recording.csv"]);
    let one = fs::read_to_string(at.join("recording.csv")).unwrap();
    assert_eq!(probabilities(&one), expected[..probabilities(&one).len()]);
    done(at, &["predict", "model", "--data", &format!("{root}/S001"), "--out", "folder.csv"]);
    assert_eq!(probabilities(&fs::read_to_string(at.join("folder.csv")).unwrap()), expected);

    // Prepared data say how they were made.
    let prepare = |more: &[&str]| {
        let mut words = vec!["data", "prepare", "mine.toml", "--root", &root, "--out", "mine.npz"];
        words.extend_from_slice(more);
        done(at, &words);
        fedspd(at, &["predict", "model", "--data", "mine.npz", "--out", "prepared.csv"])
    };
    assert_eq!(prepare(&["--estimator", "shrinkage:0.1"]).0, 0);
    let prepared = fs::read_to_string(at.join("prepared.csv")).unwrap();
    assert_eq!(probabilities(&prepared), expected);
    let (code, _, err) = prepare(&["--estimator", "shrinkage:0.1", "--band", "1-40"]);
    let model = at.join("model/models/seed-0.safetensors");
    let model = model.strip_prefix(at).unwrap().display();
    assert_eq!(
        (code, err.lines().next().unwrap()),
        (1, &*format!("error: mine.npz: band is 1-40 Hz, but the model {model} has 8-32 Hz"))
    );
    let (code, _, err) = prepare(&[]);
    assert!(
        code == 1 && err.contains("estimator is sample, but the model") && err.contains("shrinkage:0.1"),
        "{err}"
    );
    // Trials in the band of the model: covariances are estimated, up to single precision.
    let (code, _, err) = prepare(&["--trials"]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("mine.npz holds trials: their covariances are estimated (shrinkage:0.1)"), "{err}");
    // A definition with another band is prepared as the model says.
    done(at, &["predict", "model", "--data", "wide.toml", "--root", &root, "--out", "wide.csv"]);
    assert_eq!(probabilities(&fs::read_to_string(at.join("wide.csv")).unwrap()), expected);
}

#[test]
fn scores_have_chance_classes_confusions_and_an_interval() {
    let folder = trained();
    let (at, root) = (folder.path(), golden());
    let (out, _) = done(at, &["eval", "model", "--data", "mine.toml", "--root", &root]);
    for part in [
        "Guessing among 2 classes gives 50.0.",
        "95% interval",
        "by bootstrap over trials",
        "Trials by true class (rows) and predicted class (columns):",
        "The model aligns no subject.",
    ] {
        assert!(out.contains(part), "no {part} in\n{out}");
    }
    let (out, _) = done(
        at,
        &["eval", "model", "--data", "mine.toml", "--root", &root, "--calibration", "3", "--format", "json"],
    );
    let scores: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&scores["chance"], &scores["align"]), (&0.5.into(), &"first-3".into()));
    assert_eq!(scores["f1"].as_array().unwrap().len(), 2);
    let all = scores["trials"].as_u64().unwrap();
    let (code, _, err) =
        fedspd(at, &["eval", "model", "--data", "mine.toml", "--root", &root, "--calibration", "1000"]);
    assert!(
        code == 1 && err.contains(&format!("but subject `1` has {}: none would be left", all + 3)),
        "{err}"
    );
    let (code, _, err) = fedspd(at, &["eval", "model", "--data", "run.txt"]);
    assert!(code == 1 && err.starts_with("error: run.txt holds no data"), "{err}");
    let (code, _, err) = fedspd(at, &["predict", "model", "--data", "mine.toml", "--out", "p.txt"]);
    assert!(code == 1 && err.contains("--out is p.txt; predictions are a .csv file"), "{err}");
}
