//! Who takes part in a round.

use fedspd_nn::{Purpose, Seed, shuffle};

/// The clients of a round: `max(1, floor(participation * clients))` of them, uniformly and without replacement, in ascending order.
///
/// They depend on the seed and the round alone, so that methods that are compared ask the same clients.
pub fn participants(seed: Seed, round: u32, clients: usize, participation: f64) -> Vec<usize> {
    let mut everyone: Vec<usize> = (0..clients).collect();
    let count = participant_count(clients, participation);
    if count < clients {
        shuffle(&mut seed.stream(Purpose::Sampling).round(round).item(0), &mut everyone);
        everyone.truncate(count);
        everyone.sort_unstable();
    }
    everyone
}

/// How many clients take part in a round.
pub(crate) fn participant_count(clients: usize, participation: f64) -> usize {
    // The product may fall a rounding error short of the whole number that is meant (0.29 * 100).
    let count = (participation * clients as f64 * (1.0 + 4.0 * f64::EPSILON)).floor() as usize;
    count.max(1).min(clients)
}
