//! The page on run folders describes every file and key.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::page;

#[test]
fn everything_in_a_run_folder_is_described() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let output = std::process::Command::new(assert_cmd::cargo::cargo_bin!("fedspd"))
        .args(["run", "sample", "--set", "federated.rounds=2", "--set", "split.held_out_subjects=10"])
        .args(["--set", "federated.subjects_per_client=3", "--quiet", "--out"])
        .arg(&run)
        .output();
    assert!(output.unwrap().status.success());
    let mut names = BTreeSet::new();
    files(&run, &run, &mut names);
    for name in ["manifest.json", "shards.json"] {
        let value = serde_json::from_slice(&fs::read(run.join(name)).unwrap()).unwrap();
        keys(&value, &mut names);
    }
    for line in fs::read_to_string(run.join("events.jsonl")).unwrap().lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        names.insert(event["event"].as_str().unwrap().to_owned());
        keys(&event, &mut names);
    }
    let table = fedspd_run::ResultTable::read(&run.join("results.csv")).unwrap();
    for row in &table.rows {
        names.insert(row.split.clone());
        // The page describes final scores only if rounds do not have them too.
        let (metric, detail) = row.metric.split_once(':').unwrap_or((&row.metric, ""));
        let plain = metric.strip_prefix("final_").unwrap_or(metric);
        let ours = detail.is_empty() && ["macro_f1", "accuracy", "kappa", "loss"].contains(&plain);
        names.insert(if ours { plain.to_owned() } else { metric.to_owned() });
    }
    names.extend(fedspd_run::COLUMNS.map(str::to_owned));
    let text = page("run-folder.md");
    for name in names {
        let said = ["`", ":", "/"].iter().any(|end| text.contains(&format!("`{name}{end}")));
        assert!(said, "`{name}` is not described in docs/src/run-folder.md");
    }
}

/// Collects the paths below a folder, with N for a seed.
fn files(root: &Path, folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(root, &path, names);
        } else {
            let name = path.strip_prefix(root).unwrap().display().to_string();
            names.insert(name.replace("seed-0", "seed-N"));
        }
    }
}

/// Collects the keys of a value and of all nested values. A preparation is one entry: it holds names
/// of channels and parts of a dataset definition, which has a page of its own.
fn keys(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                names.insert(key.clone());
                if key != "preparation" {
                    keys(value, names);
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| keys(value, names)),
        _ => {}
    }
}
