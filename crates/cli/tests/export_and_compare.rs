//! `fedspd compare`, `export`, `completions` and `man` as a user sees them.
#![allow(clippy::unwrap_used, clippy::print_stderr)] // helpers of tests may panic as tests do, and say what they leave out

use std::fs;
use std::path::Path;
use std::process::Command;

use fedspd_eeg::npz::NpzFile;
use fedspd_nn::file::{StoredParameters, load_stored};
use serde_json::Value;

fn fedspd(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let command = assert_cmd::cargo::cargo_bin!("fedspd");
    let output = Command::new(command).current_dir(folder).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Returns the output of a command, which must succeed.
fn printed(folder: &Path, arguments: &[&str]) -> String {
    let (code, out, err) = fedspd(folder, arguments);
    assert_eq!((code, &*err), (0, ""), "{arguments:?}: {out}");
    out
}

const CONFIG: &str = r#"
    [data]
    name = "generated"
    [data.generated]
    subjects = 6
    trials = 30
    channels = 8
    classes = 2
    samples = 160
    [model]
    dims = [4]
    epsilon = 1e-4
    [federated]
    rounds = 2
    [run]
    seeds = [0, 1, 2]
"#;

/// Makes a folder with a run of this name for each list of overrides.
fn runs(made: &[(&str, &[&str])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("small.toml"), CONFIG).unwrap();
    for (name, overrides) in made {
        let mut arguments = vec!["run", "small.toml", "--quiet", "--out", name];
        overrides.iter().for_each(|change| arguments.extend(["--set", change]));
        printed(folder.path(), &arguments);
    }
    folder
}

/// Returns Python with these modules, if there is one.
fn python(modules: &str) -> Option<Command> {
    let interpreter = std::env::var("FEDSPD_PYTHON").unwrap_or_else(|_| "python3".into());
    let found = Command::new(&interpreter).args(["-c", &format!("import {modules}")]).output();
    let command = found.is_ok_and(|output| output.status.success()).then(|| Command::new(interpreter));
    if command.is_none() {
        eprintln!("Python has no {modules}: not asked");
    }
    command
}

/// Models are exported bit for bit, in their own type, under the names of the parameters.
#[test]
fn models_are_handed_on_bit_for_bit() {
    let folder =
        runs(&[("spd", &[]), ("eeg", &["model.kind=eegnet", "run.seeds=[0]"]), ("alone", &["mode=local"])]);
    let at = folder.path();
    assert_eq!(
        printed(at, &["export", "spd", "--to", "npz"]),
        "spd-seed-0.npz\nspd-seed-1.npz\nspd-seed-2.npz\n"
    );
    assert_eq!(printed(at, &["export", "eeg", "--to", "npz"]), "eeg.npz\n");
    for (model, array) in [("spd/models/seed-1", "spd-seed-1.npz"), ("eeg/models/seed-0", "eeg.npz")] {
        let stored = load_stored(&at.join(model).with_extension("safetensors")).unwrap();
        let mut file = NpzFile::open(at.join(array)).unwrap();
        let (layout, wide, single) = match &stored.parameters {
            StoredParameters::F32(set) => (set.layout(), set.cast::<f64>(), true),
            StoredParameters::F64(set) => (set.layout(), set.clone(), false),
        };
        assert_eq!(single, model.starts_with("eeg"));
        let expected: Vec<&str> =
            layout.parameters().iter().map(|p| p.name.as_str()).chain(["manifest"]).collect();
        assert_eq!(file.names().collect::<Vec<_>>(), expected);
        for (parameter, values) in wide.iter() {
            let found = file.floats(&parameter.name).unwrap();
            assert_eq!((&found.shape, &*found.values), (&parameter.shape, values), "{}", parameter.name);
        }
        let manifest: Value = serde_json::from_str(&file.strings("manifest").unwrap().values[0]).unwrap();
        assert_eq!(manifest["classes"].as_array().unwrap().len(), 2);
    }
    printed(at, &["export", "spd", "--to", "safetensors", "--seed", "2", "--out", "model.safetensors"]);
    let same = fs::read(at.join("model.safetensors")).unwrap()
        == fs::read(at.join("spd/models/seed-2.safetensors")).unwrap();
    assert!(same);
    let (code, _, err) = fedspd(at, &["export", "spd", "--to", "npz", "--seed", "7"]);
    assert_eq!((code, &*err), (1, "error: spd has no seed 7; its seeds are 0, 1, 2\n"));
    let (code, _, err) = fedspd(at, &["export", "alone", "--to", "npz"]);
    assert!(code == 1 && err.starts_with("error: alone has no model of seed 0"), "{err}");
    let (code, _, err) = fedspd(at, &["export", "nowhere", "--to", "npz"]);
    assert!(code == 1 && err.contains("there is no such folder"), "{err}");
    let program = "import numpy as np, safetensors.numpy as st\n\
                   a, b = np.load('spd-seed-2.npz', allow_pickle=False), st.load_file('model.safetensors')\n\
                   assert {*b, 'manifest'} == {*a}\n\
                   for name, array in b.items(): assert array.dtype == a[name].dtype and (array == a[name]).all()\n\
                   assert np.load('eeg.npz')['spatial.weight'].dtype == np.float32";
    if let Some(mut python) = python("numpy, safetensors") {
        let output = python.args(["-c", program]).current_dir(at).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn runs_are_compared() {
    let folder = runs(&[("a", &[]), ("b", &["align.kind=riemannian"]), ("c", &["data.generated.trials=40"])]);
    let at = folder.path();
    let text = printed(at, &["compare", "a", "b"]);
    for part in [
        "over 3 seeds",
        "over 3 clients",
        "ProjAvg − ProjAvg, aligned",
        "p, Holm",
        "with 3 seeds the smallest two-sided p is 0.25",
        "not other people",
    ] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
    let found: Value =
        serde_json::from_str(&printed(at, &["compare", "a", "b", "--format", "json", "--out", "out"]))
            .unwrap();
    let seeds = &found["pairs"][0]["over_seeds"];
    assert_eq!(
        (seeds["differences"].as_array().unwrap().len(), seeds["wilcoxon"]["exact"].as_bool()),
        (3, Some(true))
    );
    // The difference equals that of the scores in the runs.
    let pooled = |run: &str| {
        let table = fedspd_run::ResultTable::read(&at.join(run).join("results.csv")).unwrap();
        let rows = table
            .rows
            .into_iter()
            .filter(|row| row.client == "pooled" && row.split == "test" && row.metric == "final_macro_f1");
        rows.map(|row| row.value).collect::<Vec<f64>>()
    };
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let expected = mean(pooled("a")) - mean(pooled("b"));
    assert!((seeds["mean"].as_f64().unwrap() - expected).abs() < 1e-12);
    for file in ["report.html", "figures/compare.svg", "tables/compare.csv", "tables/compare.tex"] {
        assert!(at.join("out").join(file).exists(), "{file}");
    }
    let text = printed(at, &["compare", "a", "b", "--label", "recentred=b", "--label", "plain=./a"]);
    assert!(text.contains("plain − recentred"), "{text}");
    let (code, _, err) = fedspd(at, &["compare", "a", "b", "--label", "other=c"]);
    let expected = "error: the label `other` is for c, which is not among the runs\n\nhint: also list the folder of a label as a run: fedspd report RUN --label NAME=RUN\n";
    assert_eq!((code, &*err), (1, expected));
    let (code, _, err) = fedspd(at, &["compare", "a", "b", "--label", "b"]);
    assert!(code == 1 && err.contains("expected NAME=RUN, such as ours=runs/mine"), "{err}");
    let (code, _, err) = fedspd(at, &["compare", "a", "c"]);
    assert!(
        code == 1 && err.starts_with("error: a and c cannot be compared: ") && err.contains("hint: "),
        "{err}"
    );
    assert_eq!(fedspd(at, &["compare", "a"]).0, 1);
}

#[test]
fn completions_and_pages_cover_every_verb() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let verbs = [
        "demo",
        "data",
        "new",
        "run",
        "resume",
        "eval",
        "predict",
        "report",
        "compare",
        "export",
        "flower",
        "doctor",
        "completions",
        "man",
    ];
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = printed(at, &["completions", shell]);
        assert!(verbs.iter().all(|verb| script.contains(verb)), "{shell}");
        if shell == "bash" {
            fs::write(at.join("fedspd.bash"), script).unwrap();
            let checked = Command::new("bash").args(["-n", "fedspd.bash"]).current_dir(at).status();
            // Windows has no bash.
            assert!(checked.map_or(true, |status| status.success()));
        }
    }
    assert!(printed(at, &["man"]).starts_with(".ie"));
    let listed = printed(at, &["man", "--out", "man1"]);
    // Every verb in the help has a page.
    let help = printed(at, &["--help"]);
    let commands =
        help.split("Commands:").nth(1).unwrap().lines().skip(1).take_while(|line| !line.is_empty());
    let commands: Vec<&str> =
        commands.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect();
    assert!(verbs.iter().all(|verb| commands.contains(verb)), "{commands:?}");
    let pages = commands.iter().map(|verb| format!("man1/fedspd-{verb}.1"));
    for page in pages.chain(["man1/fedspd.1".into(), "man1/fedspd-data-list.1".into()]) {
        assert!(listed.lines().any(|line| line == page), "{page} is not in\n{listed}");
        assert!(fs::read_to_string(at.join(&page)).unwrap().contains(".SH SYNOPSIS"), "{page}");
    }
}
