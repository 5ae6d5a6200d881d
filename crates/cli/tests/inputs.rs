//! Inputs that users get wrong, with their exact messages; paths, notes and warnings.
#![allow(clippy::unwrap_used)] // helpers of tests may panic as tests do

use std::fs;
use std::path::Path;
use std::process::Command;

use fedspd_eeg::npz::NpzWriter;

fn fedspd(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("fedspd"));
    let output = command.current_dir(folder).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

const SMALL: &str = r#"
[data]
name = "generated"
[data.generated]
subjects = 4
trials = 20
channels = 6
classes = 2
samples = 64
[model]
dims = [4]
epsilon = 1e-4
[federated]
rounds = 2
"#;

const STUDY: &str = r#"
name = "study"
format = "edf"
files = "S{subject:3}/S{subject:3}R{run:2}.edf"
sfreq = 160
interval = [0, 3]
band = [8, 32]
[[events]]
classes = { T1 = "left_hand", T2 = "right_hand" }
"#;

/// Writes covariances in V^2 with the required arrays only: two subjects, names as labels.
fn volts(path: &Path) {
    let (trials, n) = (24, 3);
    let mut writer = NpzWriter::create(path).unwrap();
    let entry = |place: usize| {
        let (trial, row, column) = (place / (n * n), place / n % n, place % n);
        if row == column { 10.0 + ((trial * 7 + row) % 5 + 4 * (trial % 2)) as f64 } else { 1.0 }
    };
    let x: Vec<f64> = (0..trials * n * n).map(|place| entry(place) * 1e-12).collect();
    writer.floats("X", &[trials, n, n], &x).unwrap();
    let labels: Vec<&str> = (0..trials).map(|trial| ["left", "right"][trial % 2]).collect();
    writer.strings("y", &[trials], &labels).unwrap();
    let subjects: Vec<i64> = (0..trials).map(|trial| i64::from(trial >= trials / 2)).collect();
    writer.integers("subject", &[trials], &subjects).unwrap();
    writer.floats("sfreq", &[], &[160.0]).unwrap();
    writer.strings("unit", &[], &["V^2"]).unwrap();
    writer.finish().unwrap();
}

const ON_VOLTS: &str = "[data]\nname = \"volts.npz\"\n[model]\ndims = [2]\nepsilon = 1e-4\n[federated]\nsubjects_per_client = 1\nrounds = 2\n";

#[test]
fn mistaken_files_are_recognised() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for (name, text) in [
        ("small.toml", SMALL.to_owned()),
        ("study.toml", STUDY.to_owned()),
        ("band.toml", STUDY.replace("[8, 32]", "[32, 8]")),
        ("typo.toml", STUDY.replace("interval", "intervall")),
        ("config-band.toml", "[data]\nname = \"study.toml\"\nband = [32, 8]\n".to_owned()),
    ] {
        fs::write(at.join(name), text).unwrap();
    }
    volts(&at.join("x.npz"));
    let prepare = |name| ["data", "prepare", name, "--out", "out.npz"];
    let cases: [(&[&str], &str); 8] = [
        (
            &["run", "study.toml"],
            "error: study.toml is the definition of a dataset, not the configuration of an experiment\n\nhint: convert its recordings with `fedspd data prepare study.toml --out DATA.npz`, or name it in a configuration: data.name = \"study.toml\"\n",
        ),
        (
            &prepare("small.toml"),
            "error: small.toml is the configuration of an experiment, not the definition of a dataset\n\nhint: start it with `fedspd run small.toml`; the chapter \"Dataset definition\" of the book lists the keys of a definition\n",
        ),
        (
            &["eval", "x.npz", "--data", "x.npz"],
            "error: x.npz is not a model: a model is a .safetensors file or a run folder; pass data with --data x.npz\n",
        ),
        (
            &["eval", "x.npz"],
            "error: x.npz is not a model: a model is a .safetensors file or a run folder; pass data with --data x.npz\n",
        ),
        (
            &["run", "config-band.toml"],
            "error: `data.band` is [32, 8] in config-band.toml, line 3, column 8; its lower edge must come first\n\nhint: write [8, 32]\n",
        ),
        (&prepare("band.toml"), "error: band.toml: `band` is [32, 8]; its lower edge must come first\n"),
        (
            &["data", "prepare", "study.toml", "--out", "out.npz", "--band", "32-8"],
            "error: invalid value '32-8' for '--band <LOW-HIGH>': its lower edge must come first\n\nFor more information, try '--help'.\n",
        ),
        (
            &prepare("typo.toml"),
            "error: unknown key `intervall` in typo.toml, line 6, column 1\n\nhint: did you mean `interval`? the top-level keys are band, channels, citations, events, excluded, files, format, interval, licence, mat, name, reference, rename, runs, sessions, sfreq, source, subjects, title, unit\n",
        ),
    ];
    for (arguments, message) in cases {
        assert_eq!(fedspd(at, arguments), (1, String::new(), message.to_owned()), "{arguments:?}");
    }
}

/// A path in a configuration is relative to its file, a path of `--set` to the working directory.
#[test]
fn paths_are_relative_to_the_file_that_names_them() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::create_dir_all(at.join("study/data")).unwrap();
    fs::create_dir_all(at.join("elsewhere")).unwrap();
    volts(&at.join("study/data/volts.npz"));
    fs::write(at.join("study/mine.toml"), ON_VOLTS.replace("volts.npz", "data/volts.npz")).unwrap();
    for (from, name, more) in [
        (at.to_owned(), "study/mine.toml", vec![]),
        (at.join("study"), "mine.toml", vec![]),
        (at.join("elsewhere"), "../study/mine.toml", vec![]),
        (at.join("elsewhere"), "../study/mine.toml", vec!["--set", "data.name=../study/data/volts.npz"]),
    ] {
        let (code, _, err) = fedspd(&from, &[&["run", name, "--dry-run"], &more[..]].concat());
        assert_eq!(code, 0, "{name} from {}: {err}", from.display());
    }
    let (code, _, err) =
        fedspd(at, &["run", "study/mine.toml", "--dry-run", "--set", "data.name=data/volts.npz"]);
    assert!(code == 1 && err.contains("data/volts.npz: No such file"), "{err}");
    assert_eq!(fedspd(at, &["run", "study/mine.toml", "--out", "run", "--quiet"]).0, 0);
    let stored = fs::read_to_string(at.join("run/config.toml")).unwrap();
    let absolute = at.join("study/data/volts.npz");
    assert!(stored.contains(&format!("name = \"{}\"", absolute.display())), "{stored}");
    // The recordings of a definition: `data.root` is relative to the configuration, too.
    let recordings = at.join("study/recordings/S001");
    fs::create_dir_all(&recordings).unwrap();
    for run in ["S001R04.edf", "S001R06.edf"] {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/eeg/S001").join(run);
        fs::copy(golden, recordings.join(run)).unwrap();
    }
    fs::write(at.join("study/study.toml"), STUDY).unwrap();
    let config = "[data]\nname = \"study.toml\"\nroot = \"recordings\"\n[model]\ndims = [4]\n[federated]\nsubjects_per_client = 1\n";
    fs::write(at.join("study/raw.toml"), config).unwrap();
    let (code, _, err) = fedspd(&at.join("elsewhere"), &["run", "../study/raw.toml", "--dry-run"]);
    assert_eq!(code, 0, "{err}");
}

/// `--dry-run` warns of everything that `run` warns of, in the same words; so does the run folder.
#[test]
fn dry_runs_warn_like_runs() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    volts(&at.join("volts.npz"));
    fs::write(at.join("mine.toml"), ON_VOLTS).unwrap();
    let explicit = "federated.clients={ a = [0] }";
    let arguments = ["run", "mine.toml", "--set", explicit, "--seeds", "0,1", "--progress", "off"];
    let warnings = |err: &str| {
        let lines = err.lines().filter_map(|line| line.strip_prefix("warning: "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let (code, _, ran) = fedspd(at, &[&arguments[..], &["--out", "run"]].concat());
    assert_eq!(code, 0, "{ran}");
    let (code, _, dry) = fedspd(at, &[&arguments[..], &["--dry-run"]].concat());
    assert_eq!(code, 0, "{dry}");
    let expected = warnings(&ran);
    let path = at.join("volts.npz");
    for text in [
        "there is no array `session`: all trials count as one session",
        "there is no array `classes`: the classes are the sorted labels of `y`, `left`, `right`",
        "`X` was converted from V^2 to uV^2",
    ] {
        assert!(expected.contains(&format!("{}: {text}", path.display())), "{expected:?}");
    }
    assert!(expected.iter().any(|text| text.starts_with("no client has the subject")), "{expected:?}");
    assert_eq!(warnings(&dry), expected);
    let events = fs::read_to_string(at.join("run/events.jsonl")).unwrap();
    let events = events.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let stored: Vec<_> = events.filter_map(|event| Some(event["text"].as_str()?.to_owned())).collect();
    assert_eq!(stored, expected);
    let (code, out, _) = fedspd(at, &[&arguments[..], &["--dry-run", "--format", "json"]].concat());
    let forecast: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &forecast["warnings"]), (0, &serde_json::json!(expected)));
}

/// An absurd learning rate ends the run as diverged, whatever the network, precision and mode.
#[test]
fn an_absurd_learning_rate_stops_as_diverged() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("small.toml"), SMALL).unwrap();
    for model in ["spdnet", "eegnet"] {
        for precision in ["f32", "f64"] {
            for mode in ["federated", "centralised", "local"] {
                let [kind, precision, mode] = [
                    format!("model.kind={model}"),
                    format!("model.precision={precision}"),
                    format!("mode={mode}"),
                ];
                let out = format!("{model}-{precision}-{mode}");
                // EEGNet has no BiMap layers: `model.dims` is SPDnet's.
                let small = if model == "eegnet" { eegnet(at) } else { "small.toml" };
                let (code, _, err) = fedspd(
                    at,
                    &[
                        "run",
                        small,
                        "--set",
                        &kind,
                        "--set",
                        &precision,
                        "--set",
                        &mode,
                        "--set",
                        "train.lr=1e300",
                        "--quiet",
                        "--out",
                        &out,
                    ],
                );
                let said = err.lines().next().unwrap();
                assert!(code == 1 && said.contains("training diverged: "), "{out}: {code} {err}");
                // Short, also for a number near the largest.
                assert!(said.len() < 120, "{said}");
            }
        }
    }
}

/// Writes the small configuration without keys of SPDnet.
fn eegnet(at: &Path) -> &'static str {
    let text = SMALL.replace("dims = [4]\nepsilon = 1e-4\n", "");
    fs::write(at.join("eegnet.toml"), text).unwrap();
    "eegnet.toml"
}

#[test]
fn seeds_may_be_listed() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("small.toml"), SMALL).unwrap();
    let arguments = ["run", "small.toml", "--seeds", "0,1,2", "--out", "run", "--quiet"];
    assert_eq!(fedspd(folder.path(), &arguments).0, 0);
    for seed in 0..3 {
        assert!(folder.path().join(format!("run/models/seed-{seed}.safetensors")).is_file());
    }
}
