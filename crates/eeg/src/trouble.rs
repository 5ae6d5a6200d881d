//! Causes of a failed read: the system or the content.

use std::io;

/// Either cause, before the path is known.
#[derive(Debug)]
pub(crate) enum Trouble<F> {
    /// The system could not read or write.
    File(io::Error),
    /// The content is at fault.
    Fault(F),
}

impl<F> From<io::Error> for Trouble<F> {
    fn from(source: io::Error) -> Self {
        Self::File(source)
    }
}

/// Whether an error of a decoder is about the content. Errors of the system carry an error code.
pub(crate) fn is_content_error(error: &io::Error) -> bool {
    error.raw_os_error().is_none()
}

/// The reason in an error of a decoder.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "it ends early".to_owned(),
        _ => error.to_string(),
    }
}
