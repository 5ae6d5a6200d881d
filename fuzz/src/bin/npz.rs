//! Fuzz target: the reader of `.npz` archives.

use std::io::Cursor;
use std::process::ExitCode;

use fedspd_eeg::Error;
use fedspd_eeg::npz::NpzFile;
use fedspd_fuzz::{Memory, Target, kind};

fn main() -> ExitCode {
    let target = Target {
        name: "npz",
        seeds: vec![
            include_bytes!("../../../golden/arrays/types.npz").to_vec(),
            include_bytes!("../../../golden/arrays/types_compressed.npz").to_vec(),
            include_bytes!("../../../golden/arrays/versions.npz").to_vec(),
            include_bytes!("../../../golden/arrays/refused.npz").to_vec(),
        ],
        tokens: &[
            b"PK\x03\x04",
            b"PK\x01\x02",
            b"PK\x05\x06",
            b"\x93NUMPY\x01\x00",
            b"\x93NUMPY\x02\x00",
            b"'descr': '<f8'",
            b"'descr': '|O'",
            b"'descr': '<U4'",
            b"'fortran_order': True",
            b"'shape': ()",
            b"(9999999999, 9)",
            b"(0, 18446744073709551615)",
            b"\xff\xff\xff\xff",
            b"\0\0\0\0",
        ],
        read: Box::new(read),
        // Deflate expands a byte to at most 1032 bytes. Each may become a number of 8 bytes, in a
        // vector that grows by doubling, or a short text. (The reader of prepared data checks
        // shapes first.)
        memory: Memory::per_byte(1032 * 32 * 3),
    };
    target.main()
}

fn read(bytes: &[u8]) -> String {
    let mut file = match NpzFile::new(Cursor::new(bytes), "x") {
        Ok(file) => file,
        Err(error) => return name(&error),
    };
    let names: Vec<String> = file.names().map(String::from).collect();
    let mut outcomes = Vec::new();
    for array in &names {
        outcomes.extend(file.floats(array).map(drop).map_err(|error| name(&error)).err());
        outcomes.extend(file.integers(array).map(drop).map_err(|error| name(&error)).err());
        outcomes.extend(file.strings(array).map(drop).map_err(|error| name(&error)).err());
    }
    outcomes.sort();
    outcomes.dedup();
    outcomes.join(", ")
}

fn name(error: &Error) -> String {
    match error {
        Error::Npz { fault, .. } => kind(fault),
        other => kind(other),
    }
}
