//! Warnings on standard error.

use std::io::Write;

use crate::printable::printable;

/// Prints warnings, one a line. They stop nothing, not even if standard error is closed.
pub(crate) fn warn(texts: &[String]) {
    for text in texts {
        let _ = writeln!(std::io::stderr(), "warning: {}", printable(text));
    }
}
