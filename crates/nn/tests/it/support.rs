//! Test networks, data and finite differences.

use fedspd_manifold::{Matrix, Real, Stiefel, Vectorisation, fill_standard_normal};
use fedspd_nn::{Examples, Model, ParamSet, Seed, SpdNet, SpdNetConfig, SpdTrials};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

pub(crate) const HEADS: [Vectorisation; 3] =
    [Vectorisation::Vec, Vectorisation::Vech, Vectorisation::IsometricVech];

pub(crate) fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub(crate) fn gaussian(rng: &mut ChaCha8Rng, n: usize) -> Vec<f64> {
    let mut out = vec![0.0; n];
    fill_standard_normal(rng, &mut out);
    out
}

/// Returns a symmetric matrix with these eigenvalues and random eigenvectors.
pub(crate) fn with_spectrum(rng: &mut ChaCha8Rng, eigenvalues: &[f64]) -> Vec<f64> {
    let n = eigenvalues.len();
    let q = Stiefel::<f64>::new(n, n).unwrap().random(rng).unwrap();
    let entry = |i, j| (0..n).map(|k| q[(i, k)] * eigenvalues[k] * q[(j, k)]).sum::<f64>();
    Matrix::from_fn(n, n, |i, j| if j <= i { entry(i, j) } else { entry(j, i) }).as_slice().to_vec()
}

/// Returns trials that cycle through these spectra and through the labels.
pub(crate) fn trials(
    rng: &mut ChaCha8Rng,
    config: &SpdNetConfig,
    count: usize,
    spectrum: impl Fn(usize, &mut ChaCha8Rng) -> Vec<f64>,
) -> SpdTrials<f64> {
    let n = config.dimensions[0];
    let mut matrices = Vec::new();
    for i in 0..count * config.inputs {
        let eigenvalues = spectrum(i, rng);
        matrices.extend(with_spectrum(rng, &eigenvalues));
    }
    let labels = (0..count).map(|i| i * 7 % config.classes).collect();
    SpdTrials::new(n, config.inputs, config.classes, matrices, labels).unwrap()
}

/// Returns eigenvalues spaced evenly on a logarithmic scale, with small shifts so that no two
/// matrices share a spectrum.
pub(crate) fn distinct(n: usize) -> impl Fn(usize, &mut ChaCha8Rng) -> Vec<f64> {
    move |_, rng| {
        let noise = gaussian(rng, n);
        (0..n).map(|i| (3.0 * i as f64 / n as f64 - 1.0 + 0.05 * noise[i]).exp()).collect()
    }
}

/// Returns generic parameters, away from the initial values.
pub(crate) fn parameters(net: &SpdNet<f64>, seed: u64) -> ParamSet<f64> {
    let mut parameters = net.initial(Seed(seed)).unwrap();
    let noise = gaussian(&mut rng(seed), parameters.values().len());
    let layout = parameters.layout().clone();
    for name in ["head.weight", "head.bias"] {
        let range = layout.get(name).unwrap().range();
        for (value, noise) in parameters.get_mut(name).unwrap().iter_mut().zip(&noise[range]) {
            *value += 0.3 * noise;
        }
    }
    parameters
}

pub(crate) fn all(examples: &Examples<impl Real>) -> Vec<usize> {
    (0..examples.len()).collect()
}

pub(crate) fn loss_and_gradient<T: Real>(
    net: &SpdNet<T>,
    parameters: &ParamSet<T>,
    examples: &Examples<T>,
) -> (T, Vec<T>)
where
    SpdNet<T>: Model<T, Examples = Examples<T>>,
{
    let mut gradient = vec![T::ZERO; parameters.values().len()];
    let mut workspace = net.workspace(1).unwrap();
    let batch = all(examples);
    let loss =
        net.loss_and_gradient(parameters, examples, &batch, None, &mut workspace, &mut gradient).unwrap();
    (loss, gradient)
}

pub(crate) fn logits<T: Real>(net: &SpdNet<T>, parameters: &ParamSet<T>, examples: &Examples<T>) -> Vec<T>
where
    SpdNet<T>: Model<T, Examples = Examples<T>>,
{
    let batch = all(examples);
    let mut out = vec![T::ZERO; batch.len() * net.config().classes];
    let mut workspace = net.workspace(1).unwrap();
    net.logits(parameters, examples, &batch, &mut workspace, &mut out).unwrap();
    out
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(crate) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// Returns the largest difference between two slices.
pub(crate) fn gap(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

pub(crate) fn bits<T: Real>(numbers: &[T]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_f64().to_bits()).collect()
}

/// Reads the numbers of a golden array.
pub(crate) fn golden(path: &str) -> Vec<f64> {
    let path = format!("{}/../../golden/{path}", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    npyz::NpyFile::new(&bytes[..]).unwrap().into_vec().unwrap()
}
