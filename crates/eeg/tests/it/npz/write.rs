//! Written archives, and leftovers of unfinished ones.

use std::fs;
use std::path::Path;

use fedspd_eeg::Error;
use fedspd_eeg::npz::{NpzFile, NpzWriter};
use proptest::prelude::*;

use super::array;
use crate::support::arrays::wave;

fn files(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

fn write_all(path: &Path) -> Result<(), Error> {
    let mut writer = NpzWriter::create(path)?;
    writer.floats("covariances", &[2, 3], &wave(6))?;
    writer.floats("single", &[], &[1.5])?;
    writer.integers("labels", &[3], &[i64::MIN, 0, i64::MAX])?;
    writer.strings("channels", &[2, 2], &["C3", "µV", "", "🙂 hand"])?;
    writer.strings("nothing", &[0], &[] as &[&str])?;
    let mut rows = writer.float_rows::<f64>("trials", &[3, 2, 4])?;
    for row in wave(24).chunks(8) {
        rows.push(row)?;
    }
    rows.finish()?;
    let mut rows = writer.float_rows::<f32>("trials32", &[2, 3])?;
    rows.push(&[1.0, 2.0, 3.0])?;
    rows.push(&[4.0, 5.0, f32::NAN])?;
    rows.finish()?;
    writer.finish()
}

/// A killed process leaves its temporary file; the next one replaces it.
#[test]
fn what_a_killed_process_left_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (path, draft) = (folder.path().join("x.npz"), folder.path().join("x.npz.partial"));
    fs::write(&draft, vec![b'?'; 1 << 20]).unwrap();
    write_all(&path).unwrap();
    NpzFile::open(&path).unwrap();
    assert_eq!(files(folder.path()), ["x.npz"]);

    // The file of a running process is left alone.
    let first = NpzWriter::create(&path).unwrap();
    assert!(draft.exists());
    let Err(error) = NpzWriter::create(&path) else { panic!() };
    assert_eq!(error.to_string(), format!("{}: another process is writing it", path.display()));
    assert!(draft.exists());
    drop(first);
    assert_eq!(files(folder.path()), ["x.npz"]);
}

/// A link stays a link. Its target is written, whether it exists or not.
#[cfg(unix)]
#[test]
fn links_are_written_through() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("far")).unwrap();
    symlink("far/real.npz", at("link.npz")).unwrap();
    symlink(at("link.npz"), at("second.npz")).unwrap();
    for _ in 0..2 {
        write_all(&at("second.npz")).unwrap();
        assert!(at("link.npz").is_symlink() && at("second.npz").is_symlink());
        NpzFile::open(at("far/real.npz")).unwrap();
        assert_eq!(files(&at("far")), ["real.npz"]);
    }
    symlink("round.npz", at("round.npz")).unwrap();
    let error = write_all(&at("round.npz")).unwrap_err().to_string();
    assert!(error.ends_with("round.npz: the links form a loop"), "{error}");
    fs::create_dir(at("folder.npz")).unwrap();
    let error = write_all(&at("folder.npz")).unwrap_err().to_string();
    assert!(error.ends_with("folder.npz: the path exists and is not a file"), "{error}");
}

#[test]
fn what_is_written_is_read_with_the_same_bytes_every_time() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first.npz"), folder.path().join("second.npz"));
    write_all(&first).unwrap();
    fs::write(&second, "what was there before").unwrap();
    write_all(&second).unwrap();
    assert_eq!(fs::read(&first).unwrap(), fs::read(&second).unwrap());
    assert_eq!(files(folder.path()).len(), 2);

    let mut file = NpzFile::open(&first).unwrap();
    let names = ["covariances", "single", "labels", "channels", "nothing", "trials", "trials32"];
    assert_eq!(file.names().collect::<Vec<_>>(), names);
    assert_eq!(file.floats("covariances").unwrap(), array(&[2, 3], &wave(6)));
    assert_eq!(file.floats("single").unwrap(), array(&[], &[1.5]));
    assert_eq!(file.integers("labels").unwrap(), array(&[3], &[i64::MIN, 0, i64::MAX]));
    let texts = ["C3", "µV", "", "🙂 hand"].map(ToOwned::to_owned);
    assert_eq!(file.strings("channels").unwrap(), array(&[2, 2], &texts));
    assert_eq!(file.strings("nothing").unwrap(), array(&[0], &[]));
    assert_eq!(file.floats("trials").unwrap(), array(&[3, 2, 4], &wave(24)));
    let trials = file.floats("trials32").unwrap();
    assert_eq!((&trials.shape[..], &trials.values[..5]), (&[2, 3][..], &[1.0, 2.0, 3.0, 4.0, 5.0][..]));
    assert!(trials.values[5].is_nan());
}

#[test]
fn a_writer_refuses_what_could_not_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    let mut writer = NpzWriter::create(&path).unwrap();
    writer.floats("there", &[1], &[1.0]).unwrap();
    let name = "1 to 255 bytes without slashes and control characters";
    let rows: Vec<(Result<(), Error>, String)> = vec![
        (writer.floats("there", &[1], &[1.0]), "two arrays have the same name: `there`".into()),
        (writer.floats("", &[1], &[1.0]), format!("`` cannot be the name of an array: {name}")),
        (writer.floats("a/b", &[1], &[1.0]), format!("`a/b` cannot be the name of an array: {name}")),
        (writer.integers("x", &[2, 2], &[1]), "`x` with shape [2, 2] needs 4 values; 1 were given".into()),
        (
            writer.floats("x", &[usize::MAX, 2], &[]),
            format!("`x` with shape [{}, 2] has more values than can be counted", usize::MAX),
        ),
        (writer.floats("x", &[1; 33], &[1.0]), "`x` has more than 32 dimensions".into()),
        (
            writer.strings("x", &[1], &["a\0"]),
            "value 0 of `x` is a text that ends in a zero, which would be lost".into(),
        ),
        (writer.float_rows::<f64>("x", &[]).map(|_| ()), "`x` is a single value and has no rows".into()),
        (
            writer.float_rows::<f64>("x", &[2, usize::MAX]).map(|_| ()),
            format!("`x` with shape [2, {}] has more values than can be counted", usize::MAX),
        ),
    ];
    for (result, message) in rows {
        assert_eq!(result.unwrap_err().to_string(), format!("{}: {message}", path.display()));
    }
    // None of these had an effect.
    writer.floats("x", &[1], &[1.0]).unwrap();
    writer.finish().unwrap();
    assert_eq!(NpzFile::open(&path).unwrap().names().collect::<Vec<_>>(), ["there", "x"]);
}

#[test]
fn rows_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    let message = |result: Result<(), Error>| {
        let message = result.unwrap_err().to_string();
        message.strip_prefix(&format!("{}: ", path.display())).unwrap().to_owned()
    };
    let mut writer = NpzWriter::create(&path).unwrap();
    let mut rows = writer.float_rows::<f64>("x", &[2, 3]).unwrap();
    assert_eq!(message(rows.push(&[0.0; 4])), "a row of `x` has 3 values; the slice has 4");
    rows.push(&[0.0; 3]).unwrap();
    assert_eq!(message(rows.finish()), "`x` has 2 rows; 1 were given");
    assert_eq!(message(writer.floats("y", &[1], &[1.0])), "array `x` of the archive was not finished");
    assert_eq!(message(writer.finish()), "array `x` of the archive was not finished");
    assert_eq!(files(folder.path()).len(), 0);

    let mut writer = NpzWriter::create(&path).unwrap();
    let mut rows = writer.float_rows::<f32>("x", &[1, 3]).unwrap();
    rows.push(&[0.0; 3]).unwrap();
    assert_eq!(message(rows.push(&[0.0; 3])), "`x` has 1 rows; 2 were given");
    rows.finish().unwrap();
    writer.finish().unwrap();
    assert_eq!(NpzFile::open(&path).unwrap().floats("x").unwrap(), array(&[1, 3], &[0.0; 3]));
}

#[test]
fn an_unfinished_archive_leaves_nothing_and_touches_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    fs::write(&path, "before").unwrap();
    let mut writer = NpzWriter::create(&path).unwrap();
    writer.floats("x", &[1000], &[0.5; 1000]).unwrap();
    assert_eq!(files(folder.path()).len(), 2);
    let mut rows = writer.float_rows::<f64>("rows", &[2, 3]).unwrap();
    rows.push(&[0.0; 3]).unwrap();
    drop(rows);
    drop(writer);
    assert_eq!(files(folder.path()), ["x.npz"]);
    assert_eq!(fs::read(&path).unwrap(), b"before");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn arrays_come_back_bit_for_bit(
        values in prop::collection::vec(any::<f64>(), 0..900),
        integers in prop::collection::vec(any::<i64>(), 0..50),
        texts in prop::collection::vec("[^\0]{0,12}", 0..20),
        name in "[a-zA-Z0-9_ µ.-]{1,20}",
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npz");
        let mut writer = NpzWriter::create(&path).unwrap();
        writer.floats(&name, &[values.len()], &values).unwrap();
        writer.integers("i:", &[integers.len()], &integers).unwrap();
        writer.strings("s:", &[texts.len()], &texts).unwrap();
        let mut rows = writer.float_rows("r:", &[values.len() / 7, 7]).unwrap();
        for row in values.chunks_exact(7) {
            rows.push(row).unwrap();
        }
        rows.finish().unwrap();
        writer.finish().unwrap();
        let mut file = NpzFile::open(&path).unwrap();
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&file.floats(&name).unwrap().values), bits(&values));
        prop_assert_eq!(file.integers("i:").unwrap().values, integers);
        prop_assert_eq!(file.strings("s:").unwrap().values, texts);
        let rows = file.floats("r:").unwrap().values;
        prop_assert_eq!(bits(&rows), bits(&values[..rows.len()]));
        prop_assert_eq!(rows.len(), values.len() / 7 * 7);
    }
}
