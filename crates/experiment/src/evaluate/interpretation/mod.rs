//! The interpretation of a trained SPDnet, for the figures of a report.

mod head;
mod plane;
mod spread;

use fedspd_eeg::Covariances;
use fedspd_manifold::simd::Simd;
use fedspd_manifold::{Left, Real, SpectralFunction, SpectralMap, SymmetricEigen, Vectorisation, multiply};
use fedspd_nn::{Error, ParamSet, SpdNetConfig};
use fedspd_run::{InputInterpretation, Interpretation, Pattern, Spectrum};

use self::head::{class_directions, columns, heads, normalised};
use self::plane::plane;
use crate::data::align::Aligned;

/// The number of trials: enough for quantiles and a scatter plot, and few enough to be fast.
const TRIALS: usize = 400;

/// A sample of the training trials, evenly spread over all of them.
pub(crate) struct InterpretationData {
    labels: Vec<usize>,
    inputs: Vec<Input>,
}

/// One window and band of the trials.
struct Input {
    name: String,
    /// The covariances as the network reads them.
    matrices: Vec<f64>,
    /// The mean covariance `E[x z^T]` of the channels `x` with the network's input `z`. For a
    /// subject recentred at `G`, the input is `z = G^-1/2 x`. None if the data were already
    /// recentred, because the covariances of the channels are then unknown.
    mixing: Option<Vec<f64>>,
}

impl InterpretationData {
    /// Takes a sample of the training trials.
    pub(crate) fn new(given: &Covariances, aligned: &Aligned<'_>, training: &[usize]) -> Result<Self, Error> {
        let chosen = spread::evenly(training, TRIALS);
        let n = given.about.channels.len();
        let inputs = given.inputs.iter().enumerate().map(|(input, name)| {
            let of = |trial: &usize| aligned.covariances.matrix(*trial, input);
            Ok(Input {
                name: name.clone(),
                matrices: chosen.iter().flat_map(of).copied().collect(),
                mixing: match given.about.making.alignment() {
                    Some(_) => None,
                    None => Some(mixing(n, given, aligned, &chosen, input)?),
                },
            })
        });
        Ok(Self {
            inputs: inputs.collect::<Result<_, Error>>()?,
            labels: chosen.iter().map(|&trial| given.about.origins[trial].label).collect(),
        })
    }

    /// Interprets a network on these trials.
    pub(crate) fn interpret<T: Real>(
        &self,
        config: &SpdNetConfig,
        parameters: &ParamSet<T>,
    ) -> Result<Interpretation, Error> {
        let network = parameters.cast::<f64>();
        let mut features: Vec<Vec<f64>> = vec![Vec::new(); self.labels.len()];
        let mut inputs = Vec::new();
        for number in 0..self.inputs.len() {
            inputs.push(self.input(number, config, &network, &mut features)?);
        }
        Ok(Interpretation { inputs, plane: plane(&features, &self.labels)? })
    }

    /// Interprets one window and band. Appends the logarithms of its trials to their features.
    fn input(
        &self,
        number: usize,
        config: &SpdNetConfig,
        network: &ParamSet<f64>,
        features: &mut [Vec<f64>],
    ) -> Result<InputInterpretation, Error> {
        let input = &self.inputs[number];
        let (n, d) = (config.dimensions[0], config.dimensions[config.blocks()]);
        let simd = Simd::detect()?;
        let filters = filters(simd, config, network, number);
        let mapped: Vec<f64> =
            input.matrices.chunks_exact(n * n).flat_map(|matrix| map(simd, n, d, matrix, &filters)).collect();
        let eigenvalues = eigenvalues(d, &mapped)?;
        let below = eigenvalues.iter().filter(|&&value| value < config.threshold).count();

        let (mut logarithms, mut vector) =
            (vec![0.0; mapped.len()], vec![0.0; Vectorisation::IsometricVech.length(d)]);
        let clamped = SpectralFunction::LogClamp { floor: config.threshold };
        let mut spectral = SpectralMap::new(d)?;
        spectral.apply(clamped, &mapped, &mut logarithms)?;
        for (logarithm, features) in logarithms.chunks_exact(d * d).zip(features) {
            Vectorisation::IsometricVech.apply(d, logarithm, &mut vector)?;
            features.extend(&vector);
        }

        let heads = heads(config, network, number)?;
        let patterns = |directions: &[(f64, Vec<f64>)]| -> Vec<Pattern> {
            let Some(mixing) = &input.mixing else { return Vec::new() };
            let patterns = directions.iter().map(|(weight, direction)| {
                let filter = apply(simd, (n, d), &filters, direction);
                (*weight, apply(simd, (n, n), mixing, &filter))
            });
            normalised(patterns.collect())
        };
        let mut columns = if config.blocks() == 0 { Vec::new() } else { columns(d, &heads) };
        if !columns.is_empty() {
            // The outputs of the columns are correlated: their patterns are C W (W^T C W)^-1. A
            // class has one direction, whose pattern is C w.
            let (mut together, mut apart) = (vec![0.0; d * d], vec![0.0; d * d]);
            let floor = SpectralFunction::Clamp { floor: config.threshold };
            spectral.apply(floor, &mean(d, &mapped), &mut together)?;
            spectral.apply(SpectralFunction::Power(-1.0), &together, &mut apart)?;
            for (_, column) in &mut columns {
                *column = apply(simd, (d, d), &apart, column);
            }
        }
        Ok(InputInterpretation {
            name: input.name.clone(),
            columns: patterns(&columns),
            classes: patterns(&class_directions(d, &heads)?),
            spectrum: spectrum(n, &self::eigenvalues(n, &input.matrices)?),
            mapped: spectrum(d, &eigenvalues),
            epsilon: config.threshold,
            clamped: below as f64 / eigenvalues.len().max(1) as f64,
        })
    }
}

/// Computes `E[x z^T] = E[C_s G_s^-1/2]`, with `G_s = I` without recentring.
fn mixing(
    n: usize,
    given: &Covariances,
    aligned: &Aligned<'_>,
    chosen: &[usize],
    input: usize,
) -> Result<Vec<f64>, Error> {
    let simd = Simd::detect()?;
    let mut total = vec![0.0; n * n];
    let sum = |trials: &[usize]| {
        let mut sum = vec![0.0; n * n];
        for &trial in trials {
            sum.iter_mut().zip(given.matrix(trial, input)).for_each(|(sum, entry)| *sum += entry);
        }
        sum
    };
    if aligned.references.is_empty() {
        total = sum(chosen);
    }
    let mut spectral = SpectralMap::new(n)?;
    for (subject, recentring) in &aligned.references {
        let own: Vec<usize> =
            chosen.iter().copied().filter(|trial| subject.binary_search(trial).is_ok()).collect();
        if own.is_empty() {
            continue;
        }
        let (mut root, mut mixed) = (vec![0.0; n * n], vec![0.0; n * n]);
        spectral.apply(SpectralFunction::InverseSqrt, recentring.reference(input), &mut root)?;
        multiply(simd, Left::Plain, (n, n, n), &sum(&own), &root, &mut mixed);
        total.iter_mut().zip(mixed).for_each(|(total, entry)| *total += entry);
    }
    let count = chosen.len().max(1) as f64;
    for entry in &mut total {
        *entry /= count;
    }
    Ok(total)
}

/// Computes the product of an input's `BiMap` weights, `n x d`. It is the whole map if ReEig raises
/// no eigenvalue in between.
fn filters(simd: Simd, config: &SpdNetConfig, network: &ParamSet<f64>, input: usize) -> Vec<f64> {
    let sizes = &config.dimensions;
    let n = sizes[0];
    let mut product: Vec<f64> = (0..n * n).map(|i| f64::from(u8::from(i % (n + 1) == 0))).collect();
    for (block, pair) in sizes.windows(2).enumerate() {
        let prefix = if config.inputs > 1 { format!("input{input}.") } else { String::new() };
        let weight = network.get(&format!("{prefix}block{block}.weight")).unwrap_or_default();
        let mut next = vec![0.0; n * pair[1]];
        multiply(simd, Left::Plain, (n, pair[0], pair[1]), &product, weight, &mut next);
        product = next;
    }
    product
}

/// Computes `W^T C W`.
fn map(simd: Simd, n: usize, d: usize, matrix: &[f64], filters: &[f64]) -> Vec<f64> {
    let (mut right, mut both) = (vec![0.0; n * d], vec![0.0; d * d]);
    multiply(simd, Left::Plain, (n, n, d), matrix, filters, &mut right);
    multiply(simd, Left::Transposed, (d, n, d), filters, &right, &mut both);
    both
}

fn apply(simd: Simd, (rows, columns): (usize, usize), matrix: &[f64], vector: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; rows];
    multiply(simd, Left::Plain, (rows, columns, 1), matrix, vector, &mut product);
    product
}

/// Computes the mean of some matrices.
fn mean(n: usize, matrices: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; n * n];
    for matrix in matrices.chunks_exact(n * n) {
        sum.iter_mut().zip(matrix).for_each(|(sum, entry)| *sum += entry);
    }
    let count = (matrices.len() / (n * n)).max(1) as f64;
    sum.into_iter().map(|entry| entry / count).collect()
}

fn eigenvalues(n: usize, matrices: &[f64]) -> Result<Vec<f64>, Error> {
    let mut values = vec![0.0; matrices.len() / n];
    SymmetricEigen::new(n).and_then(|mut eigen| eigen.eigenvalues(matrices, &mut values))?;
    Ok(values)
}

/// Computes quantiles over the matrices for each index of their spectra.
fn spectrum(n: usize, eigenvalues: &[f64]) -> Spectrum {
    let places: Vec<Vec<f64>> = (0..n)
        .map(|place| {
            let mut values: Vec<f64> = eigenvalues.chunks_exact(n).map(|values| values[place]).collect();
            values.sort_by(f64::total_cmp);
            values
        })
        .collect();
    let quantile = |share: f64| places.iter().map(|values| spread::quantile(values, share)).collect();
    Spectrum { low: quantile(0.05), median: quantile(0.5), high: quantile(0.95) }
}

#[cfg(test)]
mod tests {
    use fedspd_manifold::Vectorisation;
    use fedspd_nn::{Model, Seed, SpdNet};

    use super::*;

    /// A rotation `A` mixes the sources. The covariance is `A P A^T` with their powers `P`, and the
    /// pattern of the filter `a` is `a`.
    fn rotation(n: usize) -> Vec<f64> {
        let mut a: Vec<f64> = (0..n * n).map(|i| f64::from(u8::from(i % (n + 1) == 0))).collect();
        for i in 0..n - 1 {
            let (sine, cosine) = (0.4 + 0.3 * i as f64).sin_cos();
            for row in 0..n {
                let (x, y) = (a[row * n + i], a[row * n + i + 1]);
                (a[row * n + i], a[row * n + i + 1]) = (cosine * x - sine * y, sine * x + cosine * y);
            }
        }
        a
    }

    /// The first two sources are correlated.
    fn covariance(n: usize, a: &[f64], power: impl Fn(usize) -> f64, correlation: f64) -> Vec<f64> {
        let both = |s: usize, t: usize| match (s, t) {
            _ if s == t => power(s),
            (0, 1) | (1, 0) => correlation * (power(0) * power(1)).sqrt(),
            _ => 0.0,
        };
        let entry = |i: usize, j: usize| {
            (0..n * n).map(|st| a[i * n + st / n] * both(st / n, st % n) * a[j * n + st % n]).sum()
        };
        (0..n * n).map(|place| entry(place / n, place % n)).collect()
    }

    /// Twelve trials of five sources. The second source is strong in class 1.
    fn data(n: usize, correlation: f64) -> (InterpretationData, Vec<f64>) {
        let a = rotation(n);
        let labels: Vec<usize> = (0..12).map(|trial| trial % 2).collect();
        let trial = |(trial, &label): (usize, &usize)| {
            let power = |s: usize| {
                1.0 + s as f64 + 0.1 * trial as f64 + if s == 1 { 9.0 * label as f64 } else { 0.0 }
            };
            covariance(n, &a, power, correlation)
        };
        let matrices: Vec<f64> = labels.iter().enumerate().flat_map(trial).collect();
        let mixing = Some(mean(n, &matrices));
        let input = Input { name: "all".into(), matrices, mixing };
        (InterpretationData { labels, inputs: vec![input] }, a)
    }

    /// A network whose BiMap selects the first two sources. Its last layer uses the power of the
    /// second for class 1.
    fn network(n: usize, a: &[f64], rotated: bool) -> (SpdNetConfig, ParamSet<f64>) {
        let config = SpdNetConfig::new(vec![n, 2], 2).threshold(1e-3).head(Vectorisation::IsometricVech);
        let net = SpdNet::<f64>::new(config.clone()).unwrap();
        let mut parameters = net.initial(Seed(0)).unwrap();
        let (sine, cosine) = if rotated { 0.7_f64.sin_cos() } else { (0.0, 1.0) };
        let columns = (0..n).flat_map(|row| {
            let (x, y) = (a[row * n], a[row * n + 1]);
            [cosine * x - sine * y, sine * x + cosine * y]
        });
        parameters.get_mut("block0.weight").unwrap().copy_from_slice(&columns.collect::<Vec<_>>());
        // S = R^T diag(0, 1) R for class 1, its negative for class 0; isometric vech: (s11, sqrt2
        // s21, s22).
        let s = [sine * sine, -(2.0_f64.sqrt()) * sine * cosine, cosine * cosine];
        let head: Vec<f64> = s.iter().map(|x| -x).chain(s).collect();
        parameters.get_mut("head.weight").unwrap().copy_from_slice(&head);
        (config, parameters)
    }

    #[test]
    fn a_pattern_is_where_its_source_is_and_does_not_depend_on_the_basis() {
        let n = 5;
        let (data, a) = data(n, 0.0);
        let source: Vec<f64> = (0..n).map(|row| a[row * n + 1]).collect();
        let peak = source.iter().fold(0.0_f64, |peak, &x| if x.abs() > peak.abs() { x } else { peak });
        for rotated in [false, true] {
            let (config, parameters) = network(n, &a, rotated);
            let interpretation = data.interpret(&config, &parameters).unwrap();
            let [input] = &interpretation.inputs[..] else {
                panic!("{} inputs", interpretation.inputs.len())
            };
            assert!(
                (input.classes[1].weight - 1.0).abs() < 1e-12
                    && (input.classes[0].weight + 1.0).abs() < 1e-12
            );
            for (found, expected) in input.classes[1].channels.iter().zip(&source) {
                assert!((found - expected / peak).abs() < 1e-12, "{found} {expected}");
            }
            assert_eq!(input.columns.len(), 2);
        }
    }

    /// For correlated sources, `C w` mixes both.
    #[test]
    fn patterns_of_columns_are_those_of_correlated_sources_too() {
        let n = 5;
        for correlation in [0.0, 0.6, -0.8] {
            let (data, a) = data(n, correlation);
            let (config, parameters) = network(n, &a, false);
            let interpretation = data.interpret(&config, &parameters).unwrap();
            // The second column, which the last layer uses, comes first.
            for (pattern, source) in interpretation.inputs[0].columns.iter().zip([1, 0]) {
                let source: Vec<f64> = (0..n).map(|row| a[row * n + source]).collect();
                let peak =
                    source.iter().fold(0.0_f64, |peak, &x| if x.abs() > peak.abs() { x } else { peak });
                for (found, expected) in pattern.channels.iter().zip(&source) {
                    assert!((found - expected / peak).abs() < 1e-12, "{correlation}: {found} {expected}");
                }
            }
        }
    }

    #[test]
    fn spectra_are_quantiles_and_eigenvalues_below_the_threshold_are_counted() {
        let n = 5;
        let (data, a) = data(n, 0.0);
        let (mut config, parameters) = network(n, &a, false);
        let interpretation = data.interpret(&config, &parameters).unwrap();
        let input = &interpretation.inputs[0];
        // The smallest eigenvalue of trial t is 1 + t/10.
        assert!(
            (input.spectrum.median[0] - 1.55).abs() < 1e-12 && (input.spectrum.low[0] - 1.055).abs() < 1e-12
        );
        assert!(input.mapped.median.len() == 2 && (input.mapped.median[0] - 1.55).abs() < 1e-12);
        assert_eq!(input.clamped, 0.0);
        config.threshold = 1.95;
        // Ten of twelve smallest eigenvalues, none of the larger ones (2 + t/10 or 11 + t/10).
        assert_eq!(data.interpret(&config, &parameters).unwrap().inputs[0].clamped, 10.0 / 24.0);
    }
}
