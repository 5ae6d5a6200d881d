//! Paths in a run folder, and folders that are refused.

use std::fs;

use fedspd_run::{Error, RunFolder, Stage, Unit};

#[test]
fn every_file_has_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("runs").join("sample-7f3a");
    let (run, _) = RunFolder::create(&root, nothing).unwrap();
    let places = [
        (run.config(), "config.toml"),
        (run.manifest(), "manifest.json"),
        (run.events(), "events.jsonl"),
        (run.results(), "results.csv"),
        (run.summary(), "summary.json"),
        (run.shards(), "shards.json"),
        (run.checkpoint(3), "checkpoints/seed-3.ckpt"),
        (run.model(12), "models/seed-12.safetensors"),
    ];
    for (path, name) in places {
        assert_eq!(path, root.join(name));
        // The folders are there.
        fs::write(path, "").unwrap();
    }
    assert_eq!(run.root(), root);
    assert!(run.is_run());
    assert_eq!(RunFolder::open(&root).unwrap(), run);
    assert!(matches!(RunFolder::create(&root, nothing), Err(Error::Occupied { .. })));
}

#[test]
fn what_is_no_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_owned();

    let error = RunFolder::open(root.join("gone")).unwrap_err();
    assert!(matches!(error, Error::NoFolder { .. }), "{error}");
    let error = RunFolder::open(&root).unwrap_err();
    assert_eq!(error.to_string(), format!("{}: not a run folder, it has no manifest.json", root.display()));
    assert!(error.hint().unwrap().contains("fedspd run"));

    fs::write(root.join("thesis.tex"), "").unwrap();
    let error = RunFolder::create(&root, nothing).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("{}: not empty and not a run, it contains `thesis.tex`", root.display())
    );
    assert!(error.hint().unwrap().contains("--out"));
    assert!(!root.join("models").exists());
}

/// A run that is killed or fails during setup leaves the name free, and nothing that disturbs the
/// next one.
#[test]
fn a_beginning_that_fails_leaves_the_name_free() {
    let folder = tempfile::tempdir().unwrap();
    let (root, beside) = (folder.path().join("run"), folder.path().join(".run.partial"));
    let failed = RunFolder::create(&root, |run| {
        assert_eq!(run.root(), beside);
        fs::write(run.config(), "half").unwrap();
        Err(Error::NoFolder { path: "away".into() })
    });
    assert!(failed.is_err() && !root.exists() && !beside.exists());
    // The state after a kill.
    fs::create_dir_all(beside.join("models")).unwrap();
    fs::write(beside.join("models/old"), "").unwrap();
    fs::create_dir(&root).unwrap();
    let (run, _lock) = RunFolder::create(&root, |run| {
        fs::write(run.manifest(), "{}").unwrap();
        Ok::<(), Error>(())
    })
    .unwrap();
    assert!(run.is_run() && !beside.exists() && !root.join("models/old").exists());
}

/// One process at a time, from the start. The error names it, and nothing stays locked when it
/// ends.
#[test]
fn a_folder_has_one_writer() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("run");
    let (run, lock) = RunFolder::create(&root, |_| {
        // Another process that begins the same run during setup is refused and changes nothing.
        let other = RunFolder::create(&root, nothing).unwrap_err();
        assert!(matches!(other, Error::InUse { .. }), "{other}");
        assert!(folder.path().join(".run.partial/models").is_dir());
        Ok::<(), Error>(())
    })
    .unwrap();
    let error = run.lock().unwrap_err();
    let here = format!("{}: in use by process {}", root.display(), std::process::id());
    assert!(error.to_string().starts_with(&here), "{error}");
    assert!(error.hint().unwrap().contains("fedspd resume"));
    drop(lock);
    let again = run.lock().unwrap();
    assert!(run.lock().is_err());
    drop(again);
    run.lock().unwrap();
}

/// A process that resumes a run removes the temporary files of a killed one, and nothing else.
#[test]
fn a_reopened_folder_has_no_temporary_files() {
    let folder = tempfile::tempdir().unwrap();
    let (run, lock) = RunFolder::create(folder.path().join("run"), nothing).unwrap();
    let leftovers = [".results.csv.partial", "checkpoints/.seed-0.ckpt.partial", "models/.a.partial"];
    let others = ["notes.partial", ".hidden", "report/.mine.partial"];
    fs::create_dir(run.report()).unwrap();
    for name in leftovers.iter().chain(&others) {
        fs::write(run.root().join(name), "").unwrap();
    }
    // Another process may be writing them.
    assert!(matches!(run.reopen().unwrap_err(), Error::InUse { .. }));
    assert!(leftovers.iter().all(|name| run.root().join(name).exists()));
    drop(lock);
    let _lock = run.reopen().unwrap();
    assert!(leftovers.iter().all(|name| !run.root().join(name).exists()));
    assert!(others.iter().all(|name| run.root().join(name).exists()));
}

#[allow(clippy::unnecessary_wraps)] // as a folder is filled
fn nothing(_: &RunFolder) -> Result<(), Error> {
    Ok(())
}

/// Each fold has files of its own. The stages of a fold share its model.
#[test]
fn every_unit_has_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("run");
    let (run, _) = RunFolder::create(&root, nothing).unwrap();
    let fold = Unit { seed: 3, fold: Some(1), stage: None };
    let choose = Unit { stage: Some(Stage::Choose), ..fold };
    for (path, name) in [
        (run.checkpoint(fold), "checkpoints/seed-3-fold-1.ckpt"),
        (run.checkpoint(choose), "checkpoints/seed-3-fold-1-choose.ckpt"),
        (run.model(fold), "models/seed-3-fold-1.safetensors"),
        (run.model(choose), "models/seed-3-fold-1.safetensors"),
        (run.interpretation(fold), "interpretation/seed-3-fold-1.json"),
    ] {
        assert_eq!(path, root.join(name));
    }
    assert_eq!(choose.to_string(), "seed 3, fold 1, stage choose");
}
