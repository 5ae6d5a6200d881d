//! The seed tree: every random stream, derived from one seed and its place of use.
//!
//! The path `(seed, purpose, round, client, epoch)` names a stream and is the key of its ChaCha
//! generator. Different paths therefore give independent streams. No stream depends on how many
//! numbers another stream has drawn. Changing one method does not change the random numbers of
//! another. There is no global generator.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Purpose of a stream. The numbers are part of the format and never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Purpose {
    /// Initial values of the parameters.
    Initialisation = 1,
    /// The order of the trials in an epoch.
    Shuffle = 2,
    /// The dropped features.
    Dropout = 3,
    /// Generated data.
    Generator = 4,
    /// The clients that take part in a round.
    Sampling = 5,
    /// The assignment of subjects to clients.
    Partition = 6,
    /// The split into training, validation and test trials.
    Split = 7,
}

/// The root of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seed(pub u64);

impl Seed {
    /// Returns the stream for a purpose, at round, client and epoch 0.
    pub fn stream(self, purpose: Purpose) -> Stream {
        Stream { seed: self.0, purpose, round: 0, client: 0, epoch: 0 }
    }
}

/// A path in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stream {
    seed: u64,
    purpose: Purpose,
    round: u32,
    client: u32,
    epoch: u32,
}

impl Stream {
    /// Returns the same path with another purpose.
    pub fn purpose(self, purpose: Purpose) -> Self {
        Self { purpose, ..self }
    }

    /// Returns the same path in another round.
    pub fn round(self, round: u32) -> Self {
        Self { round, ..self }
    }

    /// Returns the same path at another client.
    pub fn client(self, client: u32) -> Self {
        Self { client, ..self }
    }

    /// Returns the same path in another epoch.
    pub fn epoch(self, epoch: u32) -> Self {
        Self { epoch, ..self }
    }

    /// Creates the generator of one item of the stream (a trial, a parameter). Items are
    /// independent of each other and of other streams.
    pub fn item(self, item: u64) -> ChaCha8Rng {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.seed.to_le_bytes());
        let path = [self.purpose as u32, self.round, self.client, self.epoch];
        for (bytes, number) in key[8..24].chunks_exact_mut(4).zip(path) {
            bytes.copy_from_slice(&number.to_le_bytes());
        }
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(item);
        rng
    }
}

/// Shuffles in place (Fisher and Yates). Own code, because a change in a library would change every
/// result.
pub fn shuffle<E>(rng: &mut impl Rng, items: &mut [E]) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(rng, last as u64 + 1) as usize);
    }
}

/// Draws a uniform number below `bound` (Lemire 2019, with rejection).
fn below(rng: &mut impl Rng, bound: u64) -> u64 {
    let reject_below = bound.wrapping_neg() % bound;
    loop {
        let product = u128::from(rng.random::<u64>()) * u128::from(bound);
        if product as u64 >= reject_below {
            return (product >> 64) as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_of_the_path_changes_the_stream() {
        let root = Seed(7).stream(Purpose::Shuffle);
        let others = [
            Seed(8).stream(Purpose::Shuffle),
            Seed(7).stream(Purpose::Dropout),
            root.round(1),
            root.client(1),
            root.epoch(1),
        ];
        let first = |stream: Stream| stream.item(0).random::<u64>();
        assert_eq!(first(root), first(Seed(7).stream(Purpose::Shuffle)));
        for (i, &other) in others.iter().enumerate() {
            assert_ne!(first(root), first(other));
            for &another in &others[..i] {
                assert_ne!(first(another), first(other));
            }
        }
        assert_ne!(root.item(0).random::<u64>(), root.item(1).random::<u64>());
    }

    #[test]
    fn shuffles_are_permutations_and_uniform() {
        let mut counts = [[0_u32; 4]; 4];
        for item in 0..24_000 {
            let mut order = [0, 1, 2, 3];
            shuffle(&mut Seed(0).stream(Purpose::Shuffle).item(item), &mut order);
            let mut sorted = order;
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3]);
            for (place, &value) in order.iter().enumerate() {
                counts[place][value] += 1;
            }
        }
        // 6000 expected, standard deviation 67.
        assert!(counts.iter().flatten().all(|count| (5650..6350).contains(count)), "{counts:?}");
    }

    /// These numbers are fixed: a change here changes every published result.
    #[test]
    fn the_streams_are_what_they_always_were() {
        let rng = &mut Seed(0).stream(Purpose::Shuffle).round(1).client(2).epoch(3).item(4);
        let numbers: [u64; 2] = [rng.random(), rng.random()];
        let mut order = [0, 1, 2, 3, 4, 5, 6, 7];
        shuffle(rng, &mut order);
        assert_eq!((numbers, order), PROMISED);
    }

    const PROMISED: ([u64; 2], [usize; 8]) =
        ([6_342_792_987_059_591_535, 515_675_925_105_429_136], [3, 2, 5, 0, 7, 4, 6, 1]);
}
