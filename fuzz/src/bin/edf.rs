//! Fuzz target: the reader of EDF and BDF.

use std::io::Cursor;
use std::process::ExitCode;

use fedspd_eeg::read::{EdfFault, EdfFile};
use fedspd_fuzz::{EDF_TOKENS, Memory, Target, kind};

fn main() -> ExitCode {
    let edf = include_bytes!("../../../golden/edf/small.edf").to_vec();
    let bdf = include_bytes!("../../../golden/edf/small.bdf").to_vec();
    let discontinuous = |mut bytes: Vec<u8>| {
        bytes[196] = b'D';
        bytes
    };
    let target = Target {
        name: "edf",
        seeds: vec![edf.clone(), discontinuous(edf), bdf.clone(), discontinuous(bdf)],
        tokens: EDF_TOKENS,
        read: Box::new(read),
        // Two bytes of annotations (a letter and its terminator) become an `Annotation` and a
        // string, in a vector that grows by doubling.
        memory: Memory::per_byte(128),
    };
    target.main()
}

fn read(bytes: &[u8]) -> String {
    let mut file = match EdfFile::new(Cursor::new(bytes)) {
        Ok(file) => file,
        Err(fault) => return name(&fault),
    };
    let signals: Vec<usize> = file.header().sampled().collect();
    let outcomes = [
        file.annotations().map(drop),
        file.gaps().map(drop),
        file.read(&signals).map(drop),
        file.read(&signals[..signals.len().min(1)]).map(drop),
        file.recording(&signals).map(drop),
    ];
    let words = outcomes.iter().map(|outcome| outcome.as_ref().map_or_else(name, |()| "ok".to_owned()));
    words.collect::<Vec<_>>().join(", ")
}

/// Distinguishes faults of annotations by their text.
fn name(fault: &EdfFault) -> String {
    if let EdfFault::Annotation { problem, .. } = fault { (*problem).to_owned() } else { kind(fault) }
}
