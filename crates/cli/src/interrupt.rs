//! Ctrl-C: what is under way is finished, a round or a file, then the command ends.

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

/// Remembers what was typed. A process may run several commands, and what stopped one has no say in the next.
pub(crate) fn begin(words: &[OsString]) {
    ASKED.store(false, Ordering::SeqCst);
    *TYPED.lock().unwrap_or_else(PoisonError::into_inner) =
        words.iter().skip(1).map(|word| shell_word(&word.to_string_lossy())).collect();
}

/// Listens to Ctrl-C from now on, and says `what` is finished first. The second time it ends the process at once; checkpoints are whole then too.
pub(crate) fn listen(what: &'static str, shown: Shown) {
    // Without a handler the process simply ends, which is safe as well.
    let _ = ctrlc::set_handler(move || {
        if ASKED.swap(true, Ordering::SeqCst) {
            #[allow(clippy::exit)] // asked for twice
            std::process::exit(130);
        }
        let note = format!("finishing {what}; press again to stop at once");
        let note = if shown == Shown::Json { json!({ "note": note }).to_string() } else { note };
        let _ = writeln!(std::io::stderr(), "{note}");
    });
}

/// Ends the process at the first Ctrl-C, and says how to go on: for work that is safe at any moment.
pub(crate) fn leave(json: bool) {
    let _ = ctrlc::set_handler(move || {
        let failure = Failure::Left { resume: same_command() };
        failure.tell(json);
        #[allow(clippy::exit)] // nothing is under way that could be lost
        std::process::exit(failure.exit_code().into());
    });
}

pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// What was typed, for a verb that goes on where it was when it is asked again.
pub(crate) fn same_command() -> String {
    let words = TYPED.lock().unwrap_or_else(PoisonError::into_inner);
    std::iter::once("fedspd").chain(words.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
}
