//! The program of a target.

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::{Limit, Target, processor_time};

/// The address space of the process. A larger allocation ends it.
const LARGEST_SPACE: u64 = 4 << 30;
/// The longest time of an input, in seconds of the clock. A reader that waits uses no processor
/// time.
const LONGEST_WAIT: u32 = 120;

/// The number of the current input, for the watchdog.
static CURRENT: AtomicU64 = AtomicU64::new(0);

/// The main function of a target that needs files or runs of its own.
#[allow(clippy::print_stderr)] // printing is its purpose
pub fn main(target: Result<Target, Box<dyn Error>>) -> ExitCode {
    match target {
        Ok(target) => target.main(),
        Err(error) => {
            eprintln!("the target cannot be set up: {error}");
            ExitCode::from(2)
        }
    }
}

impl Target {
    /// The main function of a target, with arguments `<seconds> <seed>` and `list` to print the
    /// outcomes. The current input is always in `fuzz/findings/`, and stays there if the reader
    /// fails in any way.
    #[allow(clippy::print_stdout, clippy::print_stderr)] // printing is its purpose
    pub fn main(&self) -> ExitCode {
        let argument = |place, default| {
            let text = std::env::args().nth(place);
            text.map_or(Ok(default), |text| text.parse().map_err(|_| text))
        };
        let (seconds, seed) = match (argument(1, 60), argument(2, 0)) {
            (Ok(seconds), Ok(seed)) => (seconds, seed),
            (Err(text), _) | (_, Err(text)) => {
                eprintln!("`{text}` is not a whole number; usage: {} [seconds] [seed] [list]", self.name);
                return ExitCode::from(2);
            }
        };
        let (mut saved, path) = match self.prepare() {
            Ok(prepared) => prepared,
            Err(error) => {
                eprintln!("{}: cannot be set up: {error}", self.name);
                return ExitCode::from(2);
            }
        };
        let before = |input: &[u8]| {
            CURRENT.fetch_add(1, Ordering::Relaxed);
            if let Err(error) = saved.replace(input) {
                eprintln!("{}: the input could not be saved: {error}", self.name);
            }
        };
        match self.run_with(seed, Limit::Time(Duration::from_secs(seconds)), before) {
            Ok(report) => {
                let (inputs, outcomes) = (report.inputs, report.outcomes.len());
                let seconds = processor_time().as_secs();
                println!("{}: {inputs} inputs, {outcomes} outcomes, {seconds} s", self.name);
                if std::env::args().nth(3).is_some() {
                    println!("{}", report.outcomes.join("\n"));
                }
                ExitCode::from(u8::from(fs::remove_file(path).is_err()))
            }
            Err(finding) => {
                eprintln!("{}: {}\nthe input is in {}", self.name, finding.what, path.display());
                ExitCode::FAILURE
            }
        }
    }

    /// Limits the memory, starts the watchdog, and opens the file of the current input.
    fn prepare(&self) -> io::Result<(SavedInput, PathBuf)> {
        let limit = Some(LARGEST_SPACE);
        setrlimit(Resource::As, Rlimit { current: limit, maximum: limit })?;
        thread::spawn(watch);
        let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/findings"));
        fs::create_dir_all(&folder)?;
        let path = folder.join(self.name);
        Ok((SavedInput { file: File::create(&path)? }, path))
    }
}

/// The file of the current input.
struct SavedInput {
    file: File,
}

impl SavedInput {
    fn replace(&mut self, input: &[u8]) -> io::Result<()> {
        io::Seek::rewind(&mut self.file)?;
        self.file.write_all(input)?;
        self.file.set_len(input.len() as u64)
    }
}

/// Ends the process if an input takes too long. It counts its own seconds, so that a process that
/// was stopped for a while may continue.
#[allow(clippy::print_stderr)] // printing is its purpose
fn watch() {
    let (mut last, mut seconds) = (CURRENT.load(Ordering::Relaxed), 0);
    while seconds < LONGEST_WAIT {
        thread::sleep(Duration::from_secs(1));
        let current = CURRENT.load(Ordering::Relaxed);
        (last, seconds) = (current, if current == last { seconds + 1 } else { 0 });
    }
    eprintln!("input {last} takes longer than {LONGEST_WAIT} seconds");
    std::process::abort();
}
