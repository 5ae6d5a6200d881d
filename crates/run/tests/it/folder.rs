//! Where the files of a run are, and what is refused as one.

use std::fs;

use fedspd_run::{Error, RunFolder};

#[test]
fn every_file_has_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("runs").join("sample-7f3a");
    let run = RunFolder::create(&root).unwrap();
    let places = [
        (run.config(), "config.toml"),
        (run.manifest(), "manifest.json"),
        (run.events(), "events.jsonl"),
        (run.results(), "results.csv"),
        (run.shards(), "shards.json"),
        (run.checkpoint(3), "checkpoints/seed-3.ckpt"),
        (run.model(12), "models/seed-12.safetensors"),
        (run.log(), "log.txt"),
    ];
    for (path, name) in places {
        assert_eq!(path, root.join(name));
        // The folders are there.
        fs::write(path, "").unwrap();
    }
    assert_eq!(run.root(), root);
    assert!(run.is_run());
    assert_eq!(RunFolder::open(&root).unwrap(), run);
    assert_eq!(RunFolder::create(&root).unwrap(), run);
}

#[test]
fn what_is_no_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_owned();

    let error = RunFolder::open(root.join("gone")).unwrap_err();
    assert!(matches!(error, Error::NoFolder { .. }), "{error}");
    let error = RunFolder::open(&root).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("{}: not the folder of a run, there is no manifest.json in it", root.display())
    );
    assert!(error.hint().unwrap().contains("fedspd run"));

    fs::write(root.join("thesis.tex"), "").unwrap();
    let error = RunFolder::create(&root).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("{}: not empty and not a run, `thesis.tex` is in it", root.display())
    );
    assert!(error.hint().unwrap().contains("--out"));
    assert!(!root.join("models").exists());
}

/// A run that is killed before its manifest is written can begin again in the same folder.
#[test]
fn what_a_killed_beginning_leaves_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    RunFolder::create(folder.path()).unwrap();
    fs::write(folder.path().join(".manifest.json.partial"), "{").unwrap();
    RunFolder::create(folder.path()).unwrap();
    // Somebody's models are not a beginning.
    fs::write(folder.path().join("models").join("mine"), "").unwrap();
    assert!(matches!(RunFolder::create(folder.path()), Err(Error::Occupied { .. })));
}
