//! Fuzz target: the reader of MAT-files.

use std::io::Cursor;
use std::process::ExitCode;

use fedspd_eeg::Error;
use fedspd_eeg::read::MatFile;
use fedspd_fuzz::{Memory, Target, kind};

/// The number of malformed variables that are skipped.
const FAULTS: usize = 64;

fn main() -> ExitCode {
    let target = Target {
        name: "mat",
        seeds: vec![
            include_bytes!("../../../golden/arrays/weibo2014.mat").to_vec(),
            include_bytes!("../../../golden/arrays/classes.mat").to_vec(),
            include_bytes!("../../../golden/arrays/classes_compressed.mat").to_vec(),
            include_bytes!("../../../golden/arrays/big_endian.mat").to_vec(),
        ],
        tokens: &[
            b"MATLAB 5.0",
            b"\x00\x01IM",
            b"\x01\x00MI",
            b"\x0e\0\0\0",
            b"\x0f\0\0\0",
            b"\x01\0\0\0",
            b"\x09\0\0\0",
            b"\xff\xff\xff\xff",
            b"\0\0\0\x80",
            b"\x05\0\0\0\x08\0\0\0",
            b"data",
        ],
        read: Box::new(read),
        // Deflate expands a byte to at most 1032 bytes. Each may become a number of 8 bytes, in a
        // vector that grows by doubling.
        memory: Memory::per_byte(1032 * 8 * 3),
    };
    target.main()
}

fn read(bytes: &[u8]) -> String {
    let mut file = match MatFile::new(Cursor::new(bytes), "x") {
        Ok(file) => file,
        Err(error) => return name(&error),
    };
    let (mut piece, mut outcomes) = ([0.0; 64], Vec::new());
    while outcomes.len() < FAULTS {
        match file.next_variable() {
            Ok(None) => break,
            Err(error) => outcomes.push(name(&error)),
            Ok(Some(mut variable)) => loop {
                match variable.read(&mut piece) {
                    Ok(0) => break,
                    Ok(_) => {}
                    Err(error) => {
                        outcomes.push(name(&error));
                        break;
                    }
                }
            },
        }
    }
    outcomes.sort();
    outcomes.dedup();
    outcomes.push(file.numbers("data").map_or_else(|error| name(&error), |_| "ok".into()));
    outcomes.join(", ")
}

fn name(error: &Error) -> String {
    match error {
        Error::Mat { fault, .. } => kind(fault),
        other => kind(other),
    }
}
