//! Failures of `fedspd data`: leftover files, messages and exit codes.
#![allow(clippy::unwrap_used)] // helpers of tests may panic as tests do

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Makes the command, without the data folders of this machine.
fn fedspd(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fedspd"));
    for variable in ["FEDSPD_DATA", "MNE_DATA", "XDG_DATA_HOME"] {
        command.env_remove(variable);
    }
    command.env("HOME", "/nowhere").args(arguments);
    command
}

fn run(arguments: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = fedspd(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Writes a definition for this number of subjects, each with a copy of a golden recording.
fn study(folder: &Path, subjects: usize) -> String {
    let recording = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/eeg/S001/S001R04.edf");
    let first = folder.join("S1.edf");
    std::fs::copy(recording, &first).unwrap();
    for subject in 2..=subjects {
        std::fs::hard_link(&first, folder.join(format!("S{subject}.edf"))).unwrap();
    }
    let path = folder.join("mine.toml");
    let definition = "name = \"mine\"\nformat = \"edf\"\nfiles = \"S{subject}.edf\"\nsfreq = 160\ninterval = [0, 3]\nband = [8, 32]\nevents = [{ classes = { T1 = \"one, two\", T2 = \"two\" } }]\n";
    std::fs::write(&path, definition).unwrap();
    text(&path).to_owned()
}

fn npz_files(folder: &Path) -> Vec<String> {
    let names =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.contains("npz")).collect()
}

/// Ctrl-C ends a preparation after the current file and leaves no partial file.
#[cfg(unix)]
#[test]
fn an_interrupted_preparation_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let definition = study(folder.path(), 500);
    let out = folder.path().join("out.npz");
    let arguments =
        ["data", "prepare", &definition, "--out", text(&out), "--progress", "json", "--threads", "1"];
    let mut child = fedspd(&arguments).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    // The first file is done, the next one is in progress.
    assert!(lines.next().unwrap().unwrap().contains("\"done\":1"));
    assert_eq!(npz_files(folder.path()), ["out.npz.partial"]);
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    // The note about the signal may come at any time.
    let told =
        |line: &String| line == r#"{"note":"finishing the file; press Ctrl-C again to stop immediately"}"#;
    let rest: Vec<String> = lines.map(Result::unwrap).filter(|line| !told(line)).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    let end = ["interrupted", "", "hint: nothing was written; run it again from the beginning"];
    assert_eq!(rest[rest.len() - 3..], end);
    assert!(npz_files(folder.path()).is_empty());
}

/// Ctrl-C ends a download at once, because received bytes are kept, and says how to continue.
#[cfg(unix)]
#[test]
fn an_interrupted_download_says_how_to_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let definition = study(folder.path(), 1);
    let base = format!("subjects = \"2\"\n[source]\nbase = \"http://{}/\"\n", server.local_addr().unwrap());
    let text = std::fs::read_to_string(&definition).unwrap();
    std::fs::write(&definition, format!("{text}{base}")).unwrap();
    for format in ["text", "json"] {
        let root = folder.path().join("data");
        let arguments = ["data", "fetch", &definition, "--root", root.to_str().unwrap(), "--format", format];
        let child = fedspd(&arguments).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // The command requests the file and waits for an answer.
        let (_asking, _) = server.accept().unwrap();
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let Output { status, stderr, .. } = child.wait_with_output().unwrap();
        let (said, resume) = (String::from_utf8(stderr).unwrap(), format!("fedspd {}", arguments.join(" ")));
        assert_eq!(status.code(), Some(130), "{said}");
        if format == "json" {
            let failure: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
            assert_eq!(failure["error"], format!("interrupted; resume with `{resume}`"));
            assert_eq!(failure["kind"], "interrupted");
        } else {
            assert!(said.ends_with(&format!("interrupted; resume with `{resume}`\n")), "{said}");
        }
    }
}

#[test]
fn the_quality_of_every_covariance_can_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let definition = study(folder.path(), 2);
    let (out, report) = (folder.path().join("out.npz"), folder.path().join("quality.csv"));
    let base = ["data", "prepare", &definition, "--out", text(&out), "--progress", "off", "--format", "json"];
    let more = ["--quality", text(&report), "--band", "8-12", "--band", "8-32", "--align", "riemannian"];
    let (code, summary, err) = run(&[&base[..], &more].concat());
    assert_eq!(code, 0, "{err}");
    let summary: Value = serde_json::from_str(&summary).unwrap();
    let table = std::fs::read_to_string(&report).unwrap();
    let mut lines = table.lines();
    assert_eq!(
        lines.next().unwrap(),
        "trial,subject,session,run,class,input,finite,rank,channels,smallest,largest,condition"
    );
    let rows: Vec<&str> = lines.collect();
    // Two subjects, four trials each, two bands; texts with commas are in quotes.
    assert_eq!(rows.len(), 16);
    assert!(rows[0].starts_with("0,1,0,0,two,\"8-12 Hz, 0-3 s\",true,6,6,"), "{}", rows[0]);
    assert!(rows[15].starts_with("7,2,0,0,two,\"8-32 Hz, 0-3 s\",true,6,6,"), "{}", rows[15]);
    assert!(rows[2].starts_with("1,1,0,0,\"one, two\",\"8-12 Hz, 0-3 s\",true,6,6,"), "{}", rows[2]);
    let numbers =
        |row: &&str| -> Vec<f64> { row.rsplit(',').take(3).map(|number| number.parse().unwrap()).collect() };
    let rows: Vec<Vec<f64>> = rows.iter().map(numbers).collect();
    assert!(rows.iter().all(|row| row[0] > 1.0 && (row[1] / row[2] / row[0] - 1.0).abs() < 1e-12));
    // Before alignment, as in the summary.
    let worst = rows.iter().map(|row| row[0]).reduce(f64::max);
    let smallest = rows.iter().map(|row| row[2]).reduce(f64::min);
    assert_eq!(summary["quality"]["condition"].as_f64(), worst);
    assert_eq!(summary["quality"]["smallest"].as_f64(), smallest);
    let (code, _, err) = run(&["data", "prepare", &definition, "--out", text(&out), "--quality", "q.txt"]);
    assert_eq!((code, &*err), (1, "error: --quality is q.txt; the report is a .csv file\n"));
}

/// If some covariances are bad, the error gives their number and the report lists them, although no
/// data are written.
#[test]
fn the_report_is_written_where_covariances_are_no_good() {
    let folder = tempfile::tempdir().unwrap();
    let definition = study(folder.path(), 2);
    let (out, report) = (folder.path().join("out.npz"), folder.path().join("quality.csv"));
    let windows = ["--window", "0-3", "--window", "0-0.03"];
    let base = ["data", "prepare", &definition, "--out", text(&out), "--progress", "off"];
    let (code, _, err) = run(&[&base[..], &windows, &["--quality", text(&report)]].concat());
    assert_eq!(code, 1, "{err}");
    let first = "error: trial 0 (subject 1, session 0, run 0), 8-32 Hz, 0-0.03 s has a covariance of rank 4 with 6 channels (";
    assert!(err.starts_with(first), "{err}");
    assert!(err.contains("; 7 more of 16 covariances are not positive definite\n"), "{err}");
    assert!(err.ends_with("; `--quality FILE.csv` lists all of them\n"), "{err}");
    assert!(npz_files(folder.path()).is_empty());
    let table = std::fs::read_to_string(&report).unwrap();
    let ranks: Vec<&str> = table.lines().skip(1).map(|row| row.rsplit(',').nth(4).unwrap()).collect();
    assert_eq!(ranks, ["6", "4"].repeat(8));
    // A missing folder is noticed before the work.
    let nowhere = folder.path().join("nowhere/quality.csv");
    let (code, _, err) = run(&[&base[..], &["--quality", text(&nowhere)]].concat());
    assert_eq!(code, 1);
    assert_eq!(err, format!("error: {}: No such file or directory (os error 2)\n", nowhere.display()));
    assert!(npz_files(folder.path()).is_empty());
}

/// With `--format json`, every verb prints failures as JSON objects.
#[test]
fn failures_are_objects_for_programs() {
    let cases: [(&[&str], &str, &str, i32); 5] = [
        (&["data", "verify", "physionet"], "there is no dataset `physionet`", "data", 1),
        (&["data", "fetch", "physionet"], "there is no dataset `physionet`", "data", 1),
        (
            &["data", "inspect", "nowhere.edf"],
            "nowhere.edf: No such file or directory (os error 2)",
            "data",
            1,
        ),
        (
            &["data", "prepare", "physionet-mi", "--out", "x.edf"],
            "--out is x.edf; prepared data are .npz files",
            "usage",
            1,
        ),
        (&["run", "nothing"], "nothing is not a built-in experiment (", "usage", 1),
    ];
    for (arguments, message, kind, exit_code) in cases {
        let (code, out, err) = run(&[arguments, &["--format", "json"]].concat());
        assert_eq!((code, &*out, err.lines().count()), (exit_code, "", 1), "{arguments:?}: {err}");
        let failure: Value = serde_json::from_str(&err).unwrap();
        assert!(failure["error"].as_str().unwrap().starts_with(message), "{err}");
        assert_eq!((&failure["kind"], &failure["exit_code"]), (&kind.into(), &exit_code.into()));
        // The same message and hint as in the text.
        let (_, _, text) = run(arguments);
        let hint = failure["hint"].as_str().map_or(String::new(), |hint| format!("\nhint: {hint}\n"));
        assert_eq!(text, format!("error: {}\n{hint}", failure["error"].as_str().unwrap()));
    }
}

/// With `--format json`, invalid command lines are JSON objects too; help stays text.
#[test]
fn misspelt_commands_are_objects_for_programs() {
    let (code, out, err) = run(&["data", "inspect", "a.edf", "--formt=x", "--format=json"]);
    let failure: Value = serde_json::from_str(&err).unwrap();
    assert_eq!((code, &*out), (1, ""));
    assert_eq!(failure["error"], "unexpected argument '--formt' found");
    let hint = failure["hint"].as_str().unwrap();
    assert!(
        hint.starts_with("tip: a similar argument exists: '--format'; Usage: fedspd data inspect"),
        "{hint}"
    );
    assert_eq!((&failure["kind"], &failure["exit_code"]), (&"usage".into(), &1.into()));
    let (code, _, err) = run(&["data", "inspect", "a.edf", "--formt=x"]);
    assert!(code == 1 && err.starts_with("error: unexpected argument '--formt' found\n"), "{err}");
    let (code, out, err) = run(&["data", "inspect", "--help", "--format", "json"]);
    assert!(code == 0 && out.contains("Usage: ") && err.is_empty(), "{out}{err}");
}

/// A disk error is the machine's fault, a missing folder the user's.
#[cfg(target_os = "linux")]
#[test]
fn faults_of_the_machine_exit_with_2() {
    let folder = tempfile::tempdir().unwrap();
    let definition = study(folder.path(), 1);
    let prepare = |out: &str| run(&["data", "prepare", &definition, "--out", out, "--progress", "off"]);
    // No user may create files there.
    let (code, _, err) = prepare("/sys/out.npz");
    assert!(code == 2 && err.starts_with("error: /sys/out.npz: "), "{code}: {err}");
    let (code, _, err) = prepare("/nowhere/out.npz");
    assert_eq!((code, &*err), (1, "error: /nowhere/out.npz: No such file or directory (os error 2)\n"));
}
