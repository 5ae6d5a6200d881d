//! How patient a download is.

use std::num::NonZeroU32;
use std::time::Duration;

/// How downloads are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether only files that are there already are used.
    pub offline: bool,
    /// How often each address is tried.
    pub attempts: NonZeroU32,
    /// How long to wait between attempts.
    pub backoff: Backoff,
    /// The longest wait for a connection: name resolution and, separately, everything up to the end of the TLS handshake.
    pub connect_timeout: Duration,
    /// The longest wait for the next bytes. There is no limit to a whole download: large files take as long as they take.
    pub read_timeout: Duration,
    /// How many redirects are followed.
    pub redirects: u32,
    /// Whether the proxy named by `HTTPS_PROXY`, `HTTP_PROXY` or `ALL_PROXY` is used, with the exceptions of `NO_PROXY`.
    pub environment_proxy: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            offline: false,
            attempts: NonZeroU32::MIN.saturating_add(4),
            backoff: Backoff::default(),
            connect_timeout: Duration::from_secs(15),
            read_timeout: Duration::from_secs(30),
            redirects: 10,
            environment_proxy: true,
        }
    }
}

/// Waits that grow from attempt to attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The wait after the first failure.
    pub first: Duration,
    /// By how much each further wait is longer.
    pub factor: u32,
    /// The longest wait, also for servers that ask for a longer one.
    pub cap: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first: Duration::from_secs(1), factor: 2, cap: Duration::from_secs(60) }
    }
}

impl Backoff {
    /// The wait after some failures in a row, of which the last may have come with a wish of the server.
    pub fn wait(&self, failures: u32, wish: Option<Duration>) -> Duration {
        let growth = self.factor.saturating_pow(failures.saturating_sub(1));
        self.first.saturating_mul(growth).max(wish.unwrap_or_default()).min(self.cap)
    }
}
