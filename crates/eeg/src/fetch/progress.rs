//! What is going on, for whoever shows it.

use std::time::Duration;

use super::{Fetched, Obstacle, RemoteFile};

/// Is told what is going on; what is not of interest need not be implemented.
#[allow(unused_variables)] // their names are documentation
pub trait Progress {
    /// Another process is downloading the file: this one waits until it is done.
    fn waiting(&mut self, file: &RemoteFile) {}

    /// An address is tried, for the `number`-th of at most `limit` times.
    fn attempt(&mut self, file: &RemoteFile, url: &str, number: u32, limit: u32) {}

    /// So many bytes of the file are there, of a total that the server may have told. It goes back when a download starts over.
    fn advanced(&mut self, file: &RemoteFile, bytes: u64, total: Option<u64>) {}

    /// An attempt failed, and the next one comes after a wait.
    fn retrying(&mut self, file: &RemoteFile, obstacle: &Obstacle, wait: Duration) {}

    /// The address is given up, and there is a mirror to try.
    fn next_address(&mut self, file: &RemoteFile, obstacle: &Obstacle) {}

    /// The file is there and right.
    fn done(&mut self, file: &RemoteFile, fetched: &Fetched) {}
}

/// Shows nothing.
impl Progress for () {}
