//! Bootstrap intervals.

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
    let mean = |places: &[usize]| places.iter().map(|&place| values[place]).sum::<f64>();
    bootstrap(values.len(), |places| mean(places) / values.len() as f64)
}

/// Returns the percentile interval of a statistic of `count` units, which are drawn with
/// replacement; none for fewer than two units. The statistic gets the indices of the drawn units.
pub fn bootstrap(count: usize, statistic: impl Fn(&[usize]) -> f64) -> Option<[f64; 2]> {
    if count < 2 {
        return None;
    }
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    // The high half of a product with a 64-bit number: uniform up to count / 2^64.
    let mut draw = || ((u128::from(random.next_u64()) * count as u128) >> 64) as usize;
    let mut places = vec![0; count];
    let mut values: Vec<f64> = (0..DRAWS)
        .map(|_| {
            places.fill_with(&mut draw);
            statistic(&places)
        })
        .collect();
    values.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - LEVEL) / 2.0;
    Some([quantile(&values, tail), quantile(&values, 1.0 - tail)])
}

/// Returns a quantile of sorted values by linear interpolation; NaN without values.
pub(super) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = share * last as f64;
    let below = place.floor();
    let (low, high) = (sorted[below as usize], sorted[place.ceil() as usize]);
    low + (place - below) * (high - low)
}
