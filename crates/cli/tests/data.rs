//! `fedspd data` as a user sees it.
#![allow(clippy::unwrap_used)] // helpers of tests may panic as tests do

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

/// Runs the command, without the data folders of this machine.
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

/// Writes a custom definition for the two golden recordings. Returns its path.
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
    let (code, out, _) = fedspd(&["data", "where", "--root", "/nowhere/data"]);
    assert_eq!(code, 0);
    assert!(out.starts_with("searched, in this order:\n  /nowhere/data (not there)\n"), "{out}");
    assert!(out.ends_with("downloads go to:\n  /nowhere/data\n"), "{out}");
    assert_eq!(
        json(&["data", "where", "--root", "/nowhere/data", "--format", "json"])["downloads"],
        "/nowhere/data"
    );
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
    assert!(summary.contains("covariances of 8 trials, 1 subject, 6 channels, 481 samples"), "{summary}");
    assert!(summary.contains("dropped: subject 1, session 0, run 4, \"T1\" at 28.5 s: its trial, 28.500-31.500 s, is not inside the recording of 31.000 s"), "{summary}");
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

/// The summary and the file record the preparation.
#[test]
fn the_summary_and_the_file_say_how_data_were_made() {
    let folder = tempfile::tempdir().unwrap();
    let (definition, out) = (mine(folder.path()), folder.path().join("out.npz"));
    let (root, out) = (golden(), text(&out).to_owned());
    let base = ["data", "prepare", &definition, "--root", text(&root), "--out", &out, "--format", "json"];
    let asked = [
        "--progress",
        "off",
        "--align",
        "log-euclidean",
        "--estimator",
        "oas",
        "--window",
        "0..1",
        "--window",
        "1-3",
    ];
    for facts in [json(&[&base[..], &asked].concat()), json(&["data", "inspect", &out, "--format", "json"])] {
        assert_eq!((&facts["estimator"], &facts["align"]), (&"oas".into(), &"log-euclidean".into()));
        assert_eq!(facts["bands"], serde_json::json!(["8-32 Hz"]));
        assert_eq!(facts["windows"], serde_json::json!(["0-1 s", "1-3 s"]));
    }
    let facts = json(&[&base[..], &["--progress", "off", "--trials"]].concat());
    assert_eq!((&facts["estimator"], &facts["align"]), (&Value::Null, &Value::Null));
    assert_eq!(facts["z_score"], false);
    let scaled = json(&[&base[..], &["--progress", "off", "--trials", "--z-score"]].concat());
    let look = json(&["data", "inspect", &out, "--format", "json"]);
    assert_eq!((&scaled["z_score"], &look["z_score"]), (&true.into(), &true.into()));
    assert_eq!(facts["windows"], serde_json::json!(["0-3 s"]));
}

#[test]
fn ignored_annotations_are_told_calmly_and_empty_classes_as_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let (definition, out) = (mine(folder.path()), folder.path().join("out.npz"));
    let root = golden();
    let base =
        ["data", "prepare", &definition, "--root", text(&root), "--out", text(&out), "--progress", "off"];
    let (_, summary, _) = fedspd(&base);
    assert!(summary.contains("  ignored: \"T0\" x 10 (of no class)\n"), "{summary}");
    assert!(!summary.contains("warning"), "{summary}");
    let misspelt = std::fs::read_to_string(&definition).unwrap().replace("T2 =", "t2 =");
    std::fs::write(&definition, misspelt).unwrap();
    let (code, summary, _) = fedspd(&base);
    assert_eq!(code, 0);
    assert!(
        summary.contains("  warning: class \"two\" has no trials; do the files contain \"t2\"?\n"),
        "{summary}"
    );
    assert!(summary.contains("  ignored: \"T0\" x 10, \"T2\" x "), "{summary}");
    let facts = json(&[&base[..], &["--format", "json"]].concat());
    assert_eq!((&facts["empty_classes"][0], &facts["ignored"]["T0"]), (&"two".into(), &10.into()));
}

/// A negative start may be written in any form.
#[test]
fn windows_may_begin_before_the_cue() {
    let folder = tempfile::tempdir().unwrap();
    let (definition, out) = (mine(folder.path()), folder.path().join("out.npz"));
    let earlier = std::fs::read_to_string(&definition).unwrap().replace("[0, 3]", "[-0.5, 3]");
    std::fs::write(&definition, earlier).unwrap();
    let root = golden();
    let base =
        ["data", "prepare", &definition, "--root", text(&root), "--out", text(&out), "--progress", "off"];
    for window in [&["--window", "-0.5..0.5"][..], &["--window=-0.5-0.5"], &["--window", "-0.5-0.5"]] {
        let facts = json(&[&base[..], window, &["--format", "json"]].concat());
        assert_eq!(facts["windows"], serde_json::json!(["-0.5..0.5 s"]), "{window:?}");
    }
    let (code, _, err) = fedspd(&[&base[..], &["--window", "0-1", "--window", "0..1"]].concat());
    assert_eq!((code, &*err), (1, "error: the window 0-1 s is given twice\n"));
}

/// A subject without trials does not disturb the alignment of others.
#[test]
fn trials_of_some_subjects_are_aligned() {
    let folder = tempfile::tempdir().unwrap();
    let (definition, out) = (mine(folder.path()), folder.path().join("out.npz"));
    let recording = std::fs::read(golden().join("S001/S001R04.edf")).unwrap();
    for subject in [1, 2] {
        std::fs::create_dir(folder.path().join(format!("S00{subject}"))).unwrap();
        let mut bytes = recording.clone();
        if subject == 2 {
            for place in 1..bytes.len() - 1 {
                if bytes[place - 1..=place] == *b"\x14T" && bytes[place + 1] != b'0' {
                    bytes[place] = b'X';
                }
            }
        }
        std::fs::write(folder.path().join(format!("S00{subject}/S00{subject}R04.edf")), bytes).unwrap();
    }
    let arguments = ["data", "prepare", &definition, "--trials", "--align", "euclidean", "--out", text(&out)];
    let facts = json(&[&arguments[..], &["--format", "json", "--progress", "off"]].concat());
    assert_eq!((&facts["unit"], &facts["align"]), (&"1".into(), &"euclidean".into()));
}

/// After filtering, a constant channel is only rounding noise. Neither alignment nor z-scores may
/// amplify it.
#[test]
fn a_flat_channel_is_no_signal() {
    let folder = tempfile::tempdir().unwrap();
    let (definition, out) = (mine(folder.path()), folder.path().join("out.npz"));
    let mut bytes = std::fs::read(golden().join("S001/S001R04.edf")).unwrap();
    // Six signals of 160 samples in a record, then 120 bytes of annotations; the second is at
    // 1234.5 uV.
    for record in bytes[256 * 8..].chunks_exact_mut(6 * 320 + 120) {
        record[320..640].copy_from_slice(&12345_i16.to_le_bytes().repeat(160));
    }
    std::fs::create_dir(folder.path().join("S001")).unwrap();
    std::fs::write(folder.path().join("S001/S001R04.edf"), bytes).unwrap();
    let prepare = |extra: &[&str]| {
        let (code, _, err) =
            fedspd(&[&["data", "prepare", &definition, "--out", text(&out)], extra].concat());
        (code, err.lines().filter(|line| !line.contains(" files in ")).collect::<Vec<_>>().join("\n"))
    };
    let (code, err) = prepare(&["--trials", "--align", "euclidean", "--z-score"]);
    let start = "error: the mean of X X^T over 4 trials of subject 1 has rank 5 with 6 channels (smallest eigenvalue ";
    let end =
        "): channel Fc3. is flat\n\nhint: channel Fc3. does not vary: leave it out, or do not align trials";
    assert!(code == 1 && err.starts_with(start) && err.ends_with(end), "{err}");
    let (code, err) = prepare(&["--trials", "--z-score"]);
    let expected = "error: trial 0 (subject 1, session 0, run 4): channel Fc3. does not vary";
    assert!(code == 1 && err.starts_with(expected), "{err}");
    let (code, err) = prepare(&[]);
    let start = "error: trial 0 (subject 1, session 0, run 4) has a covariance of rank 5 with 6 channels";
    assert!(
        code == 1
            && err.starts_with(start)
            && err.contains("): channel Fc3. is flat; 3 more of 4 covariances are not positive definite\n"),
        "{err}"
    );
    assert!(!out.exists());
}

/// Files next to a custom definition are found without `--root`.
#[test]
fn files_beside_a_definition_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let definition = mine(folder.path());
    std::fs::create_dir(folder.path().join("S003")).unwrap();
    std::fs::copy(golden().join("S001/S001R04.edf"), folder.path().join("S003/S003R04.edf")).unwrap();
    let out = folder.path().join("out.npz");
    let (code, summary, err) = fedspd(&["data", "prepare", &definition, "--out", text(&out)]);
    assert_eq!(code, 0, "{err}");
    assert!(summary.contains("4 trials, 1 subject"), "{summary}");
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
        assert!(
            code == 1 && err.contains("write two numbers with a dash or two dots between, such as 8-32"),
            "{err}"
        );
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
    assert!(out.ends_with("files: 0 correct, 0 wrong, 6 missing, 0 without a checksum\n"), "{out}");
    std::fs::write(&path, "not it").unwrap();
    let (code, out, err) = fedspd(&arguments);
    assert!(code == 1 && out.contains("wrong    ") && out.contains("1 wrong, 5 missing"), "{out}");
    assert_eq!(
        err,
        "error: files do not match their checksums: 1 wrong, 5 missing\n\nhint: delete wrong files and run `fedspd data fetch`\n"
    );
}

#[test]
fn fetch_has_a_summary_for_programs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("S1.edf");
    std::fs::write(&path, "recorded").unwrap();
    let definition = folder.path().join("mine.toml");
    let text_of = "name = \"mine\"\nformat = \"edf\"\nfiles = \"S{subject}.edf\"\nsubjects = \"1\"\nsfreq = 160\ninterval = [0, 3]\nband = [8, 32]\nevents = [{ classes = { T1 = \"one\" } }]\nsource = { base = \"https://example.org/\" }\n";
    std::fs::write(&definition, text_of).unwrap();
    let facts =
        json(&["data", "fetch", text(&definition), "--offline", "--progress", "off", "--format", "json"]);
    assert_eq!((&facts["present"], &facts["downloaded"]), (&1.into(), &0.into()));
}

#[test]
fn weibo_says_that_its_first_download_is_trusted() {
    let (_, out, _) = fedspd(&["data", "list"]);
    assert_eq!(out.matches("no checksums are published: the first download is trusted").count(), 1, "{out}");
    let list = json(&["data", "list", "--format", "json"]);
    assert_eq!(list[0]["checksums"], "published");
    assert_eq!(list[1]["checksums"], "of the first download");
}

/// A pipe would wait for a writer forever.
#[cfg(unix)]
#[test]
fn inspect_refuses_what_is_not_a_file_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.edf");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut command = Command::cargo_bin("fedspd").unwrap();
    command.timeout(std::time::Duration::from_secs(20)).args(["data", "inspect", text(&pipe)]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let expected = format!("error: {}: not a file but a pipe, a socket or a device\n", pipe.display());
    assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
}

#[test]
fn inspect_knows_matlab_files_that_it_cannot_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.mat");
    // A double matrix of one row and two columns, `x`.
    let mut bytes: Vec<u8> = [0_u32, 1, 2, 0, 2].iter().flat_map(|number| number.to_le_bytes()).collect();
    bytes.extend(b"x\0");
    bytes.extend([1.0_f64, 2.0].iter().flat_map(|number| number.to_le_bytes()));
    std::fs::write(&path, bytes).unwrap();
    let (code, _, err) = fedspd(&["data", "inspect", text(&path)]);
    assert_eq!(code, 1);
    assert_eq!(
        err,
        format!(
            "error: {}: a MATLAB file of level 4, the format before 1996\n\nhint: in MATLAB, load it and save it again with `save(..., '-v7')`\n",
            path.display()
        )
    );
}

/// An unreadable channel shows the reason; text from the file starts no new lines.
#[test]
fn inspect_hides_nothing_and_prints_no_control_characters() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("odd.edf");
    let mut bytes = std::fs::read(golden().join("S001/S001R04.edf")).unwrap();
    // Seven signals: labels, transducers, units, physical minima, physical maxima, digital minima,
    // digital maxima.
    let (minimum, maximum) = (256 + 7 * (16 + 80 + 8 + 8 + 8), 256 + 7 * (16 + 80 + 8 + 8 + 8 + 8));
    let same = bytes[minimum..minimum + 8].to_vec();
    bytes[maximum..maximum + 8].copy_from_slice(&same);
    let note = bytes.windows(3).position(|window| window == b"\x14T1").unwrap();
    bytes[note + 2] = b'\n';
    std::fs::write(&path, bytes).unwrap();
    let (code, out, err) = fedspd(&["data", "inspect", text(&path)]);
    assert_eq!(code, 0, "{err}");
    let line = out.lines().find(|line| line.contains("Fc5.")).unwrap();
    assert!(line.contains("digital"), "{line}");
    assert!(out.contains("rank 5 of 5 channels") && out.contains(r#""T\n" 1x"#), "{out}");
    let look = json(&["data", "inspect", text(&path), "--format", "json"]);
    assert!(look["channels"][0]["fault"].is_string() && look["channels"][1]["fault"].is_null());
}

/// Numbers are in microvolts if the unit is known, otherwise in the unit shown.
#[test]
fn inspect_says_which_unit_its_numbers_have() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("units.edf");
    let mut bytes = std::fs::read(golden().join("S001/S001R04.edf")).unwrap();
    for (signal, unit) in ["uV", "kV", "mv", "V", "DegC", ""].iter().enumerate() {
        let start = 256 + 7 * (16 + 80) + 8 * signal;
        bytes[start..start + 8].copy_from_slice(format!("{unit:<8}").as_bytes());
    }
    std::fs::write(&path, bytes).unwrap();
    let before = json(&["data", "inspect", text(&golden().join("S001/S001R04.edf")), "--format", "json"]);
    let look = json(&["data", "inspect", text(&path), "--format", "json"]);
    let factors = [("uV", 1.0), ("kV", 1.0), ("uV", 1e3), ("uV", 1e6), ("DegC", 1.0), ("", 1.0)];
    for (signal, (unit, factor)) in factors.iter().enumerate() {
        let deviation = |look: &Value| look["channels"][signal]["deviation"].as_f64().unwrap();
        assert_eq!(look["channels"][signal]["shown_in"], *unit);
        assert!((deviation(&look) / deviation(&before) / factor - 1.0).abs() < 1e-12, "{unit}");
    }
    let (_, out, _) = fedspd(&["data", "inspect", text(&path)]);
    let units: Vec<&str> =
        out.lines().rev().take(6).filter_map(|line| line.split_whitespace().nth(5)).collect();
    assert_eq!(units, ["DegC", "uV", "uV", "kV", "uV"]);
}

/// A recording with gaps can be inspected too, with the times of the gaps.
#[test]
fn inspect_shows_the_channels_and_the_times_of_gaps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gaps.edf");
    let mut bytes = std::fs::read(golden().join("S001/S001R04.edf")).unwrap();
    bytes[192..197].copy_from_slice(b"EDF+D");
    // The records from the eleventh on begin 2 s later.
    for (record, bytes) in bytes[256 * 8..].chunks_exact_mut(6 * 320 + 120).enumerate().skip(10) {
        let notes = bytes[6 * 320..].to_vec();
        let rest = notes.iter().position(|&byte| byte == 0x14).unwrap();
        let mut late = format!("+{}", record + 2).into_bytes();
        late.extend(&notes[rest..]);
        bytes[6 * 320..].copy_from_slice(&late[..120]);
    }
    std::fs::write(&path, bytes).unwrap();
    let (code, out, err) = fedspd(&["data", "inspect", text(&path)]);
    assert_eq!(code, 0, "{err}");
    assert!(
        out.contains("\n  a gap of 2 s at 10 s\n  rank 6 of 6 channels\n") && !out.contains('?'),
        "{out}"
    );
    let look = json(&["data", "inspect", text(&path), "--format", "json"]);
    assert_eq!(look["gaps"], serde_json::json!([{ "record": 10, "start": 10.0, "duration": 2.0 }]));
    let whole = json(&["data", "inspect", text(&golden().join("S001/S001R04.edf")), "--format", "json"]);
    assert_eq!(look["channels"], whole["channels"]);
}

/// Errors about invalid prepared data name the file. Empty data are fine, and names in them are
/// escaped.
#[test]
fn inspect_copes_with_odd_prepared_data() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("odd.npz");
    let write = |trials: usize, matrix: [f64; 4]| {
        let mut writer = fedspd_eeg::npz::NpzWriter::create(&path).unwrap();
        writer.floats("X", &[trials, 2, 2], &matrix.repeat(trials)).unwrap();
        for name in ["y", "subject", "session", "run"] {
            writer.integers(name, &[trials], &vec![0; trials]).unwrap();
        }
        writer.strings("classes", &[1], &["a\n\u{1b}[31mb"]).unwrap();
        writer.strings("channels", &[2], &["C3", "C4"]).unwrap();
        writer.floats("sfreq", &[], &[160.0]).unwrap();
        writer.strings("unit", &[], &["uV^2"]).unwrap();
        writer.finish().unwrap();
        fedspd(&["data", "inspect", text(&path)])
    };
    let (code, out, _) = write(0, [0.0; 4]);
    let start = format!("{}: 0 covariances (input 0) of 0 subjects", path.display());
    assert!(code == 0 && out.starts_with(&start) && !out.contains("rank"), "{out}");
    assert!(out.contains(r"0 a\n\u{1b}[31mb"), "{out}");
    let (code, _, err) = write(3, [1.0, 0.5, 0.25, 1.0]);
    let start = format!("error: {}: `X` has a matrix that is not symmetric in trial 0", path.display());
    assert!(code == 1 && err.starts_with(&start), "{err}");
}

/// Paths need not be valid text.
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
