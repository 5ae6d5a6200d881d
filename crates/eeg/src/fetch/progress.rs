//! Progress reports of downloads.

use std::time::Duration;

use super::{Fetched, Obstacle, RemoteFile};

/// Receives progress reports. Every method has an empty default.
#[allow(unused_variables)] // their names are documentation
pub trait Progress {
    /// Another process is downloading the file, and this one waits.
    fn waiting(&mut self, file: &RemoteFile) {}

    /// Attempt `number` of at most `limit` at an address begins.
    fn attempt(&mut self, file: &RemoteFile, url: &str, number: u32, limit: u32) {}

    /// The file has `bytes` bytes so far. `total` is known if the server sent it. The count goes
    /// back when a download starts over.
    fn advanced(&mut self, file: &RemoteFile, bytes: u64, total: Option<u64>) {}

    /// An attempt failed, and the next one follows after a wait.
    fn retrying(&mut self, file: &RemoteFile, obstacle: &Obstacle, wait: Duration) {}

    /// All attempts at an address failed, and a mirror is next.
    fn next_address(&mut self, file: &RemoteFile, obstacle: &Obstacle) {}

    /// The file is present and correct.
    fn done(&mut self, file: &RemoteFile, fetched: &Fetched) {}
}

/// Reports nothing.
impl Progress for () {}
