//! Download settings.

use std::num::NonZeroU32;
use std::time::Duration;

/// Settings of downloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether downloads are switched off, so that only present files are used.
    pub offline: bool,
    /// The number of attempts at each address.
    pub attempts: NonZeroU32,
    /// The wait between attempts.
    pub backoff: Backoff,
    /// The timeout of a connection: for name resolution and, separately, for everything up to the
    /// end of the TLS handshake.
    pub connect_timeout: Duration,
    /// The timeout for the next bytes. A whole download has no timeout, because large files take
    /// long.
    pub read_timeout: Duration,
    /// The number of redirects followed.
    pub redirects: u32,
    /// Whether the proxy named by `HTTPS_PROXY`, `HTTP_PROXY` or `ALL_PROXY` is used, with the
    /// exceptions of `NO_PROXY`.
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

/// Waits that grow with each attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The wait after the first failure.
    pub first: Duration,
    /// The factor by which each further wait grows.
    pub factor: u32,
    /// The longest wait, even if the server requests a longer one.
    pub cap: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first: Duration::from_secs(1), factor: 2, cap: Duration::from_secs(60) }
    }
}

impl Backoff {
    /// The wait after `failures` failures in a row. `wish` is the wait that the server requested
    /// with the last one.
    pub fn wait(&self, failures: u32, wish: Option<Duration>) -> Duration {
        let growth = self.factor.saturating_pow(failures.saturating_sub(1));
        self.first.saturating_mul(growth).max(wish.unwrap_or_default()).min(self.cap)
    }
}
