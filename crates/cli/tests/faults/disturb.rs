//! Processes whose file operations are disturbed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A kind of fault; see `preload.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Kill,
    Tear,
    Fail,
    Full,
    ReadOnly,
}

impl Mode {
    pub(crate) const ALL: [Self; 5] = [Self::Kill, Self::Tear, Self::Fail, Self::Full, Self::ReadOnly];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Tear => "tear",
            Self::Fail => "fail",
            Self::Full => "full",
            Self::ReadOnly => "read-only",
        }
    }

    /// Whether the fault differs from that of the next operation. Only writes are torn, and only
    /// operations that need space notice a full disk.
    pub(crate) fn disturbs(self, operation: &str) -> bool {
        match self {
            Self::Kill | Self::Fail | Self::ReadOnly => true,
            Self::Tear => operation.starts_with("write"),
            Self::Full => ["write", "create", "mkdir"].iter().any(|kind| operation.starts_with(kind)),
        }
    }

    /// The cause in the message; none if the process ends without one.
    pub(crate) fn cause(self) -> Option<&'static str> {
        match self {
            Self::Kill | Self::Tear => None,
            Self::Fail => Some("Input/output error"),
            Self::Full => Some("No space left on device"),
            Self::ReadOnly => Some("Read-only file system"),
        }
    }
}

/// A fault of one operation, counted from 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    pub(crate) mode: Mode,
    pub(crate) at: usize,
}

/// The compiled `preload.c`.
pub(crate) struct Library {
    folder: tempfile::TempDir,
}

impl Library {
    /// Compiles the library. Without a compiler, it says so and returns none.
    pub(crate) fn build() -> Option<Self> {
        let library = Self { folder: tempfile::tempdir().unwrap() };
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/preload.c");
        let mut compile = Command::new("cc");
        compile.args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"]).arg(library.path()).arg(source);
        let Ok(status) = compile.status() else {
            eprintln!("skipped: there is no C compiler");
            return None;
        };
        assert!(status.success());
        Some(library)
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("faults.so")
    }

    /// Runs a command undisturbed. Returns its operations in the folder `out`, such as
    /// `rename /run/results.csv`.
    pub(crate) fn operations(&self, folder: &Path, arguments: &[&str]) -> Vec<String> {
        let log = folder.join("operations.log");
        let mut command = self.command(folder, arguments);
        let output = command.env("FAULTS_LOG", &log).env("FAULTS_AT", "0").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let operations = fs::read_to_string(&log).unwrap();
        fs::remove_file(log).unwrap();
        operations.lines().map(str::to_owned).collect()
    }

    /// Runs a command with a fault. Returns its exit code, none if it was killed, and its standard
    /// error.
    pub(crate) fn disturbed(&self, folder: &Path, arguments: &[&str], fault: Fault) -> (Option<i32>, String) {
        let mut command = self.command(folder, arguments);
        command.env("FAULTS_AT", fault.at.to_string()).env("FAULTS_MODE", fault.mode.name());
        outcome(&mut command)
    }

    fn command(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = plain(folder, arguments);
        command.env("LD_PRELOAD", self.path()).env("FAULTS_FOLDER", folder.join("out"));
        command
    }
}

/// Runs a command undisturbed. Returns its exit code and its standard error.
pub(crate) fn fedspd(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    outcome(&mut plain(folder, arguments))
}

fn plain(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("fedspd"));
    command.current_dir(folder).args(arguments);
    command
}

fn outcome(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}
