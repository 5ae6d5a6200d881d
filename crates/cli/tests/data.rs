//! `fedspd data` as a user sees it.
#![allow(clippy::unwrap_used)] // helpers of tests may panic as tests do

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

/// The command with nothing of this machine's data folders.
fn fedspd(arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::cargo_bin("fedspd").unwrap();
    for variable in ["FEDSPD_DATA", "MNE_DATA", "XDG_DATA_HOME"] {
        command.env_remove(variable);
    }
    let output = command.env("HOME", "/nowhere").args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn json(arguments: &[&str]) -> Value {
    let (code, out, err) = fedspd(arguments);
    assert_eq!((code, &*err), (0, ""));
    serde_json::from_str(&out).unwrap()
}

fn golden() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/eeg").canonicalize().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A definition of one's own for the two golden recordings, with their path.
fn mine(folder: &Path) -> String {
    let path = folder.join("mine.toml");
    let definition = r#"
        name = "mine"
        format = "edf"
        files = "S{subject:3}/S{subject:3}R{run:2}.edf"
        sfreq = 160
        interval = [0, 3]
        band = [8, 32]
        events = [{ classes = { T1 = "one", T2 = "two" } }]
    "#;
    std::fs::write(&path, definition).unwrap();
    text(&path).to_owned()
}

#[test]
fn the_list_has_licences_exclusions_and_citations() {
    let (code, out, _) = fedspd(&["data", "list"]);
    assert_eq!(code, 0);
    for part in
        ["physionet-mi", "ODC-By 1.0", "without subject 88: recorded at 128 Hz", "Schalk", "weibo2014"]
    {
        assert!(out.contains(part), "no {part} in\n{out}");
    }
    let list = json(&["data", "list", "--format", "json"]);
    assert_eq!((&list[0]["samples"], &list[1]["samples"]), (&481.into(), &801.into()));
}

#[test]
fn where_names_the_folders() {
    let (code, out, _) = fedspd(&["data", "where", "--root", "/data"]);
    assert_eq!(code, 0);
    assert!(out.starts_with("searched, in this order:\n  /data (not there)\n"), "{out}");
    assert!(out.ends_with("downloads go to:\n  /data\n"), "{out}");
    assert_eq!(json(&["data", "where", "--root", "/data", "--format", "json"])["downloads"], "/data");
}

#[test]
fn inspect_shows_what_a_recording_holds() {
    let path = golden().join("S001/S001R04.edf");
    let (code, out, _) = fedspd(&["data", "inspect", text(&path)]);
    assert_eq!(code, 0);
    assert!(out.contains("31.000 s, 6 channels\n  rank 6 of 6 channels\n"), "{out}");
    assert!(out.contains("annotations: \"T0\" 5x, \"T1\" 3x, \"T2\" 2x"), "{out}");
    let look = json(&["data", "inspect", text(&path), "--format", "json"]);
    assert_eq!((&look["channels"][0]["name"], &look["annotations"]["T1"]), (&"Fc5.".into(), &3.into()));
    let (code, out, _) = fedspd(&["data", "inspect", text(&golden().join("subject_1.mat"))]);
    assert_eq!(code, 0);
    assert!(out.contains("5 x 1600 x 8"), "{out}");
}

#[test]
fn recordings_become_covariances_and_trials() {
    let folder = tempfile::tempdir().unwrap();
    let (definition, out) = (mine(folder.path()), folder.path().join("out.npz"));
    let (root, out) = (golden(), text(&out).to_owned());
    let base = ["data", "prepare", &definition, "--root", text(&root), "--out", &out];
    let run = |extra: &[&str]| fedspd(&[&base, extra].concat());
    let (code, summary, err) = run(&["--progress", "plain"]);
    assert_eq!(code, 0, "{err}");
    assert!(summary.contains("covariances of 8 trials, 1 subjects, 6 channels, 481 samples"), "{summary}");
    assert!(summary.contains("dropped: subject 1, run 4, \"T1\" at 28.5 s: its trial, 28.500-31.500 s, is not inside the recording of 31.000 s"), "{summary}");
    assert!(err.contains("2 of 2 files in"), "{err}");
    let first = std::fs::read(&out).unwrap();
    assert_eq!(run(&["--progress", "off", "--threads", "1"]).2, "");
    assert_eq!(std::fs::read(&out).unwrap(), first);

    let look = json(&["data", "inspect", &out, "--format", "json"]);
    assert_eq!(
        (&look["kind"], &look["unit"], &look["trials"]),
        (&"covariances".into(), &"uV^2".into(), &8.into())
    );
    let (code, ..) =
        run(&["--align", "riemannian", "--estimator", "oas", "--window", "0-1", "--window", "1-3"]);
    assert_eq!(code, 0);
    let look = json(&["data", "inspect", &out, "--format", "json"]);
    assert_eq!((&look["unit"], &look["of"]), (&"1".into(), &"8-32 Hz, 0-1 s; 8-32 Hz, 1-3 s".into()));

    let summary = json(
        &[
            &base,
            &["--trials", "--align", "euclidean", "--z-score", "--format", "json", "--progress", "off"][..],
        ]
        .concat(),
    );
    assert_eq!((&summary["trials"], &summary["dropped"][0]["onset"]), (&8.into(), &28.5.into()));
    let look = json(&["data", "inspect", &out, "--format", "json"]);
    assert_eq!(
        (&look["kind"], &look["of"], &look["unit"]),
        (&"trials".into(), &"481 samples each".into(), &"1".into())
    );
}

/// The files of a dataset of one's own need not be pointed at if they are beside its definition.
#[test]
fn files_beside_a_definition_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let definition = mine(folder.path());
    std::fs::create_dir(folder.path().join("S003")).unwrap();
    std::fs::copy(golden().join("S001/S001R04.edf"), folder.path().join("S003/S003R04.edf")).unwrap();
    let out = folder.path().join("out.npz");
    let (code, summary, err) = fedspd(&["data", "prepare", &definition, "--out", text(&out)]);
    assert_eq!(code, 0, "{err}");
    assert!(summary.contains("4 trials, 1 subjects"), "{summary}");
}

#[test]
fn mistakes_get_one_sentence_and_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let root = text(folder.path()).to_owned();
    let out = text(&folder.path().join("out.npz")).to_owned();
    let cases: [(&[&str], String); 9] = [
        (
            &["data", "prepare", "physionet-mi", "--out", "S001R04.edf"],
            "error: --out is S001R04.edf; prepared data are .npz files\n".into(),
        ),
        (
            &["data", "prepare", "physionet", "--out", &out],
            "error: there is no dataset `physionet`\n\nhint: there are physionet-mi, weibo2014; a definition of your own is a file whose name ends in .toml\n".into(),
        ),
        (
            &["data", "prepare", "physionet-mi", "--root", &root, "--subjects", "110", "--out", &out],
            "error: there is no subject 110\n".into(),
        ),
        (
            &["data", "prepare", "physionet-mi", "--root", &root, "--subjects", "3", "--out", &out],
            "error: S003/S003R04.edf is not in ".into(),
        ),
        (
            &["data", "prepare", "physionet-mi", "--align", "euclidean", "--out", &out],
            "error: --align euclidean is not for covariances; use riemannian or log-euclidean\n".into(),
        ),
        (
            &["data", "prepare", "physionet-mi", "--trials", "--band", "4-8", "--band", "8-12", "--out", &out],
            "error: trials have one band; give --band once\n".into(),
        ),
        (
            &["data", "fetch", "physionet-mi", "--root", &root, "--subjects", "1", "--offline", "--progress", "off"],
            format!("error: {root}/physionet-mi/S001/S001R04.edf: "),
        ),
        (&["data", "inspect", &root], format!("error: {root}: ")),
        (&["data", "inspect", "nowhere.edf"], "error: nowhere.edf: No such file or directory".into()),
    ];
    for (arguments, start) in cases {
        let (code, _, err) = fedspd(arguments);
        assert_eq!(code, 1, "{arguments:?}");
        assert!(err.starts_with(&start), "{arguments:?}:\n{err}");
    }
    assert!(!Path::new(&out).exists());
    for bad in ["8", "8-", "a-b"] {
        let (code, _, err) = fedspd(&["data", "prepare", "physionet-mi", "--out", &out, "--band", bad]);
        assert!(code == 1 && err.contains("write two numbers with a dash between, such as 8-32"), "{err}");
    }
}

#[test]
fn verify_counts_and_fails_for_wrong_and_missing_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("S001/S001R04.edf");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let arguments = ["data", "verify", "physionet-mi", "--root", text(folder.path()), "--subjects", "1"];
    let (code, out, _) = fedspd(&arguments);
    assert_eq!(code, 1);
    assert!(out.ends_with("0 files are right, 0 wrong, 6 missing, 0 there without a checksum\n"), "{out}");
    std::fs::write(&path, "not it").unwrap();
    let (code, out, err) = fedspd(&arguments);
    assert!(code == 1 && out.contains("wrong    ") && out.contains("1 wrong, 5 missing"), "{out}");
    assert_eq!(
        err,
        "error: 1 files are not what was published, 5 are missing\n\nhint: delete wrong files and run `fedspd data fetch`\n"
    );
}

/// Paths need not be text.
#[cfg(unix)]
#[test]
fn json_copes_with_any_path() {
    use std::os::unix::ffi::OsStrExt;
    let root = std::ffi::OsStr::from_bytes(b"bad\xff");
    let mut command = Command::cargo_bin("fedspd").unwrap();
    let output = command.args(["data", "where", "--format", "json", "--root"]).arg(root).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    serde_json::from_slice::<Value>(&output.stdout).unwrap();
}
