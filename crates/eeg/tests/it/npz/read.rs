//! Reading of NumPy's files, and refusal of wrong requests.

use fedspd_eeg::Error;
use fedspd_eeg::npz::{NpzFile, NpzWriter};

use super::{array, open, walk};
use crate::support::arrays::{golden, wave};
use crate::support::npz::{archive, npy, stored};

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
fn what_is_asked_for_and_what_is_there_must_agree() {
    let mut file = open(include_bytes!("../../../../../golden/arrays/types.npz")).unwrap();
    let mut refused = open(include_bytes!("../../../../../golden/arrays/refused.npz")).unwrap();
    let rows: Vec<(Option<Error>, &str)> = vec![
        (file.floats("<U").err(), "`<U` is of type '<U4' where numbers are needed"),
        (file.floats("|b1").err(), "`|b1` is of type '|b1' where numbers are needed"),
        (file.integers(">f4").err(), "`>f4` is of type '>f4' where integers are needed"),
        (file.strings("one").err(), "`one` is of type '<f8' where texts are needed"),
        (file.floats("|S").err(), "`|S` is of type '|S6' where numbers are needed"),
        (file.integers("beyond").err(), "value 0 of `beyond` is beyond the largest signed integer"),
        (
            file.floats("labels").err(),
            "there is no array `labels`; the file has `<f4`, `<f8`, `<i2`, `<i4`, `<i8`, `<u2`, `<u4`, `<u8` and 24 more",
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
    let expected = "in Python, convert the array before saving it: `.astype(str)` for names, `.astype(float)` for numbers";
    assert_eq!(hint, expected);
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
