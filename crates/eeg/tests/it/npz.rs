//! Archives of NumPy arrays.

use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

use fedspd_eeg::Error;
use fedspd_eeg::npz::{NpyArray, NpzFault, NpzFile, NpzWriter};
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use proptest::prelude::*;

use crate::support::arrays::{damaged, golden, wave};

fn array<T: Clone>(shape: &[usize], values: &[T]) -> NpyArray<T> {
    NpyArray { shape: shape.to_vec(), values: values.to_vec() }
}

fn open(bytes: &[u8]) -> Result<NpzFile<Cursor<&[u8]>>, Error> {
    NpzFile::new(Cursor::new(bytes), "x.npz")
}

/// Reads all arrays of a file, each as what it is, and by rows what has rows.
fn walk(bytes: &[u8]) -> Result<usize, Error> {
    let mut file = open(bytes)?;
    let names: Vec<String> = file.names().map(ToOwned::to_owned).collect();
    let other_kind =
        |error: &Error| matches!(error, Error::Npz { fault, .. } if matches!(**fault, NpzFault::Kind { .. }));
    let mut count = 0;
    for name in &names {
        count += match file.floats(name) {
            Ok(array) => array.values.len(),
            Err(error) if other_kind(&error) => match file.integers(name) {
                Ok(array) => array.values.len(),
                Err(error) if other_kind(&error) => file.strings(name)?.values.len(),
                Err(error) => return Err(error),
            },
            Err(error) => return Err(error),
        };
        if let Ok(mut rows) = file.float_rows(name) {
            let mut row = vec![0.0; rows.row_len()];
            while rows.read_row(&mut row)? {}
        }
    }
    Ok(count)
}

#[test]
fn every_type_and_order_that_numpy_writes_is_read() {
    for name in ["types.npz", "types_compressed.npz"] {
        let mut file = NpzFile::open(golden(name)).unwrap();
        assert_eq!(file.names().count(), 32, "{name}");
        for order in ["<", ">"] {
            for kind in ["f4", "f8"] {
                assert_eq!(file.floats(&format!("{order}{kind}")).unwrap(), array(&[2, 3, 4], &wave(24)));
            }
            for (kind, least, most) in [
                ("i2", i16::MIN.into(), i16::MAX.into()),
                ("i4", i32::MIN.into(), i32::MAX.into()),
                ("i8", i64::MIN, i64::MAX),
            ] {
                let name = format!("{order}{kind}");
                assert_eq!(file.integers(&name).unwrap(), array(&[5], &[least, -1, 0, 1, most]));
                let floats = [least as f64, -1.0, 0.0, 1.0, most as f64];
                assert_eq!(file.floats(&name).unwrap(), array(&[5], &floats));
            }
            for (kind, most) in [("u2", u16::MAX.into()), ("u4", i64::from(u32::MAX))] {
                let expected = array(&[5], &[0, 1, 2, most - 1, most]);
                assert_eq!(file.integers(&format!("{order}{kind}")).unwrap(), expected);
            }
            let expected = array(&[5], &[0, 1, 2, 1 << 53, i64::MAX]);
            assert_eq!(file.integers(&format!("{order}u8")).unwrap(), expected);
            let texts = ["C3", "µV", "", "Fp1", "手", "🙂 a"].map(ToOwned::to_owned);
            assert_eq!(file.strings(&format!("{order}U")).unwrap(), array(&[2, 3], &texts));
        }
        assert_eq!(file.integers("|i1").unwrap(), array(&[5], &[-128, -1, 0, 1, 127]));
        assert_eq!(file.integers("|u1").unwrap(), array(&[5], &[0, 1, 2, 254, 255]));
        assert_eq!(file.floats("|u1").unwrap(), array(&[5], &[0.0, 1.0, 2.0, 254.0, 255.0]));
        assert_eq!(file.integers("|b1").unwrap(), array(&[2, 2], &[1, 0, 0, 1]));
        let texts = ["left", "", "feet", "µ"].map(ToOwned::to_owned);
        assert_eq!(file.strings("|S").unwrap(), array(&[4], &texts));
        let special = file.floats("special").unwrap().values;
        assert!(special[0].is_nan());
        assert_eq!(special[1..3], [f64::INFINITY, f64::NEG_INFINITY]);
        assert_eq!(special[3].to_bits(), (-0.0_f64).to_bits());
        assert_eq!(special[4], 5e-324);
        assert_eq!(file.floats("fortran").unwrap(), array(&[2, 3, 4], &wave(24)));
        assert_eq!(file.floats("fortran_big").unwrap(), array(&[3, 2], &wave(6)));
        let texts = ["a", "b", "c", "d", "e", "f"].map(ToOwned::to_owned);
        assert_eq!(file.strings("fortran_text").unwrap(), array(&[2, 3], &texts));
        assert_eq!(file.integers("fortran_integers").unwrap(), array(&[2, 3], &[0, 1, 2, 3, 4, 5]));
        assert_eq!(file.floats("single").unwrap(), array(&[], &[2.5]));
        assert_eq!(file.floats("empty").unwrap(), array(&[0, 3], &[]));
        assert_eq!(file.floats("no_columns").unwrap(), array(&[3, 0], &[]));
        assert_eq!(file.floats("one").unwrap(), array(&[7], &wave(7)));
    }
}

#[test]
fn every_version_of_the_header_is_read() {
    let mut file = NpzFile::open(golden("versions.npz")).unwrap();
    assert_eq!(file.names().collect::<Vec<_>>(), ["v1", "v2", "v3"]);
    for name in ["v1", "v2", "v3"] {
        assert_eq!(file.floats(name).unwrap(), array(&[2, 3], &wave(6)));
    }
}

#[test]
fn rows_are_read_one_by_one() {
    for name in ["types.npz", "types_compressed.npz"] {
        let mut file = NpzFile::open(golden(name)).unwrap();
        for name in ["<f4", ">f8"] {
            let mut rows = file.float_rows(name).unwrap();
            assert_eq!((rows.shape(), rows.row_len(), rows.left()), (&[2, 3, 4][..], 12, 2));
            let mut row = [0.0; 12];
            for expected in wave(24).chunks(12) {
                assert!(rows.read_row(&mut row).unwrap());
                assert_eq!(row, expected);
            }
            assert!(!rows.read_row(&mut row).unwrap());
            assert!(!rows.read_row(&mut row).unwrap());
        }
        let mut rows = file.float_rows("empty").unwrap();
        assert!(!rows.read_row(&mut [0.0; 3]).unwrap());
        drop(rows);
        let mut rows = file.float_rows("no_columns").unwrap();
        assert_eq!((0..5).take_while(|_| rows.read_row(&mut []).unwrap()).count(), 3);
    }
}

#[test]
fn what_is_asked_for_and_what_is_there_must_agree() {
    let mut file = open(include_bytes!("../../../../golden/arrays/types.npz")).unwrap();
    let mut refused = open(include_bytes!("../../../../golden/arrays/refused.npz")).unwrap();
    let rows: Vec<(Option<Error>, &str)> = vec![
        (file.floats("<U").err(), "`<U` is of type '<U4' where numbers are needed"),
        (file.floats("|b1").err(), "`|b1` is of type '|b1' where numbers are needed"),
        (file.integers(">f4").err(), "`>f4` is of type '>f4' where integers are needed"),
        (file.strings("one").err(), "`one` is of type '<f8' where texts are needed"),
        (file.float_rows("|S").err(), "`|S` is of type '|S6' where numbers are needed"),
        (file.integers("beyond").err(), "value 0 of `beyond` is beyond the largest signed integer"),
        (file.float_rows("single").err(), "`single` is a single value and has no rows"),
        (
            file.float_rows("fortran").err(),
            "`fortran` is in Fortran order: its rows are spread over the file and cannot be read one by one",
        ),
        (
            file.float_rows("one").and_then(|mut rows| rows.read_row(&mut [0.0; 3])).err(),
            "a row of `one` has 1 values; the slice has 3",
        ),
        (
            file.floats("labels").err(),
            "there is no array `labels`, only `<f4`, `<f8`, `<i2`, `<i4`, `<i8`, `<u2`, `<u4`, `<u8` and 24 more",
        ),
        (refused.floats("objects").err(), "`objects` holds pickled Python objects, which are never read"),
        (refused.floats("records").err(), "`records` holds records with fields, not plain values"),
        (refused.floats("half").err(), "`half` is of type '<f2', which is not read"),
        (refused.floats("complex").err(), "`complex` is of type '<c16', which is not read"),
        (refused.floats("date").err(), "`date` is of type '<M8[s]', which is not read"),
    ];
    for (error, message) in rows {
        assert_eq!(error.unwrap().to_string(), format!("x.npz: {message}"));
    }
    let hint = refused.floats("objects").unwrap_err().hint().unwrap();
    let expected =
        "in Python, save arrays of numbers or text with `allow_pickle=False`, which says which one is not";
    assert_eq!(hint, expected);
}

/// Archives that a zip writer would not write.
mod raw {
    use super::{Compression, Crc, DeflateEncoder, Write};

    #[derive(Clone)]
    pub(super) struct Entry {
        pub(super) name: &'static str,
        pub(super) flags: u16,
        pub(super) method: u16,
        pub(super) checksum: u32,
        pub(super) compressed: u32,
        pub(super) size: u32,
        pub(super) content: Vec<u8>,
    }

    pub(super) fn stored(name: &'static str, content: &[u8]) -> Entry {
        let mut crc = Crc::new();
        crc.update(content);
        let size = content.len() as u32;
        Entry {
            name,
            flags: 0,
            method: 0,
            checksum: crc.sum(),
            compressed: size,
            size,
            content: content.to_vec(),
        }
    }

    pub(super) fn deflated(name: &'static str, content: &[u8]) -> Entry {
        let plain = stored(name, content);
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(content).unwrap();
        let content = encoder.finish().unwrap();
        Entry { method: 8, compressed: content.len() as u32, content, ..plain }
    }

    /// What the local header and the list of entries have in common.
    fn shared(entry: &Entry) -> Vec<u8> {
        let mut bytes = Vec::new();
        for field in [20, entry.flags, entry.method, 0, 0x21] {
            bytes.extend(field.to_le_bytes());
        }
        for field in [entry.checksum, entry.compressed, entry.size] {
            bytes.extend(field.to_le_bytes());
        }
        bytes.extend((entry.name.len() as u16).to_le_bytes());
        bytes.extend([0, 0]);
        bytes
    }

    pub(super) fn archive(entries: &[Entry]) -> Vec<u8> {
        let (mut bytes, mut list) = (Vec::new(), Vec::new());
        for entry in entries {
            list.extend(b"PK\x01\x02\x14\x00");
            list.extend(shared(entry));
            list.extend([0; 10]);
            list.extend((bytes.len() as u32).to_le_bytes());
            list.extend(entry.name.as_bytes());
            bytes.extend(b"PK\x03\x04");
            bytes.extend(shared(entry));
            bytes.extend(entry.name.as_bytes());
            bytes.extend(&entry.content);
        }
        let place = bytes.len() as u32;
        bytes.extend(&list);
        bytes.extend(b"PK\x05\x06\0\0\0\0");
        bytes.extend((entries.len() as u16).to_le_bytes());
        bytes.extend((entries.len() as u16).to_le_bytes());
        bytes.extend((list.len() as u32).to_le_bytes());
        bytes.extend(place.to_le_bytes());
        bytes.extend([0, 0]);
        bytes
    }

    /// An array in version 1.0 of the format, with any header.
    pub(super) fn npy(header: &str, values: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(values);
        bytes
    }

    /// The header that NumPy writes, but for the padding.
    pub(super) fn header(descr: &str, shape: &str) -> String {
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}")
    }
}

use raw::{Entry, archive, deflated, header, npy, stored};

#[test]
#[allow(clippy::too_many_lines)] // a table
fn every_bad_archive_has_its_message() {
    let plain = npy(&header("<f8", "(2,)"), &[0; 16]);
    let good = archive(&[stored("x.npy", &plain)]);
    let end = good.len() - 22;
    let with = |place: usize, bytes: &[u8]| {
        let mut file = good.clone();
        file[place..place + bytes.len()].copy_from_slice(bytes);
        file
    };
    let entry = stored("x.npy", &plain);
    let packed = deflated("x.npy", &plain);
    let half = packed.content.len() / 2;
    let cut = Entry { content: packed.content[..half].to_vec(), compressed: half as u32, ..packed.clone() };
    let list = end - good[..end].windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    let place = end - list;
    let moved = format!(
        "damaged: 1 entries in {list} bytes at byte {place} are declared, but the list ends at byte {}",
        end + 1
    );
    let many = format!(
        "damaged: 2 entries in {list} bytes at byte {place} are declared, but the list ends at byte {end}"
    );
    let rows: Vec<(&str, Vec<u8>, &str)> = vec![
        ("nothing", vec![], "the file is empty"),
        ("text", b"subject,label\n".repeat(20), "not an archive of NumPy arrays (.npz)"),
        ("one byte", b"P".to_vec(), "not an archive of NumPy arrays (.npz)"),
        ("an array", plain.clone(), "a single array (.npy), not an archive of arrays (.npz)"),
        (
            "cut off in the array",
            good[..60].to_vec(),
            "cut off: it begins as an archive, but does not end as one",
        ),
        (
            "cut off in the end",
            good[..end + 9].to_vec(),
            "cut off: it begins as an archive, but does not end as one",
        ),
        (
            "cut off by one",
            good[..end + 21].to_vec(),
            "cut off: it begins as an archive, but does not end as one",
        ),
        (
            "something behind",
            [&good[..], b"x"].concat(),
            "cut off: it begins as an archive, but does not end as one",
        ),
        ("something before", [b"x", &good[..]].concat(), &moved),
        ("more entries than there can be", with(end + 8, &[2, 0, 2, 0]), &many),
        ("list damaged", with(place, b"XX"), "the list of its entries is damaged (no CDFH found)"),
        (
            "two volumes",
            with(end + 4, &[1]),
            "the list of its entries is damaged (multi-disk ZIP files are not supported)",
        ),
        ("local header damaged", with(0, b"XX"), "`x` is damaged (invalid local file header)"),
        ("the same name twice", archive(&[entry.clone(), entry.clone()]), "two arrays have the same name"),
        (
            "a name that is not text",
            with(end - 5, &[0xff]),
            "the list of its entries is damaged (a name that is not UTF-8)",
        ),
        ("encrypted", archive(&[Entry { flags: 1, ..entry.clone() }]), "`x` is encrypted"),
        (
            "bzip2",
            archive(&[Entry { method: 12, ..entry.clone() }]),
            "`x` is compressed by method Bzip2; only stored and deflated arrays are read",
        ),
        (
            "larger than the file",
            archive(&[Entry { compressed: 1 << 30, size: 1 << 30, ..entry.clone() }]),
            "`x` declares 1073741824 bytes in a file of 191",
        ),
        (
            "two sizes",
            archive(&[Entry { size: 1 << 30, ..entry.clone() }]),
            "`x` is stored in 83 bytes, but declares 1073741824",
        ),
        (
            "shorter than declared",
            archive(&[Entry { size: 80, compressed: 80, ..entry.clone() }]),
            "`x` of type '<f8' with shape [2] needs 16 bytes and has 13",
        ),
        ("checksum", with(110, &[1]), "`x` is damaged (invalid checksum)"),
        (
            "not deflated",
            archive(&[Entry { content: vec![0xff; 40], compressed: 40, ..packed.clone() }]),
            "`x` is damaged (corrupt deflate stream)",
        ),
        ("stream cut off", archive(&[cut]), "`x` is damaged (it ends early)"),
        (
            "stream longer than declared",
            archive(&[Entry { size: 70, ..packed.clone() }]),
            "`x` of type '<f8' with shape [2] needs 16 bytes and has 3",
        ),
    ];
    for (what, bytes, message) in rows {
        let error = walk(&bytes).expect_err(what).to_string();
        assert_eq!(error, format!("x.npz: {message}"), "{what}");
    }
}

#[test]
#[allow(clippy::too_many_lines)] // a table
fn every_bad_array_has_its_message() {
    let f8 = |shape: &str| npy(&header("<f8", shape), &[0; 16]);
    let long = "x".repeat(10_001);
    let many = format!("({})", "1, ".repeat(33));
    let mut cut = f8("(2,)");
    cut.truncate(40);
    let mut version = f8("(2,)");
    version[6] = 4;
    let rows: Vec<(&str, Vec<u8>, &str)> = vec![
        ("nothing", vec![], "`x` does not begin as a NumPy array does"),
        ("text", b"1.0,2.0,3.0,4.0".to_vec(), "`x` does not begin as a NumPy array does"),
        ("header cut off", cut, "`x` does not begin as a NumPy array does"),
        ("version", version, "`x` is in version 4.0 of the .npy format; 1.0, 2.0 and 3.0 are known"),
        ("long header", npy(&long, &[]), "`x` has a header of 10001 bytes; at most 10000 are read"),
        (
            "empty header",
            npy("", &[]),
            "the header of `x` is not one of NumPy's: a dictionary expected at character 0",
        ),
        (
            "list",
            npy("[1, 2]", &[]),
            "the header of `x` is not one of NumPy's: a dictionary expected at character 0",
        ),
        (
            "call",
            npy("{'descr': open('/etc')}", &[]),
            "the header of `x` is not one of NumPy's: the type of the values expected at character 10",
        ),
        (
            "nesting",
            npy(&"{".repeat(5000), &[]),
            "the header of `x` is not one of NumPy's: a key expected at character 1",
        ),
        ("empty dictionary", npy("{}", &[]), "the header of `x` has no 'descr'"),
        (
            "no shape",
            npy("{'descr': '<f8', 'fortran_order': False}", &[]),
            "the header of `x` has no 'shape'",
        ),
        ("no order", npy("{'descr': '<f8', 'shape': (2,)}", &[]), "the header of `x` has no 'fortran_order'"),
        (
            "a key twice",
            npy("{'shape': (2,), 'shape': (3,)}", &[]),
            "the header of `x` has the key 'shape' twice",
        ),
        (
            "another key",
            npy("{'descr': '<f8', 'order': 'C'}", &[]),
            "the header of `x` has the key 'order' which is not one of NumPy's",
        ),
        (
            "no comma",
            npy("{'descr': '<f8' 'shape': (2,)}", &[]),
            "the header of `x` is not one of NumPy's: `,` or `}` expected at character 16",
        ),
        (
            "no colon",
            npy("{'descr' '<f8'}", &[]),
            "the header of `x` is not one of NumPy's: `:` expected at character 9",
        ),
        (
            "something behind",
            npy(&(header("<f8", "(2,)") + "x"), &[]),
            "the header of `x` is not one of NumPy's: the end expected at character 57",
        ),
        (
            "string without end",
            npy("{'descr", &[]),
            "the header of `x` is not one of NumPy's: a key expected at character 1",
        ),
        (
            "string with escapes",
            npy("{'descr': '\\x3cf8'}", &[]),
            "the header of `x` is not one of NumPy's: the type of the values expected at character 10",
        ),
        (
            "order that is no boolean",
            npy("{'fortran_order': 0}", &[]),
            "the header of `x` is not one of NumPy's: `True` or `False` expected at character 18",
        ),
        (
            "shape that is no tuple",
            npy("{'shape': (3)}", &[]),
            "the header of `x` is not one of NumPy's: `,` expected at character 12",
        ),
        (
            "shape that is a list",
            npy("{'shape': [3]}", &[]),
            "the header of `x` is not one of NumPy's: a tuple expected at character 10",
        ),
        (
            "negative length",
            npy("{'shape': (-3,)}", &[]),
            "the header of `x` is not one of NumPy's: a length expected at character 11",
        ),
        (
            "length beyond counting",
            npy("{'shape': (99999999999999999999,)}", &[]),
            "the header of `x` is not one of NumPy's: a length expected at character 11",
        ),
        ("many dimensions", f8(&many), "`x` has more than 32 dimensions"),
        (
            "values beyond counting",
            f8("(4294967296, 4294967296)"),
            "`x` with shape [4294967296, 4294967296] has more values than can be counted",
        ),
        ("too few values", f8("(3,)"), "`x` of type '<f8' with shape [3] needs 24 bytes and has 16"),
        ("too many values", f8("()"), "`x` of type '<f8' with shape [] needs 8 bytes and has 16"),
        (
            "lying shape",
            f8("(1000000, 64, 1600)"),
            "`x` of type '<f8' with shape [1000000, 64, 1600] needs 819200000000 bytes and has 16",
        ),
        (
            "objects",
            npy(&header("|O", "(1,)"), &[0; 8]),
            "`x` holds pickled Python objects, which are never read",
        ),
        (
            "records",
            npy("{'descr': [('a', '<f8')], }", &[]),
            "`x` holds records with fields, not plain values",
        ),
        ("empty type", npy(&header("", "(1,)"), &[0; 8]), "`x` is of type '', which is not read"),
        ("native order", npy(&header("=f8", "(1,)"), &[0; 8]), "`x` is of type '=f8', which is not read"),
        (
            "text of nothing",
            npy(&header("<U0", "(9999999,)"), &[]),
            "`x` is of type '<U0', which is not read",
        ),
        (
            "text beyond counting",
            npy(&header("<U9999999999999999999", "(1,)"), &[]),
            "`x` with shape [1] has more values than can be counted",
        ),
        (
            "boolean of 2",
            npy(&header("|b1", "(2,)"), &[1, 2]),
            "value 1 of `x` is neither `False` nor `True`",
        ),
        ("half a pair", npy(&header("<U1", "(1,)"), &[0, 0xd8, 0, 0]), "value 0 of `x` is not Unicode"),
        ("not UTF-8", npy(&header("|S1", "(1,)"), &[0xff]), "value 0 of `x` is not UTF-8"),
    ];
    for (what, bytes, message) in rows {
        for entry in [stored("x.npy", &bytes), deflated("x.npy", &bytes)] {
            let error = walk(&archive(&[entry])).expect_err(what).to_string();
            assert_eq!(error, format!("x.npz: {message}"), "{what}");
        }
    }
}

#[test]
fn bombs_are_refused_and_the_numbers_said() {
    let zeros = vec![0; 72 << 20];
    let entry = deflated("x.npy", &npy(&header("|u1", "(75497472,)"), &zeros));
    let (size, compressed) = (entry.size, entry.compressed);
    let error = walk(&archive(&[entry])).unwrap_err();
    let expected = format!(
        "x.npz: `x` declares {size} bytes in {compressed} compressed ones; at most 67108864 are accepted \
         (1032 times as many up to 67108864, 200 times beyond)"
    );
    assert_eq!(error.to_string(), expected);
    let hint = "measured signals do not shrink that much; if it is what you want, save it with `numpy.savez`, \
                uncompressed";
    assert_eq!(error.hint().unwrap(), hint);
}

#[test]
fn keys_in_any_order_and_either_quotes_are_read() {
    for header in [
        "{'shape': (2,), 'fortran_order': False, 'descr': '<f8'}",
        "{\"descr\":\"<f8\",\"fortran_order\":False,\"shape\":(2,),}",
        "\n{ 'fortran_order' : True ,\t'descr' : '<f8' , 'shape' : ( 2 , ) , }  \n",
    ] {
        assert_eq!(walk(&archive(&[stored("x.npy", &npy(header, &[0; 16]))])).unwrap(), 2);
    }
}

#[test]
fn a_folder_and_a_missing_file_are_errors_of_the_system() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(NpzFile::open(folder.path()), Err(Error::File { .. })));
    assert!(matches!(NpzFile::open(folder.path().join("none.npz")), Err(Error::File { .. })));
    assert!(matches!(NpzWriter::create(folder.path().join("none/x.npz")), Err(Error::File { .. })));
}

#[test]
fn damaged_files_never_panic() {
    for name in ["types.npz", "types_compressed.npz", "versions.npz", "refused.npz"] {
        let bytes = fs::read(golden(name)).unwrap();
        for end in 0..bytes.len() {
            assert!(walk(&bytes[..end]).is_err());
        }
        for seed in 0..2000 {
            // Those with an odd seed are cut off, which is found at once.
            let _ = walk(&damaged(&bytes, 2 * seed));
        }
    }
}

#[test]
fn lying_headers_allocate_little() {
    let large_end = |entries: u64| {
        // A large archive of which the end declares a list that is not there.
        let mut bytes = vec![0; 4096];
        bytes.extend(b"PK\x06\x06");
        bytes.extend(44_u64.to_le_bytes());
        bytes.extend([0; 12]);
        for field in [entries, entries, u64::MAX / 2, 0] {
            bytes.extend(field.to_le_bytes());
        }
        bytes.extend(b"PK\x06\x07\0\0\0\0");
        bytes.extend(4096_u64.to_le_bytes());
        bytes.extend([1, 0, 0, 0]);
        bytes.extend(b"PK\x05\x06\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0");
        bytes
    };
    let text = npy(&header("<U1000000000", "(1,)"), &[0; 100]);
    let lies = [
        large_end(4000),
        large_end(u64::MAX / 46),
        archive(&[stored("x.npy", &npy(&header("<f8", "(1073741824,)"), &[0; 16]))]),
        archive(&[stored("x.npy", &npy(&header("<f8", "(0, 9999999999999)"), &[0; 16]))]),
        archive(&[stored("x.npy", &text)]),
        archive(&[Entry { size: u32::MAX, ..deflated("x.npy", &text) }]),
        archive(&[Entry { size: 60_000, ..deflated("x.npy", &npy(&header("|S59917", "(1,)"), &[0; 100])) }]),
    ];
    for lie in lies {
        let info = allocation_counter::measure(|| assert!(walk(&lie).is_err()));
        // The window and the tables of the inflater, and a buffer.
        assert!(info.bytes_max < 256 << 10, "{} bytes", info.bytes_max);
    }
}

fn files(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

fn write_all(path: &Path) -> Result<(), Error> {
    let mut writer = NpzWriter::create(path)?;
    writer.floats("covariances", &[2, 3], &wave(6))?;
    writer.floats32("single", &[], &[1.5])?;
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

/// A process that was killed leaves its draft; the next one replaces it.
#[test]
fn what_a_killed_process_left_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (path, draft) = (folder.path().join("x.npz"), folder.path().join("x.npz.partial"));
    fs::write(&draft, vec![b'?'; 1 << 20]).unwrap();
    write_all(&path).unwrap();
    NpzFile::open(&path).unwrap();
    assert_eq!(files(folder.path()), ["x.npz"]);

    // One that is still at work is left alone.
    let first = NpzWriter::create(&path).unwrap();
    assert!(draft.exists());
    let Err(error) = NpzWriter::create(&path) else { panic!() };
    assert_eq!(error.to_string(), format!("{}: another process is writing it", path.display()));
    assert!(draft.exists());
    drop(first);
    assert_eq!(files(folder.path()), ["x.npz"]);
}

/// A link stays a link, and what it leads to is written, be it there or not.
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
    assert!(error.ends_with("round.npz: links that lead to each other"), "{error}");
    fs::create_dir(at("folder.npz")).unwrap();
    let error = write_all(&at("folder.npz")).unwrap_err().to_string();
    assert!(error.ends_with("folder.npz: there is something that is not a file"), "{error}");
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
    // None of these has left a trace.
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
    assert_eq!(message(writer.floats("y", &[1], &[1.0])), "`x` was not finished, so the archive cannot be");
    assert_eq!(message(writer.finish()), "`x` was not finished, so the archive cannot be");
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
        let mut rows = file.float_rows("r:").unwrap();
        let mut row = [0.0; 7];
        for expected in values.chunks_exact(7) {
            prop_assert!(rows.read_row(&mut row).unwrap());
            prop_assert_eq!(bits(&row), bits(expected));
        }
        prop_assert!(!rows.read_row(&mut row).unwrap());
    }
}
