//! Ctrl-C: the current round or file is finished, then the command ends.

use std::ffi::OsString;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use fedspd_experiment::shell_word;
use serde_json::json;

use crate::failure::Failure;
use crate::progress::Shown;

static ASKED: AtomicBool = AtomicBool::new(false);
static TYPED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Remembers the command line and clears an earlier Ctrl-C, because a process may run several
/// commands.
pub(crate) fn begin(words: &[OsString]) {
    ASKED.store(false, Ordering::SeqCst);
    *TYPED.lock().unwrap_or_else(PoisonError::into_inner) =
        words.iter().skip(1).map(|word| shell_word(&word.to_string_lossy())).collect();
}

/// Listens to Ctrl-C from now on, and says that `what` is finished first. The second Ctrl-C ends
/// the process at once; checkpoints are complete then too.
pub(crate) fn listen(what: &'static str, shown: Shown) {
    // Without a handler the process ends at once, which is safe too.
    let _ = ctrlc::set_handler(move || {
        if ASKED.swap(true, Ordering::SeqCst) {
            #[allow(clippy::exit)] // requested twice
            std::process::exit(130);
        }
        let note = format!("finishing {what}; press Ctrl-C again to stop immediately");
        let note = if shown == Shown::Json { json!({ "note": note }).to_string() } else { note };
        let _ = writeln!(std::io::stderr(), "{note}");
    });
}

/// Ends the process at the first Ctrl-C, and says how to continue. For work that can stop at any
/// time.
pub(crate) fn leave(json: bool) {
    let _ = ctrlc::set_handler(move || {
        let failure = Failure::DownloadInterrupted { resume: same_command() };
        failure.tell(json);
        #[allow(clippy::exit)] // no work can be lost
        std::process::exit(failure.exit_code().into());
    });
}

pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// Returns the command line, for commands that continue when they are run again.
pub(crate) fn same_command() -> String {
    let words = TYPED.lock().unwrap_or_else(PoisonError::into_inner);
    std::iter::once("fedspd").chain(words.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
}
