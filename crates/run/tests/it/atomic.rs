//! Atomic file writes.

use std::fs;

use fedspd_run::atomic;

#[test]
fn a_file_is_replaced_and_nothing_is_left_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.csv");
    // Leftovers of a killed run.
    fs::write(
        folder.path().join(".results.csv.partial"),
        "half of something much longer than the new content",
    )
    .unwrap();
    for content in ["first", "second"] {
        atomic::write(&path, content.as_bytes()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

#[test]
fn a_refusal_names_the_file_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing").join("results.csv");
    let error = atomic::write(&path, b"new").unwrap_err();
    assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
    assert!(error.hint().is_none());
    for (code, hint) in [(28, "make room"), (30, "choose a folder"), (13, "choose a folder")] {
        let source = std::io::Error::from_raw_os_error(code);
        let error = fedspd_run::Error::File { path: path.clone(), source };
        assert!(error.hint().unwrap().contains(hint), "{error}");
    }

    // A folder cannot be replaced by a file; the temporary file is removed.
    let path = folder.path().join("taken");
    fs::create_dir(&path).unwrap();
    fs::write(path.join("inside"), "").unwrap();
    atomic::write(&path, b"new").unwrap_err();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

    assert!(atomic::write("..".as_ref(), b"new").unwrap_err().to_string().contains("not the name of a file"));
}

#[test]
fn missing_parents_are_created() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a").join("b");
    for _ in 0..2 {
        atomic::create_folder(&path).unwrap();
        assert!(path.is_dir());
    }
    fs::write(path.join("file"), "").unwrap();
    let error = atomic::create_folder(&path.join("file").join("below")).unwrap_err();
    assert!(error.to_string().contains("Not a directory"), "{error}");
    // This file system takes no folder, although its root is there.
    if cfg!(target_os = "linux") {
        let error = atomic::create_folder("/proc/fedspd".as_ref()).unwrap_err();
        assert!(error.to_string().contains("No such file or directory"), "{error}");
    }
}
