//! Bootstrap interval of a mean.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Number of bootstrap draws.
pub const DRAWS: usize = 10_000;
/// Share of the bootstrap means inside the interval.
pub const LEVEL: f64 = 0.95;
/// Fixed seed, so that the same differences always give the same interval.
const SEED: u64 = 0;

/// Returns the percentile interval of the mean; none for fewer than two values.
pub(super) fn interval(values: &[f64]) -> Option<[f64; 2]> {
    if values.len() < 2 {
        return None;
    }
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let count = values.len() as u64;
    let mut means: Vec<f64> = (0..DRAWS)
        .map(|_| {
            // The high half of a product with a 64-bit number: uniform up to count / 2^64.
            let draw = |random: &mut ChaCha8Rng| {
                ((u128::from(random.next_u64()) * u128::from(count)) >> 64) as usize
            };
            (0..count).map(|_| values[draw(&mut random)]).sum::<f64>() / count as f64
        })
        .collect();
    means.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - LEVEL) / 2.0;
    Some([quantile(&means, tail), quantile(&means, 1.0 - tail)])
}

/// Returns a quantile of sorted values by linear interpolation; NaN without values.
pub(super) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = share * last as f64;
    let below = place.floor();
    let (low, high) = (sorted[below as usize], sorted[place.ceil() as usize]);
    low + (place - below) * (high - low)
}
