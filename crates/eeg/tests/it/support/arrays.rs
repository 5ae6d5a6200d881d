//! Golden files, their values, and random damage.

use std::path::PathBuf;

/// A file under `golden/arrays`.
pub(crate) fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/arrays").join(name)
}

/// The values of the golden arrays, in C order (see the README in that folder).
pub(crate) fn wave(count: usize) -> Vec<f64> {
    (0..count).map(|i| ((7919 * i % 1000) as f64 - 500.0) / 8.0).collect()
}

/// Reorders values from C order to column-major order.
pub(crate) fn column_major(shape: &[usize], values: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; values.len()];
    for (place, &value) in values.iter().enumerate() {
        let (mut rest, mut stride, mut target) = (place, values.len(), 0);
        for &length in shape.iter().rev() {
            stride /= length;
            target += rest % length * stride;
            rest /= length;
        }
        out[target] = value;
    }
    out
}

/// A file with one to eight changed bytes; odd seeds also cut it. The same seed gives the same
/// file.
pub(crate) fn damaged(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    // SplitMix64.
    let mut random = |below: usize| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % below as u64) as usize
    };
    let mut bytes = bytes.to_vec();
    for _ in 0..=random(8) {
        let place = random(bytes.len());
        bytes[place] = match random(4) {
            0 => 0,
            1 => 255,
            2 => bytes[place] ^ (1 << random(8)),
            _ => random(256) as u8,
        };
    }
    if seed % 2 == 1 {
        bytes.truncate(random(bytes.len()));
    }
    bytes
}
