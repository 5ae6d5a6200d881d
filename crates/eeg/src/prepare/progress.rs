//! How far preparation has come.

/// Is told when a file is done. Calls come from several threads.
pub trait Progress: Sync {
    /// One more file is done.
    fn file_done(&self);
}

/// Nobody looks.
impl Progress for () {
    fn file_done(&self) {}
}
