//! Fuzzing: damages valid files and passes them to a reader. The reader may refuse them. It must
//! not panic, use more memory than the bytes present allow, or take long.
//!
//! This is a separate program, because coverage-guided fuzzers need an unstable compiler. The
//! outcomes of the reader replace coverage: an input with a new outcome is kept and damaged
//! further. The same seed gives the same inputs, in the same order.

mod folder;
mod mutation;
mod program;
pub mod runs;
mod text;

use std::collections::HashSet;
use std::panic::{self, AssertUnwindSafe};
use std::time::Duration;

use rand::RngExt;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
use rustix::time::{ClockId, clock_gettime};

pub use folder::DamagedFolder;
pub use program::main;

/// The limit of processor time for an input. A few kilobytes take less, unless a loop depends on a
/// number in them.
const LONGEST: Duration = Duration::from_secs(2);
/// The largest input, as a multiple of the longest seed.
const LARGEST_GROWTH: usize = 4;

/// The words of a message that distinguish outcomes.
const MOST_WORDS: usize = 3;

/// A reader and its inputs.
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Small valid files.
    pub seeds: Vec<Vec<u8>>,
    /// Words and numbers of the format: they are parsed further than random bytes.
    pub tokens: &'static [&'static [u8]],
    /// Reads the bytes in all ways and returns a short outcome. Outcomes should be few: kinds of
    /// faults without their numbers.
    pub read: Box<Reader>,
    /// The memory that the reader may use.
    pub memory: Memory,
}

/// Reads an input and returns a short outcome.
pub type Reader = dyn Fn(&[u8]) -> String;

/// A limit of memory, for the thread that reads. A limit of the process covers other threads.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Bytes for any input.
    pub fixed: u64,
    /// Bytes per byte of input.
    pub per_byte: u64,
}

impl Memory {
    /// The limit of a reader that needs little memory besides the content of its file.
    pub fn per_byte(per_byte: u64) -> Self {
        Self { fixed: 1 << 16, per_byte }
    }
}

/// Words and numbers of EDF and BDF.
pub const EDF_TOKENS: &[&[u8]] = &[
    b"-1      ",
    b"0       ",
    b"1       ",
    b"4       ",
    b"16      ",
    b"512     ",
    b"768     ",
    b"99999999",
    b"-9999999",
    b"1e308   ",
    b"-1e308  ",
    b"1e-320  ",
    b"NaN     ",
    b"inf     ",
    b"0.0001  ",
    b"32767   ",
    b"-32768  ",
    b"2   ",
    b"9999",
    b"uV      ",
    b"mV      ",
    b"EDF+C",
    b"EDF+D",
    b"BDF+D",
    b"EDF Annotations ",
    b"BDF Annotations ",
    b"0       X",
    b"\xffBIOSEMI",
    b"+0\x14\x14\0",
    b"+1.5\x1501\x14x\x14\0",
    b"\x14\x14\x14\x14",
    b"-99999999999\x14",
    b"\x14\0",
];

/// The name of a fault without its numbers.
pub fn kind(fault: &impl std::fmt::Debug) -> String {
    let text = format!("{fault:?}");
    text.chars().take_while(|letter| letter.is_alphanumeric()).collect()
}

/// The first words of a fault and of its message, without names and numbers of the file.
///
/// # Panics
/// If the fault has no message.
pub fn words(fault: &impl std::error::Error) -> String {
    let message = fault.to_string();
    assert!(!message.is_empty(), "a fault without a message");
    let own = message.split(['`', '"']).step_by(2).flat_map(str::split_whitespace);
    let own = own.filter(|word| word.chars().all(|letter| letter.is_ascii_lowercase()));
    let first: Vec<&str> = own.take(MOST_WORDS).collect();
    format!("{}: {}", kind(fault), first.join(" "))
}

/// The processor time of all threads of this process.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    // The clock starts at 0 and its nanoseconds are below a second.
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The limit of a run.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// Processor time.
    Time(Duration),
    /// A number of inputs.
    Inputs(u64),
}

/// The result of a run without a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The number of inputs.
    pub inputs: u64,
    /// The distinct outcomes, sorted.
    pub outcomes: Vec<String>,
}

/// An input on which a reader fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The input.
    pub input: Vec<u8>,
    /// The failure.
    pub what: String,
}

impl Target {
    /// Passes damaged files to the reader.
    ///
    /// # Errors
    /// The first finding.
    pub fn run(&self, seed: u64, limit: Limit) -> Result<Report, Finding> {
        self.run_with(seed, limit, |_| ())
    }

    /// As [`Target::run`], and calls `before` with each input first: some failures end the process.
    fn run_with(&self, seed: u64, limit: Limit, mut before: impl FnMut(&[u8])) -> Result<Report, Finding> {
        let start = processor_time();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let largest = LARGEST_GROWTH * self.seeds.iter().map(Vec::len).max().unwrap_or(0);
        let mut inputs = 0;
        let mut seen = HashSet::new();
        let mut kept = self.seeds.clone();
        for input in &self.seeds {
            before(input);
            seen.insert(self.outcome(input)?);
        }
        let goes_on = |inputs| match limit {
            Limit::Time(time) => processor_time().saturating_sub(start) < time,
            Limit::Inputs(most) => inputs < most,
        };
        while !kept.is_empty() && goes_on(inputs) {
            // Half of the inputs start from valid files: kept inputs are mostly damaged, and
            // readers stop early on doubly damaged ones.
            let from = if rng.random() { &self.seeds } else { &kept };
            let input = mutation::damage(&mut rng, from, self.tokens, largest);
            inputs += 1;
            before(&input);
            if seen.insert(self.outcome(&input)?) {
                kept.push(input);
            }
        }
        let mut outcomes: Vec<String> = seen.into_iter().collect();
        outcomes.sort_unstable();
        Ok(Report { inputs, outcomes })
    }

    /// The outcome of the reader, if it passes all checks.
    fn outcome(&self, input: &[u8]) -> Result<String, Finding> {
        let finding = |what| Finding { input: input.to_vec(), what };
        let start = processor_time();
        let mut outcome = Err(None);
        let memory = allocation_counter::measure(|| {
            let read = panic::catch_unwind(AssertUnwindSafe(|| (self.read)(input)));
            outcome = read.map_err(|panic| {
                let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
                text.or_else(|| panic.downcast_ref::<String>().cloned())
            });
        });
        let outcome = outcome.map_err(|text| finding(format!("panic: {}", text.unwrap_or_default())))?;
        let limit = self.memory.per_byte * input.len() as u64 + self.memory.fixed;
        if memory.bytes_max > limit {
            return Err(finding(format!("{} bytes of memory for {} bytes", memory.bytes_max, input.len())));
        }
        let time = processor_time().saturating_sub(start);
        if time > LONGEST {
            return Err(finding(format!("{time:?} for {} bytes", input.len())));
        }
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(read: fn(&[u8]) -> String) -> Target {
        let seeds = vec![b"a small file".to_vec(), b"another one".to_vec()];
        Target { name: "test", seeds, tokens: &[b"token"], read: Box::new(read), memory: Memory::per_byte(4) }
    }

    #[test]
    fn the_same_seed_gives_the_same_inputs() {
        let sum = |bytes: &[u8]| bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_mul(31) ^ byte).to_string();
        let report = |seed| target(sum).run(seed, Limit::Inputs(40)).unwrap();
        assert_eq!(report(1), report(1));
        assert_eq!(report(1).inputs, 40);
        assert_ne!(report(1).outcomes, report(2).outcomes);
    }

    #[test]
    fn panics_and_wasted_memory_are_found() {
        let panics = |bytes: &[u8]| bytes[4..].len().to_string();
        let finding = target(panics).run(0, Limit::Inputs(10_000)).unwrap_err();
        assert!(finding.input.len() < 4 && finding.what.starts_with("panic: range start"), "{finding:?}");

        let wastes = |bytes: &[u8]| vec![0_u8; usize::from(bytes.contains(&b'!')) << 20].len().to_string();
        let finding = target(wastes).run(0, Limit::Inputs(100_000)).unwrap_err();
        assert!(finding.input.contains(&b'!') && finding.what.contains("bytes of memory"), "{finding:?}");
    }
}
