//! Limits on the expansion of compressed data: a file of a kilobyte must not fill the disk or the
//! memory.

use std::fmt;

/// The best ratio of deflate: two bits for a copy of 258 bytes.
const DEFLATE_LIMIT: u64 = 1032;
/// Up to this size only deflate's own limit applies: labels and other small arrays are often
/// constant.
const FREE: u64 = 4 << 20;
/// The limit beyond it: measured signals contain noise, and noise does not compress a hundredfold.
const LARGEST_RATIO: u64 = 200;

/// A declared expansion above the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// The compressed bytes present.
    pub compressed: u64,
    /// The declared size after expansion.
    pub declared: u64,
}

impl Expansion {
    /// Checks a declared size against the compressed bytes present.
    pub(crate) fn check(compressed: u64, declared: u64) -> Result<(), Self> {
        if declared <= most(compressed) { Ok(()) } else { Err(Self { compressed, declared }) }
    }
}

/// The largest accepted expansion of that many compressed bytes.
fn most(compressed: u64) -> u64 {
    let by_deflate = compressed.saturating_mul(DEFLATE_LIMIT).min(FREE);
    by_deflate.max(compressed.saturating_mul(LARGEST_RATIO))
}

impl fmt::Display for Expansion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { compressed, declared } = self;
        write!(
            f,
            "declares {declared} bytes in {compressed} compressed ones; at most {} are accepted \
             ({DEFLATE_LIMIT} times as many up to {FREE}, {LARGEST_RATIO} times beyond)",
            most(*compressed)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_deflates_own_then_free_then_a_ratio() {
        assert_eq!(most(0), 0);
        assert_eq!(most(100), 103_200);
        assert_eq!(most(10_000), FREE);
        assert_eq!(most(FREE), FREE * LARGEST_RATIO);
        assert_eq!(most(u64::MAX), u64::MAX);
    }
}
