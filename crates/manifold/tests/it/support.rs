//! Test inputs and plain reference arithmetic.

use fedspd_manifold::{Matrix, Real, Stiefel, fill_standard_normal};
use proptest::test_runner::{Config as ProptestConfig, RngSeed};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

/// Shapes for the tests of Stiefel properties.
pub(crate) const SHAPES: [(usize, usize); 5] = [(5, 5), (12, 5), (64, 18), (60, 22), (7, 1)];

/// Batch sizes for the tests of batched operations.
pub(crate) const BATCHES: [usize; 5] = [1, 7, 8, 64, 139];

/// Configures property tests with a fixed seed, so that cases are the same everywhere.
/// `PROPTEST_RNG_SEED` selects others.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    let rng_seed = if default.rng_seed == RngSeed::Random { RngSeed::Fixed(0) } else { default.rng_seed };
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..default }
}

pub(crate) fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub(crate) fn gaussian(rng: &mut ChaCha8Rng, rows: usize, columns: usize) -> Matrix<f64> {
    let mut matrix = Matrix::zeros(rows, columns);
    fill_standard_normal(rng, matrix.as_mut_slice());
    matrix
}

pub(crate) fn point(rng: &mut ChaCha8Rng, p: usize, k: usize) -> Matrix<f64> {
    Stiefel::new(p, k).unwrap().random(rng).unwrap()
}

/// Draws a tangent vector of the given norm.
pub(crate) fn tangent(rng: &mut ChaCha8Rng, w: &Matrix<f64>, norm: f64) -> Matrix<f64> {
    let x = project(w, &gaussian(rng, w.rows(), w.columns()));
    let scale = norm / x.norm().max(f64::MIN_POSITIVE);
    x.map(|x| x * scale)
}

pub(crate) fn project(w: &Matrix<f64>, x: &Matrix<f64>) -> Matrix<f64> {
    let mut out = Matrix::zeros(w.rows(), w.columns());
    let mut stiefel = Stiefel::new(w.rows(), w.columns()).unwrap();
    stiefel.project(w.as_slice(), x.as_slice(), out.as_mut_slice()).unwrap();
    out
}

pub(crate) fn symmetric(rng: &mut ChaCha8Rng, n: usize) -> Matrix<f64> {
    let a = gaussian(rng, n, n);
    Matrix::from_fn(n, n, |i, j| 0.5 * (a[(i, j)] + a[(j, i)]))
}

/// Returns a symmetric matrix with these eigenvalues and random eigenvectors.
pub(crate) fn with_spectrum(rng: &mut ChaCha8Rng, eigenvalues: &[f64]) -> Matrix<f64> {
    let n = eigenvalues.len();
    let q = point(rng, n, n);
    let a = mul(&Matrix::from_fn(n, n, |i, j| q[(i, j)] * eigenvalues[j]), &q.transpose());
    Matrix::from_fn(n, n, |i, j| 0.5 * (a[(i, j)] + a[(j, i)]))
}

/// Returns `n` eigenvalues spaced evenly on a logarithmic scale.
pub(crate) fn geometric_spectrum(n: usize, smallest: f64, largest: f64) -> Vec<f64> {
    let ratio = (largest / smallest).powf(1.0 / (n.max(2) - 1) as f64);
    (0..n).map(|i| smallest * ratio.powi(i32::try_from(i).unwrap())).collect()
}

pub(crate) fn mul<T: Real>(a: &Matrix<T>, b: &Matrix<T>) -> Matrix<T> {
    assert_eq!(a.columns(), b.rows());
    let mut out = Matrix::zeros(a.rows(), b.columns());
    for i in 0..a.rows() {
        for k in 0..a.columns() {
            for j in 0..b.columns() {
                out[(i, j)] += a[(i, k)] * b[(k, j)];
            }
        }
    }
    out
}

pub(crate) fn add(a: &Matrix<f64>, b: &Matrix<f64>) -> Matrix<f64> {
    a.zip(b, |a, b| a + b)
}

pub(crate) fn sub(a: &Matrix<f64>, b: &Matrix<f64>) -> Matrix<f64> {
    a.zip(b, |a, b| a - b)
}

pub(crate) fn scaled(a: &Matrix<f64>, factor: f64) -> Matrix<f64> {
    a.map(|a| a * factor)
}

pub(crate) fn distance(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
    sub(a, b).norm()
}

pub(crate) fn inner(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
    a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| a * b).sum()
}

/// Returns `|W^T W - I|`.
pub(crate) fn infeasibility(w: &Matrix<f64>) -> f64 {
    distance(&mul(&w.transpose(), w), &Matrix::identity(w.columns()))
}

/// Returns the singular values of a matrix, largest first, from another library.
pub(crate) fn singular_values(a: &Matrix<f64>) -> Vec<f64> {
    let a = faer::Mat::from_fn(a.rows(), a.columns(), |i, j| a[(i, j)]);
    a.singular_values().unwrap()
}

/// Returns the eigenvalues of a symmetric matrix, ascending, from another library.
pub(crate) fn eigenvalues(a: &Matrix<f64>) -> Vec<f64> {
    let a = faer::Mat::from_fn(a.rows(), a.columns(), |i, j| a[(i, j)]);
    a.self_adjoint_eigenvalues(faer::Side::Lower).unwrap()
}

pub(crate) fn bits<T: Real>(numbers: &[T]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_f64().to_bits()).collect()
}

/// Reads one array of the golden fixtures.
pub(crate) fn golden(case: &str, file: &str) -> Vec<f64> {
    let path = format!("{}/../../golden/{case}/{file}.npy", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    npyz::NpyFile::new(&bytes[..]).unwrap().into_vec().unwrap()
}

pub(crate) fn square(entries: Vec<f64>) -> Matrix<f64> {
    let n = entries.len().isqrt();
    Matrix::from_rows(n, n, entries).unwrap()
}
