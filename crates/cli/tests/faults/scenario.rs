//! A command, disturbed at each of its file operations.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::disturb::{Fault, Library, Mode, fedspd};
use super::tree::{Tree, copy};

/// Cases that run at the same time.
const WORKERS: usize = 2;
/// The largest number of broken cases that are printed.
const SHOWN: usize = 10;

/// A command that changes the folder `out`, and the command that a user gives after a fault.
pub(crate) struct Scenario<'a> {
    pub(crate) name: &'static str,
    /// Prepares the working folder.
    pub(crate) before: &'a (dyn Fn(&Path) + Sync),
    pub(crate) command: &'static [&'static str],
    pub(crate) again: &'a (dyn Fn(&Path) -> &'static [&'static str] + Sync),
}

impl Scenario<'_> {
    /// Disturbs every operation in every way.
    ///
    /// # Panics
    /// If a case ends otherwise than it should.
    pub(crate) fn check(&self) {
        let Some(library) = Library::build() else { return };
        let root = scratch();
        let initial = root.path().join("initial");
        fs::create_dir_all(initial.join("out")).unwrap();
        (self.before)(&initial);
        let expected = root.path().join("expected");
        copy(&initial, &expected);
        let operations = library.operations(&expected, self.command);
        let expected = Tree::read(&expected.join("out"));
        let cases: Vec<Fault> = Mode::ALL
            .into_iter()
            .flat_map(|mode| {
                let disturbed = operations.iter().enumerate().filter(move |(_, line)| mode.disturbs(line));
                disturbed.map(move |(place, _)| Fault { mode, at: place + 1 })
            })
            .collect();
        let (next, broken) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for worker in 0..WORKERS {
                let folder = root.path().join(worker.to_string());
                let (next, broken, cases, library, initial, expected, operations) =
                    (&next, &broken, &cases, &library, &initial, &expected, &operations);
                scope.spawn(move || {
                    while let Some(&fault) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                        copy(initial, &folder);
                        if let Err(found) = self.case(library, &folder, fault, expected) {
                            let at = &operations[fault.at - 1];
                            let name = fault.mode.name();
                            let text = format!("{name}, operation {}, {at}: {found}", fault.at);
                            broken.lock().unwrap().push(text);
                        }
                    }
                });
            }
        });
        let count = |mode: Mode| {
            let number = cases.iter().filter(|fault| fault.mode == mode).count();
            format!("{} {number}", mode.name())
        };
        eprintln!("{}: {} operations; {}", self.name, operations.len(), Mode::ALL.map(count).join(", "));
        let broken = broken.into_inner().unwrap();
        let shown = broken[..broken.len().min(SHOWN)].join("\n");
        assert!(broken.is_empty(), "{} of {} cases are broken:\n{shown}", broken.len(), cases.len());
    }

    fn case(&self, library: &Library, folder: &Path, fault: Fault, expected: &Tree) -> Result<(), String> {
        let (code, message) = library.disturbed(folder, self.command, fault);
        match fault.mode.cause() {
            None if code.is_none() && message.is_empty() => {}
            // The failure was harmless, if nothing is missing.
            Some(_) if code == Some(0) => return expected.compare(&folder.join("out")),
            Some(cause) if code == Some(2) && is_clear(&message, cause) => {}
            _ => return Err(format!("exit code {code:?}, {message}")),
        }
        let (code, message) = fedspd(folder, (self.again)(folder));
        if (code, &*message) != (Some(0), "") {
            return Err(format!("then exit code {code:?}, {message}"));
        }
        expected.compare(&folder.join("out"))
    }
}

/// Whether a message is one sentence with a path and the cause, and perhaps a hint.
fn is_clear(message: &str, cause: &str) -> bool {
    let mut lines = message.lines();
    let sentence = lines.next().unwrap_or_default();
    let rest: Vec<&str> = lines.collect();
    let hinted = matches!(rest[..], [] | ["", _])
        && rest.iter().all(|line| line.is_empty() || line.starts_with("hint: "));
    sentence.starts_with("error: ") && sentence.contains("out") && sentence.contains(cause) && hinted
}

/// Returns a temporary folder, in memory if possible: the tests synchronise thousands of files.
fn scratch() -> tempfile::TempDir {
    let memory = PathBuf::from("/dev/shm");
    tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()).unwrap()
}
