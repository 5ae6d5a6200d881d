//! Client sampling.

use fedspd_nn::{Purpose, Seed, shuffle};

/// Draws the clients of a round, in ascending order: `max(1, floor(participation * clients))` of
/// them, uniformly and without replacement.
///
/// The draw depends only on the seed and the round, so that compared methods ask the same clients.
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

/// Number of clients in a round.
pub(crate) fn participant_count(clients: usize, participation: f64) -> usize {
    // Rounding may put the product just below the intended whole number (0.29 * 100).
    let count = (participation * clients as f64 * (1.0 + 4.0 * f64::EPSILON)).floor() as usize;
    count.max(1).min(clients)
}
