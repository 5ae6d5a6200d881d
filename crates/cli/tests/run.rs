//! `fedspd run`, `resume`, `eval`, `new` and `doctor` as a user sees them.
#![allow(clippy::unwrap_used)] // helpers of tests may panic as tests do

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("fedspd"));
    command.current_dir(folder).args(arguments);
    command
}

fn fedspd(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = command(folder, arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let (code, out, err) = fedspd(folder, arguments);
    assert_eq!((code, &*err), (0, ""), "{out}");
    serde_json::from_str(&out).unwrap()
}

const CONFIG: &str = r#"
    [data]
    name = "generated"
    [data.generated]
    subjects = 6
    trials = 30
    channels = 12
    classes = 3
    shift = 0.3
    [model]
    dims = [8]
    epsilon = 1e-4
    [federated]
    rounds = 60
    carry_state = true
    [run]
    seeds = [0, 1]
"#;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("small.toml"), CONFIG).unwrap();
    folder
}

/// Returns the files that must be the same, whatever happened during the run.
fn bytes(folder: &Path) -> Vec<Vec<u8>> {
    let names = [
        "results.csv",
        "summary.json",
        "shards.json",
        "models/seed-0.safetensors",
        "models/seed-1.safetensors",
    ];
    names.iter().map(|name| fs::read(folder.join(name)).unwrap()).collect()
}

/// A run that is killed at twenty moments and resumed each time ends with the same bytes.
#[test]
fn a_run_survives_being_killed() {
    let folder = folder();
    let (code, _, err) =
        fedspd(folder.path(), &["run", "small.toml", "--out", "straight", "--quiet", "--threads", "1"]);
    assert_eq!((code, &*err), (0, ""));
    let (mut kills, mut moment, mut begun, mut span) = (0, 7_u64, false, 60);
    while kills < 20 {
        let arguments: &[&str] = if begun {
            &["resume", "killed", "--quiet"]
        } else {
            &["run", "small.toml", "--out", "killed", "--quiet"]
        };
        let mut child =
            command(folder.path(), arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        // Moments from a fixed sequence, in milliseconds. Early ones hit the setup, later ones any
        // part of a round.
        moment = moment.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(2 + (moment >> 33) % span));
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        kills += 1;
        // The process was killed or already done; there is never an error.
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        begun = folder.path().join("killed/manifest.json").exists();
        // A busy machine needs longer to set a run up.
        span = if begun { span } else { span * 5 / 4 };
    }
    assert!(begun);
    let (code, out, err) = fedspd(folder.path(), &["resume", "killed", "--quiet"]);
    assert_eq!((code, &*err), (0, ""));
    assert!(out.contains("Run folder: killed\n"), "{out}");
    let (straight, killed) = (bytes(&folder.path().join("straight")), bytes(&folder.path().join("killed")));
    assert!(straight == killed);
    let strays = fs::read_dir(folder.path().join("killed")).unwrap();
    let strays: Vec<_> = strays.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(strays.iter().all(|name| !name.contains("partial")), "{strays:?}");
}

/// The error for a second process names the first; a kill releases the folder.
#[test]
fn a_run_folder_has_one_process() {
    let folder = folder();
    let arguments =
        ["run", "small.toml", "--out", "busy", "--set", "federated.rounds=100000", "--progress", "json"];
    let mut child =
        command(folder.path(), &arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut stderr = std::io::BufReader::new(child.stderr.take().unwrap());
    std::io::BufRead::read_line(&mut stderr, &mut line).unwrap();
    for other in [&["resume", "busy", "--quiet"][..], &["run", "small.toml", "--out", "busy", "--quiet"]] {
        let (code, out, err) = fedspd(folder.path(), other);
        let message = format!("error: busy: in use by process {}", child.id());
        assert!(code == 1 && out.is_empty() && err.starts_with(&message) && err.contains("hint: "), "{err}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let (_, _, err) = fedspd(folder.path(), &["run", "small.toml", "--out", "busy", "--quiet"]);
    assert!(err.contains("already holds a run"), "{err}");
}

/// Ctrl-C ends a run after the current round with code 130 and says how to continue.
#[cfg(unix)]
#[test]
fn an_interrupted_run_says_how_to_go_on() {
    let folder = folder();
    let arguments =
        ["run", "small.toml", "--out", "cut", "--set", "federated.rounds=100000", "--progress", "json"];
    let mut child =
        command(folder.path(), &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    // As soon as the first round has ended.
    std::io::BufRead::read_line(&mut stderr, &mut line).unwrap();
    let first: Value = serde_json::from_str(&line).unwrap();
    assert_eq!((first["round"].as_u64(), first["of"].as_u64()), (Some(1), Some(200_000)));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut stderr, &mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(
        rest.contains("finishing the round") && rest.contains("resume with `fedspd resume cut`"),
        "{rest}"
    );
    let manifest: Value =
        serde_json::from_slice(&fs::read(folder.path().join("cut/manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["status"], "interrupted");
}

#[test]
fn a_run_is_looked_ahead_to_run_and_tried() {
    let folder = folder();
    let at = folder.path();
    let forecast = json(at, &["run", "small.toml", "--dry-run", "--format", "json"]);
    assert_eq!(
        (forecast["rounds"].as_u64(), forecast["parameters"].as_u64()),
        (Some(60), Some(12 * 8 + 3 * 65))
    );
    assert_eq!(forecast["shards"]["clients"].as_array().unwrap().len(), 3);
    assert_eq!(forecast["reply_bytes"], 0);
    let kept = ["run", "small.toml", "--dry-run", "--set", "federated.aggregation=karcher"];
    let (_, out, _) = fedspd(at, &kept);
    assert!(out.contains("memory for replies until a round ends  0.0 MB"), "{out}");
    let kept = json(at, &[&kept[..], &["--format", "json"]].concat());
    assert_eq!(kept["reply_bytes"], 3 * 12 * 8 * 8);
    let (code, out, _) = fedspd(at, &["run", "small.toml", "--dry-run"]);
    assert!(code == 0 && out.contains("parameters sent") && out.contains("client 3"), "{out}");
    assert_eq!(fs::read_dir(at).unwrap().count(), 1, "nothing is written");

    let result = json(
        at,
        &[
            "run",
            "small.toml",
            "--seeds",
            "0..3",
            "--set",
            "federated.rounds=4",
            "--set",
            "federated.aggregation=rl-avg",
            "--quiet",
            "--format",
            "json",
        ],
    );
    assert_eq!((&result["macro_f1"]["count"], &result["seeds"]), (&json!(3), &json!([0, 1, 2])));
    assert!(result["macro_f1"]["mean"].as_f64().unwrap() > 0.2 && result["macro_f1"]["std"].is_number());
    let run = result["folder"].as_str().unwrap();
    assert!(run.starts_with("runs/small-") && at.join(run).join("results.csv").exists(), "{run}");
    let mut shared = result.as_object().unwrap().clone();
    shared.retain(|key, _| !["folder", "seeds"].contains(&key.as_str()));
    let summary = fs::read_to_string(at.join(run).join("summary.json")).unwrap();
    assert_eq!(Value::Object(shared), serde_json::from_str::<Value>(&summary).unwrap());
    let (code, _, err) = fedspd(at, &["run", "small.toml", "--out", run, "--quiet"]);
    assert!(code == 1 && err.contains("already holds a run") && err.contains("fedspd resume"), "{err}");
    let (code, _, err) = fedspd(at, &["eval", run, "--data", "x.npz"]);
    assert!(code == 1 && err.contains("has 3 seeds"), "{err}");
}

#[test]
fn the_sample_is_built_in_and_its_model_can_be_tried() {
    let folder = folder();
    let at = folder.path();
    let (code, out, err) = fedspd(
        at,
        &["run", "sample", "--set", "federated.rounds=3", "--out", "s", "--progress", "plain", "-v"],
    );
    assert!(code == 0 && out.contains("macro-F1, all trials together"), "{err}");
    assert!(err.contains("seed 0, round 3 of 3, 5 clients, validation F1"), "{err}");
    let (code, out, _) = fedspd(at, &["resume", "s", "--quiet"]);
    assert!(code == 0 && out.contains("Run folder: s\n"));
    let (code, _, err) = fedspd(at, &["eval", "s", "--data", "nothing.npz"]);
    assert!(code == 1 && err.starts_with("error: nothing.npz: "), "{err}");
}

/// Hidden progress hides no warning; lines show the number of clients and the validation F1.
#[test]
fn progress_is_shown_as_asked_for() {
    let folder = folder();
    let at = folder.path();
    let run = |out: &str, more: &[&str]| {
        let map = "federated.clients={ a = [1, 2], b = [3] }";
        let arguments = ["run", "small.toml", "--out", out, "--seeds", "0", "--set", map];
        let (code, _, err) = fedspd(at, &[&arguments[..], &["--set", "federated.rounds=20"], more].concat());
        assert_eq!(code, 0, "{err}");
        err
    };
    let warning = "warning: no client has the subjects 4, 5, 6: their trials are not used\n";
    assert_eq!(run("off", &["--progress", "off"]), warning);
    assert_eq!(run("quiet", &["--quiet"]), "");
    let plain = run("plain", &["--progress", "plain"]);
    let lines: Vec<&str> = plain.lines().collect();
    assert_eq!((lines[0], lines.len()), (warning.trim_end(), 11));
    assert!(lines[1].starts_with("2 of 20 rounds in "), "{plain}");
    assert!(lines[1].contains(" s left: seed 0, round 2 of 20, 2 clients, validation F1 "), "{plain}");
}

/// A path with a space is one word in the command to resume.
#[cfg(unix)]
#[test]
fn an_interrupted_demo_or_run_says_what_is_left_of_it() {
    let folder = folder();
    let interrupted = |arguments: &[&str]| {
        let mut child =
            command(folder.path(), arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = std::io::BufReader::new(child.stderr.take().unwrap());
        std::io::BufRead::read_line(&mut stderr, &mut String::new()).unwrap();
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut stderr, &mut rest).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        rest
    };
    let demo = interrupted(&["demo", "--rounds", "1000", "--progress", "json"]);
    assert!(demo.contains("; resume with `fedspd demo --rounds 1000 --progress json`\n"), "{demo}");
    let set = ["--set", "federated.rounds=100000", "--progress", "json"];
    let run = interrupted(&[&["run", "small.toml", "--out", "my runs/cut"][..], &set].concat());
    assert!(run.contains("; resume with `fedspd resume 'my runs/cut'`"), "{run}");
}

/// Runs without a common model, or not finished, cannot be evaluated and say so.
#[test]
fn what_cannot_be_tried_is_told() {
    let folder = folder();
    let at = folder.path();
    let run = |out: &str, more: &[&str]| {
        let arguments = ["run", "small.toml", "--out", out, "--seeds", "0", "--quiet", "--set"];
        let (code, _, err) = fedspd(at, &[&arguments[..], more].concat());
        assert_eq!(code, 0, "{err}");
    };
    run("local", &["mode=local", "--set", "train.epochs=2"]);
    let (code, _, err) = fedspd(at, &["eval", "local", "--data", "x.npz"]);
    let message = "error: local: no model is available: clients that train alone have no common model\n";
    assert_eq!((code, &*err), (1, message));
    run("done", &["federated.rounds=2"]);
    fs::remove_file(at.join("done/models/seed-0.safetensors")).unwrap();
    let (code, _, err) = fedspd(at, &["eval", "done", "--data", "x.npz"]);
    assert!(code == 1 && err.contains("the run is not done; resume it first"), "{err}");
}

#[test]
fn a_new_configuration_runs_as_it_is() {
    let folder = folder();
    let at = folder.path();
    let (code, out, _) = fedspd(at, &["new", "mine"]);
    assert!(code == 0 && out.starts_with("Wrote mine.toml."), "{out}");
    let (code, out, err) = fedspd(at, &["run", "mine.toml", "--dry-run"]);
    assert!(code == 0 && out.contains("client 5"), "{err}");
    let (code, _, err) = fedspd(at, &["new", "mine"]);
    let twice = "error: mine.toml exists already, and nothing is overwritten: choose another name, or delete it first\n";
    assert_eq!((code, &*err), (1, twice));
    let schema = json(at, &["new", "--schema"]);
    assert!(schema["properties"]["federated"].is_object());
}

#[test]
fn a_new_flower_app_has_a_configuration_that_runs() {
    let folder = folder();
    let at = folder.path();
    let (code, out, err) = fedspd(at, &["flower", "new", "My Study"]);
    assert!(code == 0 && out.starts_with("Wrote My Study."), "{err}");
    let (code, _, err) = fedspd(at, &["run", "My Study/fedspd_app/experiment.toml", "--dry-run"]);
    assert_eq!(code, 0, "{err}");
    let project = fs::read_to_string(at.join("My Study/pyproject.toml")).unwrap();
    assert!(project.contains("\nname = \"my-study\"\n"), "{project}");
    assert!(project.lines().any(|line| line.starts_with("out = ") && line.contains("My Study")), "{project}");
    let (code, _, err) = fedspd(at, &["flower", "new", "My Study"]);
    let twice = "error: My Study exists already, and nothing is overwritten: choose another name, or delete it first\n";
    assert_eq!((code, &*err), (1, twice));
}

#[test]
fn the_doctor_looks_at_this_machine() {
    let folder = folder();
    let found = json(folder.path(), &["doctor", "--format", "json"]);
    assert!(found["available"].as_array().unwrap().contains(&found["instructions"]));
    assert!(found["threads"].as_u64().unwrap() > 0 && found["this_folder"] == "writable");
    let (code, out, _) = fedspd(folder.path(), &["doctor"]);
    assert!(code == 0 && out.contains("instructions"), "{out}");
}

/// Exit codes: 1 for mistakes of the user, 2 for faults of the machine.
#[test]
fn mistakes_have_one_sentence_and_a_code() {
    let folder = folder();
    let at = folder.path();
    fs::write(at.join("file"), "in the way").unwrap();
    fs::create_dir(at.join("full")).unwrap();
    fs::write(at.join("full/thesis.tex"), "").unwrap();
    fs::write(at.join("utf16.toml"), b"\xff\xfed\0a\0").unwrap();
    fs::create_dir(at.join("run")).unwrap();
    fs::write(at.join("run/manifest.json"), "").unwrap();
    let cases: [(&[&str], i32, &str); 17] = [
        (&["run", "utf16.toml"], 1, "error: utf16.toml is not UTF-8 text; save it as UTF-8\n"),
        (&["run", "full"], 1, "error: full is a folder, not a configuration\n"),
        (&["run", "run"], 1, "error: run is a run folder; continue it with `fedspd resume run`\n"),
        (
            &["run", "small.toml", "--out", "file"],
            1,
            "error: file: a file, not a folder\n\nhint: name a folder\n",
        ),
        (&["resume", "file"], 1, "error: file: a file, not a folder\n\nhint: name a folder\n"),
        (
            &["report", "run/manifest.json"],
            1,
            "error: run/manifest.json: a file, not a folder\n\nhint: name its folder, run\n",
        ),
        (
            &["data", "prepare", "utf16.toml", "--out", "x.npz"],
            1,
            "error: utf16.toml: stream did not contain valid UTF-8\n\nhint: save the file as UTF-8 text\n",
        ),
        (
            &["run", "smal.toml"],
            1,
            "error: smal.toml is not a built-in experiment (`fedspd run --list` shows them), and the file cannot be read: ",
        ),
        (
            &["run", "small.toml", "--set", "federated.agregation=rl-avg"],
            1,
            "error: unknown key `federated.agregation`",
        ),
        (&["run", "small.toml", "--set", "federated.aggregation=median"], 1, "error: "),
        (&["run", "small.toml", "--seeds", "three"], 1, "error: "),
        (&["run", "small.toml", "--set", "model.dims=[20]"], 1, "error: "),
        (
            &["run", "sample", "--set", "model.dims=[65]"],
            1,
            "error: `model.dims` begins with 65, but `sample` has 64 channels\n\nhint: ",
        ),
        (&["run", "small.toml", "--out", "full", "--quiet"], 1, "error: "),
        (
            &["run", "small.toml", "--out", "file/run", "--quiet"],
            2,
            "error: file/run: Not a directory (os error 20)\n\nhint: a part of the path is a file; name a folder\n",
        ),
        (&["resume", "nowhere"], 1, "error: "),
        (&["eval", "small.toml", "--data", "x.npz"], 1, "error: "),
    ];
    for (arguments, expected, message) in cases {
        let (code, out, err) = fedspd(at, arguments);
        assert_eq!((code, &*out), (expected, ""), "{arguments:?}: {err}");
        assert!(err.starts_with(message) && !err.contains("panicked"), "{arguments:?}: {err}");
    }
    let volts = ["run", "sample", "--set", "model.epsilon=1e9", "--out", "volts", "--quiet"];
    let (code, _, err) = fedspd(at, &volts);
    assert!(
        code == 1 && err.contains("% of the eigenvalues are below the threshold") && err.contains("hint: "),
        "{err}"
    );
}

/// The distance from orthonormal columns is shown only for networks that have such columns.
#[test]
fn eegnet_has_no_orthonormality() {
    let folder = folder();
    let run = |changes: &[&str]| {
        let mut words = vec!["run", "small.toml", "--quiet", "--seeds", "0", "--set", "federated.rounds=1"];
        words.extend(changes.iter().flat_map(|change| ["--set", change]));
        let (code, out, err) = fedspd(folder.path(), &words);
        assert_eq!((code, &*err), (0, ""), "{out}");
        let (_, run) = out.trim_end().rsplit_once("Run folder: ").unwrap();
        let (code, _, err) = fedspd(folder.path(), &["report", run]);
        assert_eq!((code, &*err), (0, ""));
        let run = folder.path().join(run);
        let summary = fs::read_to_string(run.join("summary.json")).unwrap();
        let summary: Value = serde_json::from_str(&summary).unwrap();
        let page = fs::read_to_string(run.join("report/report.html")).unwrap();
        (out.contains("WᵀW"), page.contains("WᵀW"), summary["feasibility_error"].is_number())
    };
    assert_eq!(run(&[]), (true, true, true));
    assert_eq!(run(&["model.kind=eegnet", "data.generated.samples=128"]), (false, false, false));
}
