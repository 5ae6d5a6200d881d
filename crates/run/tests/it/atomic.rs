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

    // A folder cannot be replaced by a file; the temporary file is removed.
    let path = folder.path().join("taken");
    fs::create_dir(&path).unwrap();
    fs::write(path.join("inside"), "").unwrap();
    atomic::write(&path, b"new").unwrap_err();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

    assert!(atomic::write("..".as_ref(), b"new").unwrap_err().to_string().contains("not the name of a file"));
}
