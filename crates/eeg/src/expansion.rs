//! How far the bytes of a file may expand, on the disk and in memory: a file of a kilobyte must not fill it.

use std::fmt;

/// What deflate can do at best: two bits for a copy of 258 bytes.
const DEFLATE_LIMIT: u64 = 1032;
/// Up to here only deflate's own limit counts: labels and other small arrays are often constant.
const FREE: u64 = 4 << 20;
/// Beyond it: what was measured has noise, and noise does not shrink a hundredfold.
const LARGEST_RATIO: u64 = 200;

/// A declared expansion beyond what is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// The compressed bytes that are there.
    pub compressed: u64,
    /// What they declare to expand to.
    pub declared: u64,
}

impl Expansion {
    /// Checks a declared size against the compressed bytes that are there.
    pub(crate) fn check(compressed: u64, declared: u64) -> Result<(), Self> {
        if declared <= most(compressed) { Ok(()) } else { Err(Self { compressed, declared }) }
    }
}

/// The most that so many compressed bytes may expand to.
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
