//! Shared helpers of the tests.

pub(crate) mod arrays;
pub(crate) mod edf;
pub(crate) mod mat;
pub(crate) mod npz;
pub(crate) mod server;

use std::path::PathBuf;

use proptest::test_runner::{Config, RngSeed};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

/// Property tests with a fixed seed: the same cases everywhere. `PROPTEST_RNG_SEED` explores
/// others.
pub(crate) fn cases(cases: u32) -> Config {
    let default = Config::default();
    let rng_seed = if default.rng_seed == RngSeed::Random { RngSeed::Fixed(0) } else { default.rng_seed };
    Config { cases, rng_seed, failure_persistence: None, ..default }
}

pub(crate) fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// The folder of a golden case.
pub(crate) fn golden(case: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden").join(case)
}

/// Shape and numbers of a golden array.
pub(crate) fn array<T: npyz::Deserialize>(case: &str, name: &str) -> (Vec<usize>, Vec<T>) {
    let bytes = std::fs::read(golden(case).join(format!("{name}.npy"))).unwrap();
    let file = npyz::NpyFile::new(&bytes[..]).unwrap();
    let shape = file.shape().iter().map(|&length| length as usize).collect();
    (shape, file.into_vec().unwrap())
}

/// Transposes a matrix.
pub(crate) fn transposed(rows: usize, columns: usize, matrix: &[f64]) -> Vec<f64> {
    assert_eq!(matrix.len(), rows * columns);
    (0..columns).flat_map(|j| (0..rows).map(move |i| matrix[i * columns + j])).collect()
}

/// The largest difference, relative to the largest number.
pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let scale = b.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    a.iter().zip(b).fold(0.0_f64, |largest, (a, b)| largest.max((a - b).abs())) / scale
}

/// Seeded standard normal numbers.
pub(crate) fn noise(seed: u64, count: usize) -> Vec<f64> {
    let mut numbers = vec![0.0; count];
    fedspd_manifold::fill_standard_normal(&mut rng(seed), &mut numbers);
    numbers
}
