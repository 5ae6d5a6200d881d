//! A model on recordings of people whom nobody trained on: `fedspd predict` on raw EDF files gives
//! the probabilities of the run that trained it, bit for bit.
#![allow(clippy::unwrap_used)] // helpers of tests may panic as tests do

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

const ARCHIVE: &str = "physionet-mi-s001-s010-imagery.tar.xz";

fn fedspd(at: &Path, arguments: &[&str]) -> (bool, String, String) {
    let mut command = Command::cargo_bin("fedspd").unwrap();
    let output = command.env_remove("FEDSPD_DATA").current_dir(at).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

fn done(at: &Path, arguments: &[&str]) -> String {
    let (success, out, err) = fedspd(at, arguments);
    assert!(success, "{arguments:?}: {err}");
    out
}

/// The run and the probabilities of each row of a subject, as text: the digits restore every bit.
fn rows_of(table: &Path, subject: &str) -> Vec<(String, Vec<String>)> {
    let text = fs::read_to_string(table).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let place = |column: &str| head.iter().position(|name| *name == column).unwrap();
    let (who, run, first) = (place("subject"), place("run"), place("class"));
    let own = lines.filter(|row| row[who] == subject);
    own.map(|row| (row[run].to_owned(), row[first..].iter().map(|x| (*x).to_owned()).collect())).collect()
}

/// Writes a recording of somebody else: each sample of each channel is changed, annotations are not.
fn somebody_else(from: &Path, to: &Path, person: i32) {
    let mut bytes = fs::read(from).unwrap();
    let number = |range: std::ops::Range<usize>, bytes: &[u8]| -> usize {
        std::str::from_utf8(&bytes[range]).unwrap().trim().parse().unwrap()
    };
    let (header, signals) = (number(184..192, &bytes), number(252..256, &bytes));
    let labels: Vec<String> = (0..signals)
        .map(|i| String::from_utf8_lossy(&bytes[256 + 16 * i..272 + 16 * i]).into_owned())
        .collect();
    // The numbers of samples follow 216 bytes of other fields for each signal.
    let counts: Vec<usize> = (0..signals)
        .map(|i| number(256 + 216 * signals + 8 * i..264 + 216 * signals + 8 * i, &bytes))
        .collect();
    let (mut place, mut time) = (header, 0);
    while place < bytes.len() {
        for (signal, (label, &count)) in (0..).zip(labels.iter().zip(&counts)) {
            for sample in bytes[place..place + 2 * count].chunks_exact_mut(2) {
                if !label.contains("Annotations") {
                    let value = i32::from(i16::from_le_bytes([sample[0], sample[1]]));
                    let scale = 3 + (signal + person) % 4;
                    let mixed = value * scale / 6 + (time * (person + 2) + signal * 7) % 11;
                    sample.copy_from_slice(&(mixed as i16).to_le_bytes());
                }
                time += 1;
            }
            place += 2 * count;
        }
    }
    fs::write(to, bytes).unwrap();
}

/// Four people with two golden recordings each, and a definition.
fn golden_people(at: &Path) {
    let golden = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/eeg/S001");
    let root = at.join("people");
    for person in 1..=4 {
        let folder = root.join(format!("S00{person}"));
        fs::create_dir_all(&folder).unwrap();
        for run in ["04", "06"] {
            let to = folder.join(format!("S00{person}R{run}.edf"));
            somebody_else(&golden.join(format!("S001R{run}.edf")), &to, person);
        }
    }
    let definition = "name = \"people\"\nformat = \"edf\"\nfiles = \"S{subject:3}/S{subject:3}R{run:2}.edf\"\n\
                      sfreq = 160\ninterval = [0, 3]\nband = [8, 32]\n\
                      events = [{ classes = { T1 = \"one\", T2 = \"two\" } }]\n";
    fs::write(at.join("people.toml"), definition).unwrap();
}

#[test]
fn recordings_of_new_people_have_the_probabilities_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    golden_people(at);
    for (network, more) in [
        (
            "spdnet",
            "dims = [3]\n[covariance]\nshrinkage = 0.1\nwindows = [[0.5, 1.5], [1.0, 2.5]]\n[align]\nkind = \"riemannian\"\n",
        ),
        ("eegnet", "precision = \"f32\"\n[align]\nkind = \"euclidean\"\n"),
    ] {
        let run = format!(
            "[data]\nname = \"people.toml\"\nroot = \"people\"\n[model]\nkind = \"{network}\"\n{more}\
             [federated]\nrounds = 2\nsubjects_per_client = 1\n\
             [split]\nheld_out_subjects = \"3\"\ntrain = 0.6\nval = 0.2\ntest = 0.2\n[run]\nthreads = 1\n"
        );
        fs::write(at.join("run.toml"), run).unwrap();
        done(at, &["run", "run.toml", "--out", network, "--quiet"]);
        let expected = rows_of(&at.join(network).join("predictions/seed-0.csv"), "3");
        assert!(expected.len() > 4, "{expected:?}");
        let data = ["--data", "people.toml", "--root", "people", "--subjects", "3", "--out", "new.csv"];
        done(at, &[&["predict", network], &data[..]].concat());
        assert_eq!(rows_of(&at.join("new.csv"), "3"), expected, "{network}");
    }
}

/// The same with recordings of `PhysionetMI`, in all folds of people.
#[test]
fn people_of_physionet_mi_have_the_probabilities_of_the_run() {
    let Some(data) = std::env::var_os("FEDSPD_DATA").map(PathBuf::from) else {
        println!("skipped: FEDSPD_DATA is not set");
        return;
    };
    if !data.join(ARCHIVE).is_file() {
        println!("skipped: no {ARCHIVE}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let mut tar = std::process::Command::new("tar");
    assert!(tar.arg("-xJf").arg(data.join(ARCHIVE)).arg("-C").arg(at).status().unwrap().success());
    let changes = [
        "data.root=.",
        "data.subjects=1-6",
        "split.kind=leave-subject-out",
        "split.folds=3",
        "federated.rounds=2",
        "run.seeds=0",
    ];
    let mut words = vec!["run", "physionet-mi-best", "--out", "run", "--quiet"];
    words.extend(changes.iter().flat_map(|change| ["--set", change]));
    done(at, &words);
    let mut people = Vec::new();
    for fold in 0..3 {
        let table = at.join(format!("run/predictions/seed-0-fold-{fold}.csv"));
        let model = format!("run/models/seed-0-fold-{fold}.safetensors");
        for person in 1..=6 {
            let expected = rows_of(&table, &person.to_string());
            if expected.is_empty() {
                continue;
            }
            people.push(person);
            assert!(expected.len() >= 80, "{person}: {}", expected.len());
            done(at, &["predict", &model, "--data", &format!("S00{person}"), "--out", "new.csv"]);
            assert_eq!(rows_of(&at.join("new.csv"), &person.to_string()), expected, "{person}");
        }
    }
    people.sort_unstable();
    assert_eq!(people, [1, 2, 3, 4, 5, 6]);
}

/// Online alignment uses no later trial, starts at the mean of the trained people, and is reported
/// apart.
#[test]
fn trials_are_aligned_online() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    golden_people(at);
    let run = |align: &str| {
        format!(
            "[data]\nname = \"people.toml\"\nroot = \"people\"\n[covariance]\nshrinkage = 0.1\n[model]\ndims = [3]\n\
             [align]\n{align}\n[federated]\nrounds = 2\nsubjects_per_client = 1\n\
             [split]\nheld_out_subjects = \"3\"\ntrain = 0.6\nval = 0.2\ntest = 0.2\n[run]\nthreads = 1\n"
        )
    };
    for (name, align) in [
        ("riemannian", "kind = \"riemannian\"\npopulation = true"),
        ("later", "kind = \"riemannian\""),
        ("none", "kind = \"none\""),
    ] {
        fs::write(at.join("run.toml"), run(align)).unwrap();
        done(at, &["run", "run.toml", "--out", name, "--quiet"]);
    }
    let data = ["--data", "people.toml", "--root", "people", "--align", "online", "--subjects"];
    let predict = |model: &str| {
        let (success, out, err) =
            fedspd(at, &[&["predict", model], &data[..], &["3", "--out", "p.csv"]].concat());
        (success, out, err.lines().next().unwrap_or("").to_owned())
    };
    let (_, out, _) = predict("riemannian");
    assert!(out.contains("fitted online: on the trials of the subject so far"), "{out}");
    let all = rows_of(&at.join("p.csv"), "3");
    // The mean of the population changes the start, and its absence is told.
    let (_, _, err) = predict("later");
    assert!(err.contains("holds no mean of the people it was trained on"), "{err}");
    assert_ne!(rows_of(&at.join("p.csv"), "3"), all);
    // Without the second recording, the trials of the first are predicted as before.
    fs::rename(at.join("people/S003/S003R06.edf"), at.join("later.edf")).unwrap();
    assert!(predict("riemannian").0);
    let first = rows_of(&at.join("p.csv"), "3");
    assert!(first.len() > 2 && first.len() < all.len());
    assert_eq!(first, all[..first.len()], "the second recording changed the first");
    let out = done(at, &[&["eval", "riemannian"], &data[..], &["3", "--format", "json"]].concat());
    let scores: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&scores["align"], &scores["notes"]), (&"online".into(), &Value::Array(Vec::new())));
    assert_eq!(
        predict("none"),
        (
            false,
            String::new(),
            "error: the model none/models/seed-0.safetensors aligns no subject: there is nothing to align online".into()
        )
    );
    let both = [
        "predict",
        "riemannian",
        "--data",
        "x.npz",
        "--align",
        "online",
        "--calibration",
        "3",
        "--out",
        "p.csv",
    ];
    let (success, _, err) = fedspd(at, &both);
    assert!(!success && err.contains("cannot be used with"), "{err}");
}
