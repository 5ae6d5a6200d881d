//! Progress of the preparation.

/// Receives progress reports, from several threads.
pub trait Progress: Sync {
    /// One more file is done.
    fn file_done(&self);

    /// Whether to stop. It is called before every file; a stop removes the output written so far.
    fn interrupted(&self) -> bool {
        false
    }
}

/// Reports nothing.
impl Progress for () {
    fn file_done(&self) {}
}
