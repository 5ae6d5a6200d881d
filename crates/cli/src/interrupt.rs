//! Ctrl-C: what is under way is finished, a round or a file, then the command ends.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use fedspd_experiment::shell_word;
use serde_json::json;

use crate::progress::Shown;

static ASKED: AtomicBool = AtomicBool::new(false);

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

pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// What was typed, for a verb that goes on where it was when it is asked again.
pub(crate) fn same_command() -> String {
    let words = std::env::args().skip(1).map(|word| shell_word(&word));
    std::iter::once("fedspd".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}
