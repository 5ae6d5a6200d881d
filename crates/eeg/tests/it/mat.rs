//! Tests of the MAT-file reader.

use std::fs;
use std::io::Cursor;

use fedspd_eeg::Error;
use fedspd_eeg::read::{MatArray, MatClass, MatFile};
use proptest::prelude::*;

use crate::support::arrays::{column_major, damaged, golden, wave};
use crate::support::mat::{
    compressed, deflate, dims, doubles, element, file, flags, header, matrix, name, tagged, vector,
};

const NAMES: [&str; 19] = [
    "double",
    "single",
    "char",
    "logical",
    "complex",
    "scalar",
    "empty",
    "cell",
    "structure",
    "sparse",
    "a_variable_with_a_long_name",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
];

fn array(dims: &[usize], values: &[f64]) -> MatArray {
    MatArray { dims: dims.to_vec(), values: values.to_vec() }
}

fn open(bytes: &[u8]) -> Result<MatFile<Cursor<&[u8]>>, Error> {
    MatFile::new(Cursor::new(bytes), "x.mat")
}

/// Reads all readable variables of a file, in pieces of 7.
fn walk(bytes: &[u8]) -> Result<usize, Error> {
    let mut file = open(bytes)?;
    let mut count = 0;
    let mut piece = [0.0; 7];
    while let Some(mut variable) = file.next_variable()? {
        while variable.class().is_numeric() {
            match variable.read(&mut piece)? {
                0 => break,
                found => count += found,
            }
        }
    }
    Ok(count)
}

#[test]
fn every_class_that_scipy_writes_is_read() {
    for name in ["classes.mat", "classes_compressed.mat"] {
        let mut file = MatFile::open(golden(name)).unwrap();
        let mut seen = Vec::new();
        while let Some(variable) = file.next_variable().unwrap() {
            seen.push((variable.name().to_owned(), variable.class(), variable.dims().to_vec()));
        }
        assert_eq!(seen.iter().map(|(name, ..)| name.as_str()).collect::<Vec<_>>(), NAMES, "{name}");
        let class = |name: &str| seen.iter().find(|(there, ..)| there == name).unwrap().1;
        assert_eq!(class("double"), MatClass::Double);
        assert_eq!(class("single"), MatClass::Single);
        assert_eq!(class("char"), MatClass::Char);
        assert_eq!(class("logical"), MatClass::Logical);
        assert_eq!(class("cell"), MatClass::Cell);
        assert_eq!(class("structure"), MatClass::Struct);
        assert_eq!(class("sparse"), MatClass::Sparse);
        assert_eq!(class("int16"), MatClass::Int16);
        assert_eq!(class("uint64"), MatClass::Uint64);

        let mut numbers = |name: &str| file.numbers(name).unwrap();
        assert_eq!(numbers("double"), array(&[3, 4], &column_major(&[3, 4], &wave(12))));
        assert_eq!(numbers("single"), array(&[2, 3, 4], &column_major(&[2, 3, 4], &wave(24))));
        assert_eq!(numbers("char"), array(&[1, 9], &b"left hand".map(f64::from)));
        assert_eq!(numbers("logical"), array(&[1, 3], &[1.0, 0.0, 1.0]));
        assert_eq!(numbers("scalar"), array(&[1, 1], &[2.5]));
        assert_eq!(numbers("empty"), array(&[0, 3], &[]));
        assert_eq!(numbers("a_variable_with_a_long_name"), array(&[1, 1], &[7.0]));
        assert_eq!(numbers("int8"), array(&[1, 5], &[-128.0, -1.0, 0.0, 1.0, 127.0]));
        assert_eq!(numbers("int16"), array(&[1, 5], &[-32768.0, -1.0, 0.0, 1.0, 32767.0]));
        assert_eq!(numbers("int32"), array(&[1, 5], &[-2_147_483_648.0, -1.0, 0.0, 1.0, 2_147_483_647.0]));
        assert_eq!(numbers("int64"), array(&[1, 5], &[i64::MIN as f64, -1.0, 0.0, 1.0, i64::MAX as f64]));
        assert_eq!(numbers("uint8"), array(&[1, 5], &[0.0, 1.0, 2.0, 254.0, 255.0]));
        assert_eq!(numbers("uint16"), array(&[1, 5], &[0.0, 1.0, 2.0, 65534.0, 65535.0]));
        assert_eq!(numbers("uint32"), array(&[1, 5], &[0.0, 1.0, 2.0, 4_294_967_294.0, 4_294_967_295.0]));
        assert_eq!(numbers("uint64"), array(&[1, 5], &[0.0, 1.0, 2.0, u64::MAX as f64, u64::MAX as f64]));

        let mut complex = file.find("complex").unwrap();
        assert!(complex.is_complex());
        let mut values = [0.0; 13];
        assert_eq!(complex.read(&mut values).unwrap(), 12);
        let imaginary: Vec<f64> = wave(6).into_iter().rev().collect();
        assert_eq!(values[..6], column_major(&[2, 3], &wave(6)));
        assert_eq!(values[6..12], column_major(&[2, 3], &imaginary));
        assert_eq!(complex.read(&mut values).unwrap(), 0);
    }
}

#[test]
fn what_cannot_be_read_as_numbers_is_named() {
    let mut file = MatFile::open(golden("classes.mat")).unwrap();
    let path = golden("classes.mat");
    let mut message = |name: &str| {
        let error = file.numbers(name).unwrap_err();
        let message = error.to_string();
        (message.strip_prefix(&format!("{}: ", path.display())).unwrap().to_owned(), error.hint())
    };
    let own =
        "only arrays of numbers are read: save the field or cell that is needed as a variable of its own";
    let own = Some(own.to_owned());
    assert_eq!(
        message("structure"),
        ("`structure` is of class struct, not an array of numbers".into(), own.clone())
    );
    assert_eq!(message("cell"), ("`cell` is of class cell, not an array of numbers".into(), own.clone()));
    assert_eq!(message("sparse"), ("`sparse` is of class sparse, not an array of numbers".into(), own));
    assert_eq!(message("complex"), ("`complex` is complex where real numbers are needed".into(), None));
    let missing = "there is no variable `label`; the file has `double`, `single`, `char`, `logical`, `complex`, \
                   `scalar`, `empty`, `cell` and 11 more";
    assert_eq!(message("label"), (missing.into(), None));
}

#[test]
fn the_layout_of_weibo2014_is_read_trial_by_trial() {
    let mut file = MatFile::open(golden("weibo2014.mat")).unwrap();
    let labels = file.numbers("label").unwrap();
    assert_eq!(labels, array(&[6, 1], &[1.0, 2.0, 3.0, 4.0, 5.0, 7.0]));
    let mut data = file.find("data").unwrap();
    assert_eq!(data.dims(), [4, 10, 6]);
    let expected = column_major(&[4, 10, 6], &wave(240));
    let mut trial = vec![0.0; 40];
    for n in 0..6 {
        assert_eq!(data.read(&mut trial).unwrap(), 40);
        assert_eq!(trial, expected[n * 40..(n + 1) * 40]);
    }
    assert_eq!(data.read(&mut trial).unwrap(), 0);
}

#[test]
fn both_byte_orders_and_smaller_types_are_read() {
    for name in ["little_endian.mat", "big_endian.mat", "big_endian_compressed.mat"] {
        let mut file = MatFile::open(golden(name)).unwrap();
        let small: Vec<f64> = (0..15).map(f64::from).collect();
        let small = array(&[3, 5], &column_major(&[3, 5], &small));
        for kind in [1, 2, 3, 4, 5, 6, 7, 9, 12, 13] {
            assert_eq!(file.numbers(&format!("as_{kind}")).unwrap(), small, "{name}");
        }
        assert_eq!(file.numbers("label").unwrap(), array(&[3, 1], &[1.0, 2.0, 3.0]), "{name}");
        let expected = array(&[4, 5, 3], &column_major(&[4, 5, 3], &wave(60)));
        assert_eq!(file.numbers("wave").unwrap(), expected, "{name}");
        let mut values = [0.0; 8];
        assert_eq!(file.find("complex").unwrap().read(&mut values).unwrap(), 8);
        let wave = wave(8);
        assert_eq!(values[..4], column_major(&[2, 2], &wave[..4]), "{name}");
        assert_eq!(values[4..], column_major(&[2, 2], &wave[4..]), "{name}");
    }
}

#[test]
#[allow(clippy::too_many_lines)] // a table
fn every_bad_file_has_its_message() {
    let good = file(&[vector("x", &[1.0, 2.0])]);
    let packed = file(&[compressed(&vector("x", &[1.0, 2.0]))]);
    let with = |place: usize, bytes: &[u8]| {
        let mut file = good.clone();
        file[place..place + bytes.len()].copy_from_slice(bytes);
        file
    };
    let mut wrong_checksum = packed.clone();
    *wrong_checksum.last_mut().unwrap() ^= 1;
    let mut not_deflated = packed.clone();
    not_deflated[136] = 0;
    let cut_inside = {
        let content = deflate(&vector("x", &[1.0, 2.0]));
        let half = content.len() / 2;
        file(&[tagged(15, half as u32, &content[..half])])
    };
    let v7_3 = {
        let mut bytes = with(124, &[0, 2]);
        bytes.resize(512, 0);
        bytes.extend(b"\x89HDF\r\n\x1a\n");
        bytes
    };
    let torn = packed.len() - 136;
    let torn =
        format!("cut off: the element at byte 128 declares {torn} bytes, of which {} are there", torn - 3);
    let rows: Vec<(&str, Vec<u8>, &str)> = vec![
        ("nothing", vec![], "the file is empty"),
        ("text", b"subject,label\n".repeat(20), "not a MATLAB file"),
        ("short text", b"hello".to_vec(), "not a MATLAB file"),
        ("zeros", vec![0; 200], "not a MATLAB file"),
        ("header cut off", good[..100].to_vec(), "cut off after 100 of the 128 bytes of the header"),
        (
            "level 4",
            fs::read(golden("level4.mat")).unwrap(),
            "a MATLAB file of level 4, the format before 1996",
        ),
        ("7.3", v7_3, "a MATLAB file of version 7.3, which is an HDF5 file inside"),
        (
            "HDF5",
            b"\x89HDF\r\n\x1a\n\0\0\0\0".to_vec(),
            "a MATLAB file of version 7.3, which is an HDF5 file inside",
        ),
        ("version", with(124, &[0, 3]), "a MATLAB file of version 0x0300; only 0x0100 is known"),
        ("byte order", with(126, b"XX"), "not a MATLAB file"),
        ("tag cut off", good[..133].to_vec(), "cut off at byte 128: the file has 5 of the 8 bytes of a tag"),
        (
            "element cut off",
            good[..150].to_vec(),
            "cut off: the element at byte 128 declares 72 bytes, of which 14 are there",
        ),
        (
            "lying element",
            with(132, &[255; 4]),
            "cut off: the element at byte 128 declares 4294967295 bytes, of which 72 are there",
        ),
        ("packed cut off", packed[..packed.len() - 3].to_vec(), &torn),
        ("other element", with(128, &[9]), "the element at byte 128 is of type 9, which is not a variable"),
        (
            "packed in packed",
            file(&[compressed(&compressed(&vector("x", &[1.0])))]),
            "the compressed element at byte 128 holds an element of type 15, which is not a variable",
        ),
        (
            "checksum",
            wrong_checksum,
            "the compressed element at byte 128 is damaged (corrupt deflate stream)",
        ),
        (
            "not deflated",
            not_deflated,
            "the compressed element at byte 128 is damaged (corrupt deflate stream)",
        ),
        ("stream cut off", cut_inside, "the compressed element at byte 128 is damaged (it ends early)"),
        (
            "empty variable",
            file(&[matrix(&[])]),
            "the block of array flags of the variable at byte 128 would take 4 bytes, of which 0 are left",
        ),
        (
            "part beyond the variable",
            file(&[matrix(&[tagged(6, 1000, &[0; 8])])]),
            "the block of array flags of the variable at byte 128 would take 1000 bytes, of which 8 are left",
        ),
        (
            "flags of another type",
            file(&[matrix(&[element(5, &[6, 0, 0, 0, 0, 0, 0, 0])])]),
            "the block of array flags of the variable at byte 128 is 8 bytes of type 5; 8 bytes of type 6 were expected",
        ),
        (
            "small element that is not small",
            file(&[matrix(&[vec![6, 0, 8, 0, 6, 0, 0, 0]])]),
            "the block of array flags of the variable at byte 128 is 8 bytes of type 6; the small format has up to 4 bytes",
        ),
        (
            "one dimension",
            file(&[matrix(&[flags(6), dims(&[3])])]),
            "the list of dimensions of the variable at byte 128 is 4 bytes of type 5; 2 to 32 numbers of type 5 \
             are possible",
        ),
        (
            "many dimensions",
            file(&[matrix(&[flags(6), dims(&[1; 33])])]),
            "the list of dimensions of the variable at byte 128 is 132 bytes of type 5; 2 to 32 numbers of type \
             5 are possible",
        ),
        (
            "negative dimension",
            file(&[matrix(&[flags(6), dims(&[1, -2])])]),
            "the variable at byte 128 has a dimension of -2",
        ),
        (
            "name that is not text",
            file(&[matrix(&[flags(6), dims(&[1, 1]), element(1, &[0xff; 9])])]),
            "the name of the variable at byte 128 is not text",
        ),
        (
            "long name",
            file(&[matrix(&[flags(6), dims(&[1, 1]), name(&"x".repeat(2000))])]),
            "the name of the variable at byte 128 is 2000 bytes of type 1; up to 1024 bytes of type 1 were expected",
        ),
        (
            "dimensions beyond counting",
            file(&[matrix(&[flags(6), dims(&[i32::MAX; 3]), name("x"), doubles(&[1.0])])]),
            "`x` with dimensions [2147483647, 2147483647, 2147483647] has more numbers than can be counted",
        ),
        (
            "dimensions beyond the bytes",
            file(&[matrix(&[flags(6), dims(&[64, 1600]), name("x"), doubles(&[1.0])])]),
            "the data of `x` with dimensions [64, 1600] needs 819200 bytes and has 8",
        ),
        (
            "numbers that are not",
            file(&[matrix(&[flags(6), dims(&[1, 1]), name("x"), element(14, &[0; 8])])]),
            "the data of `x` is of type 14, which is not a type of numbers",
        ),
        (
            "no data",
            file(&[matrix(&[flags(6), dims(&[1, 1]), name("x")])]),
            "the data of the variable at byte 128 would take 4 bytes, of which 0 are left",
        ),
        (
            "no imaginary data",
            file(&[matrix(&[flags(0x0806), dims(&[1, 1]), name("x"), doubles(&[1.0])])]),
            "the imaginary data of the variable at byte 128 would take 4 bytes, of which 0 are left",
        ),
        (
            "shorter imaginary data",
            file(&[matrix(&[flags(0x0806), dims(&[1, 2]), name("x"), doubles(&[1.0; 2]), doubles(&[1.0])])]),
            "the imaginary data of `x` with dimensions [1, 2] needs 16 bytes and has 8",
        ),
        (
            "more than the data",
            file(&[matrix(&[flags(6), dims(&[1, 1]), name("x"), doubles(&[1.0]), doubles(&[1.0])])]),
            "`x` is followed by unexpected bytes",
        ),
        (
            "more in the stream",
            file(&[compressed(&[vector("x", &[1.0]), vector("y", &[1.0])].concat())]),
            "`x` is followed by unexpected bytes",
        ),
    ];
    for (what, bytes, message) in rows {
        let error = walk(&bytes).expect_err(what);
        assert_eq!(error.to_string(), format!("x.mat: {message}"), "{what}");
    }
}

#[test]
fn bombs_are_refused_and_the_numbers_said() {
    let message = |bytes: &[u8]| walk(bytes).unwrap_err().to_string();
    let rule = "(1032 times as many up to 4194304, 200 times beyond)";
    // The deflated size depends on the encoder.
    let nothing = compressed(&tagged(14, 1 << 30, &[]));
    let size = nothing.len() - 8;
    let expected = format!(
        "x.mat: the compressed element at byte 128 declares 1073741832 bytes in {size} compressed ones; at most {} \
         are accepted {rule}",
        size * 1032
    );
    assert_eq!(message(&file(&[nothing])), expected);
    let zeros = element(9, &vec![0; 5 << 20]);
    let zeros = compressed(&matrix(&[flags(6), dims(&[1, 5 << 17]), name("x"), zeros]));
    let expected = format!(
        "x.mat: the compressed element at byte 128 declares 5242944 bytes in {} compressed ones; at most 4194304 \
         are accepted {rule}",
        zeros.len() - 8
    );
    let bomb = file(&[zeros]);
    assert_eq!(message(&bomb), expected);
    let hint = "the compression ratio is implausible for EEG; if the file is correct, save it uncompressed with \
                `save(..., '-v6')`";
    assert_eq!(walk(&bomb).unwrap_err().hint(), Some(hint.to_owned()));
    // Large and constant, but below the limit.
    let zeros = element(9, &vec![0; 3 << 20]);
    let zeros = compressed(&matrix(&[flags(6), dims(&[1, 3 << 17]), name("x"), zeros]));
    assert_eq!(walk(&file(&[zeros])).unwrap(), 3 << 17);
}

#[test]
fn names_that_occur_twice_are_refused() {
    let bytes = file(&[vector("x", &[1.0]), vector("y", &[2.0]), vector("x", &[3.0])]);
    let mut file = open(&bytes).unwrap();
    assert_eq!(file.numbers("y").unwrap().values, [2.0]);
    assert_eq!(file.numbers("x").unwrap_err().to_string(), "x.mat: there are two variables `x`");
}

#[test]
fn hints_say_what_to_do() {
    let hint = |bytes: &[u8]| walk(bytes).unwrap_err().hint();
    let again = Some("in MATLAB, load it and save it again with `save(..., '-v7')`".to_owned());
    assert_eq!(hint(&fs::read(golden("level4.mat")).unwrap()), again);
    assert_eq!(hint(b"\x89HDF\r\n\x1a\n"), again);
    let copy = "the copy is incomplete or damaged: copy it again from the original";
    assert_eq!(hint(&[]), Some(copy.to_owned()));
    assert_eq!(hint(b"not one"), None);
}

#[test]
fn a_folder_and_a_missing_file_are_errors_of_the_system() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(MatFile::open(folder.path()), Err(Error::File { .. })));
    assert!(matches!(MatFile::open(folder.path().join("none.mat")), Err(Error::File { .. })));
}

#[test]
fn after_a_bad_variable_the_walk_goes_on_and_after_a_bad_element_it_ends() {
    let bad = matrix(&[flags(6), dims(&[1, 7]), name("bad"), doubles(&[1.0])]);
    let bytes = file(&[bad, vector("x", &[1.0]), element(9, &[0; 8]), vector("y", &[1.0])]);
    let mut file = open(&bytes).unwrap();
    assert!(file.next_variable().is_err());
    assert_eq!(file.next_variable().unwrap().unwrap().name(), "x");
    assert!(file.next_variable().is_err());
    assert!(file.next_variable().unwrap().is_none());
}

#[test]
fn odd_but_valid_variables_are_read() {
    // Objects of new-style classes have no dimensions; padding may be missing at the end; a logical
    // may have any class.
    let opaque = matrix(&[flags(17), name("text"), name("MCOS"), name("string")]);
    let unpadded = tagged(14, 59, &[flags(9), dims(&[1, 3]), name("u"), tagged(2, 3, &[1, 2, 3])].concat());
    let logical = matrix(&[flags(0x0206), dims(&[1, 1]), name("l"), doubles(&[1.0])]);
    let unknown = matrix(&[flags(99), dims(&[1, 1]), name("z")]);
    let bytes = file(&[opaque, unpadded, logical, unknown]);
    let mut file = open(&bytes).unwrap();
    let opaque = file.next_variable().unwrap().unwrap();
    assert_eq!((opaque.name(), opaque.class(), opaque.dims()), ("text", MatClass::Opaque, &[][..]));
    let mut unpadded = file.next_variable().unwrap().unwrap();
    let mut values = [0.0; 4];
    assert_eq!(unpadded.read(&mut values).unwrap(), 3);
    assert_eq!(values[..3], [1.0, 2.0, 3.0]);
    assert_eq!(file.next_variable().unwrap().unwrap().class(), MatClass::Logical);
    let mut unknown = file.next_variable().unwrap().unwrap();
    assert_eq!(unknown.class(), MatClass::Unknown(99));
    let message = unknown.read(&mut values).unwrap_err().to_string();
    assert_eq!(message, "x.mat: `z` is of class 99, not an array of numbers");
}

#[test]
fn damaged_files_never_panic() {
    let names = ["classes.mat", "classes_compressed.mat", "big_endian.mat", "weibo2014.mat", "level4.mat"];
    for name in names {
        let bytes = fs::read(golden(name)).unwrap();
        for end in 0..bytes.len() {
            let _ = walk(&bytes[..end]);
        }
        for seed in 0..2000 {
            let _ = walk(&damaged(&bytes, seed));
        }
    }
}

#[test]
fn lying_headers_allocate_little() {
    let lies = [
        file(&[compressed(&tagged(14, u32::MAX, &[0; 100]))]),
        file(&[compressed(&matrix(&[
            flags(6),
            dims(&[30000, 30000]),
            name("x"),
            tagged(9, 1 << 29, &[0; 64]),
        ]))]),
        file(&[matrix(&[flags(2), tagged(5, u32::MAX, &[0; 64])])]),
        file(&[matrix(&[flags(6), dims(&[i32::MAX, i32::MAX]), name("x"), tagged(9, u32::MAX, &[0; 64])])]),
        file(&[matrix(&[flags(6), dims(&[1, 1]), tagged(1, u32::MAX, &[0; 64])])]),
        [header(), tagged(14, u32::MAX, &[])].concat(),
    ];
    for lie in lies {
        let info = allocation_counter::measure(|| {
            assert!(walk(&lie).is_err());
            assert!(open(&lie).unwrap().numbers("x").is_err());
        });
        // Window and tables of the inflater, twice, and a buffer.
        assert!(info.bytes_max < 256 << 10, "{} bytes", info.bytes_max);
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        values in prop::collection::vec(any::<f64>(), 0..600),
        label in "[a-z][a-z0-9_]{0,40}",
        deflated in any::<bool>(),
        piece in 1_usize..700,
    ) {
        let element = vector(&label, &values);
        let bytes = file(&[vector("first_", &[0.0]), if deflated { compressed(&element) } else { element }]);
        let mut file = open(&bytes).unwrap();
        let mut variable = file.find(&label).unwrap();
        prop_assert_eq!(variable.dims(), [1, values.len()]);
        let (mut read, mut out) = (Vec::new(), vec![0.0; piece]);
        loop {
            match variable.read(&mut out).unwrap() {
                0 => break,
                found => read.extend_from_slice(&out[..found]),
            }
        }
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&read), bits(&values));
    }
}
