//! Valid archives with faulty arrays.

use super::walk;
use crate::support::npz::{archive, deflated, header, npy, stored};

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
        ("nothing", vec![], "`x` is not a NumPy array (wrong first bytes)"),
        ("text", b"1.0,2.0,3.0,4.0".to_vec(), "`x` is not a NumPy array (wrong first bytes)"),
        ("header cut off", cut, "`x` is not a NumPy array (wrong first bytes)"),
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
