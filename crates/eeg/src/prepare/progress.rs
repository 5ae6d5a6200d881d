//! How far preparation has come.

/// Is told when a file is done. Calls come from several threads.
pub trait Progress: Sync {
    /// One more file is done.
    fn file_done(&self);

    /// Whether to stop: it is asked before every file, and what was written so far is removed.
    fn interrupted(&self) -> bool {
        false
    }
}

/// Nobody looks.
impl Progress for () {
    fn file_done(&self) {}
}
