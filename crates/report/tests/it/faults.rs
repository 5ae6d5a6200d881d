//! Errors name the damaged file.

use std::fs;
use std::path::Path;

use fedspd_report::Report;
use tempfile::tempdir;

use crate::support::Plan;

fn fault(path: &Path) -> (String, String) {
    let error = Report::new(&[path], false).unwrap_err();
    (error.to_string(), error.hint().unwrap_or_default())
}

#[test]
fn a_folder_that_is_no_run_is_refused() {
    let root = tempdir().unwrap();
    let (message, hint) = fault(root.path());
    assert!(
        message.ends_with("not a run folder, it has no manifest.json") && hint.contains("fedspd run"),
        "{message}"
    );
    let (message, _) = fault(&root.path().join("nowhere"));
    assert!(message.ends_with("there is no such folder"), "{message}");
    let nothing: [&Path; 0] = [];
    assert_eq!(Report::new(&nothing, false).unwrap_err().to_string(), "a report needs a run folder");
}

#[test]
fn damaged_files_are_named_with_their_fault() {
    for (file, text, expected) in [
        ("events.jsonl", "{\"event\":\"round\"}\n", "events.jsonl: line 1 is not an event"),
        ("results.csv", "a,b\n1,2\n", "results.csv: line 1: the columns are `a,b`"),
        ("shards.json", "{", "shards.json: EOF while parsing"),
        ("shards.json", "{\"classes\":[],\"seeds\":[]}", "shards.json: 0 seeds where the manifest has 3"),
        ("config.toml", "mode = ", "config.toml: TOML parse error at line 1"),
        ("interpretation/seed-0.json", "{\"inputs\":[]}", "seed-0.json: missing field `plane`"),
        (
            "interpretation/seed-0.json",
            "{\"inputs\":[],\"plane\":{\"explained\":[0.5,0.5],\"points\":[[0,0]],\"classes\":[7]}}",
            "seed-0.json: 8 classes where the manifest has 4",
        ),
        (
            "interpretation/seed-0.json",
            "{\"inputs\":[],\"plane\":{\"explained\":[0.5,0.5],\"points\":[[0,0]],\"classes\":[18446744073709551615]}}",
            "seed-0.json: 18446744073709551615 classes where the manifest has 4",
        ),
        (
            "interpretation/seed-0.json",
            "{\"inputs\":[{\"name\":\"\",\"columns\":[{\"weight\":1,\"channels\":[1,2]}],\"classes\":[],\"spectrum\":{\"low\":[],\"median\":[],\"high\":[]},\
             \"mapped\":{\"low\":[],\"median\":[],\"high\":[]},\"epsilon\":0.01,\"clamped\":0}],\"plane\":{\"explained\":[0.5,0.5],\"points\":[],\"classes\":[]}}",
            "seed-0.json: 2 channels of a pattern where the manifest has 20",
        ),
    ] {
        let root = tempdir().unwrap();
        let run = Plan::default().write(root.path(), "run");
        fs::write(run.join(file), text).unwrap();
        let (message, hint) = fault(&run);
        assert!(message.contains(expected), "{message}");
        assert!(hint.contains("changed or damaged"), "{hint}");
    }
}

/// Sums of such counts would overflow.
#[test]
fn impossible_counts_are_refused() {
    let expected = "integer `18446744073709551615`, expected a count below 2^40";
    for (file, key) in [("shards.json", "\"test\": ["), ("events.jsonl", "\"bytes_up\":")] {
        let root = tempdir().unwrap();
        let run = Plan::default().write(root.path(), "run");
        let text = fs::read_to_string(run.join(file)).unwrap();
        let start = text.find(key).unwrap() + key.len();
        let start = start + text[start..].find(|letter: char| letter.is_ascii_digit()).unwrap();
        let end = start + text[start..].find(|letter: char| !letter.is_ascii_digit()).unwrap();
        fs::write(run.join(file), format!("{}{}{}", &text[..start], u64::MAX, &text[end..])).unwrap();
        let (message, hint) = fault(&run);
        assert!(message.contains(file) && message.contains(expected), "{message}");
        assert!(hint.contains("changed or damaged"), "{hint}");
    }
}

#[test]
fn a_run_that_has_no_seed_yet_can_be_gone_on_with() {
    let root = tempdir().unwrap();
    let run = Plan::default().write(root.path(), "run");
    fs::remove_file(run.join("results.csv")).unwrap();
    let (message, hint) = fault(&run);
    assert!(message.ends_with("no seed is done yet") && hint.contains("fedspd resume"), "{message}, {hint}");
}
