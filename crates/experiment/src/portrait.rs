//! What a trained SPDnet looks at, for the figures of a report.

use fedspd_eeg::Covariances;
use fedspd_manifold::simd::Simd;
use fedspd_manifold::{Left, Real, SpectralFunction, SpectralMap, SymmetricEigen, Vectorisation, multiply};
use fedspd_nn::{Error, ParamSet, SpdNetConfig};
use fedspd_run::{InputPortrait, Pattern, Plane, Portrait, Spectrum};

use crate::align::Aligned;
use crate::spread;

/// Enough trials for quantiles and a cloud of points, few enough to take no time.
const TRIALS: usize = 400;

/// Training trials that a portrait is drawn from, evenly spread over all of them.
pub(crate) struct Sitting {
    labels: Vec<usize>,
    inputs: Vec<Input>,
}

/// One window and band of the trials.
struct Input {
    name: String,
    /// The covariances as the network gets them.
    matrices: Vec<f64>,
    /// The mean covariance `E[x z^T]` of the channels `x` with what the network gets of them, `z = G^-1/2 x` for a subject whose trials were
    /// centred at `G`; none where the data came centred, so that nothing is known of their channels.
    mixing: Option<Vec<f64>>,
}

impl Sitting {
    /// Takes the trials before they go to the network.
    pub(crate) fn new(given: &Covariances, aligned: &Aligned, training: &[usize]) -> Result<Self, Error> {
        let chosen = spread::evenly(training, TRIALS);
        let n = given.about.channels.len();
        let inputs = given.inputs.iter().enumerate().map(|(input, name)| {
            let of = |trial: &usize| aligned.covariances.matrix(*trial, input);
            Ok(Input {
                name: name.clone(),
                matrices: chosen.iter().flat_map(of).copied().collect(),
                mixing: match given.about.making.align {
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

    /// The portrait of a network by these trials.
    pub(crate) fn portrait<T: Real>(
        &self,
        config: &SpdNetConfig,
        parameters: &ParamSet<T>,
    ) -> Result<Portrait, Error> {
        let network = parameters.cast::<f64>();
        let mut features: Vec<Vec<f64>> = vec![Vec::new(); self.labels.len()];
        let mut inputs = Vec::new();
        for number in 0..self.inputs.len() {
            inputs.push(self.draw(number, config, &network, &mut features)?);
        }
        Ok(Portrait { inputs, plane: plane(&features, &self.labels)? })
    }

    /// One window and band; the logarithms of its trials are appended to their features.
    fn draw(
        &self,
        number: usize,
        config: &SpdNetConfig,
        network: &ParamSet<f64>,
        features: &mut [Vec<f64>],
    ) -> Result<InputPortrait, Error> {
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
            let listened = directions.iter().map(|(weight, direction)| {
                let filter = apply(simd, (n, d), &filters, direction);
                (*weight, apply(simd, (n, n), mixing, &filter))
            });
            normalised(listened.collect())
        };
        let columns = if config.blocks() == 0 { Vec::new() } else { columns(d, &heads) };
        Ok(InputPortrait {
            name: input.name.clone(),
            columns: patterns(&columns),
            classes: patterns(&speakers(d, &heads)?),
            spectrum: spectrum(n, &self::eigenvalues(n, &input.matrices)?),
            mapped: spectrum(d, &eigenvalues),
            epsilon: config.threshold,
            clamped: below as f64 / eigenvalues.len().max(1) as f64,
        })
    }
}

/// `E[x z^T] = E[C_s G_s^-1/2]`, with `G_s = I` where nothing was centred.
fn mixing(
    n: usize,
    given: &Covariances,
    aligned: &Aligned,
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
    total.iter_mut().for_each(|entry| *entry /= count);
    Ok(total)
}

/// The product of an input's BiMaps, `n x d`: what they are where no eigenvalue is raised between them.
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

/// `W^T C W`.
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

/// The last layer as one symmetric matrix `S_k` for each class: the part of a logit that an input has is `tr(S_k log(W^T C W))`. What is common to
/// all classes has no say and is taken away.
fn heads(config: &SpdNetConfig, network: &ParamSet<f64>, input: usize) -> Result<Vec<Vec<f64>>, Error> {
    let d = config.dimensions[config.blocks()];
    let (length, weight) = (config.head.length(d), network.get("head.weight").unwrap_or_default());
    let rows = weight.chunks_exact(config.features());
    let matrices = rows.map(|row| {
        let mut matrix = vec![0.0; d * d];
        config.head.adjoint(d, &row[input * length..][..length], &mut matrix)?;
        Ok(matrix)
    });
    let mut heads: Vec<Vec<f64>> = matrices.collect::<Result<_, Error>>()?;
    for entry in 0..d * d {
        let mean = heads.iter().map(|head| head[entry]).sum::<f64>() / heads.len() as f64;
        heads.iter_mut().for_each(|head| head[entry] -= mean);
    }
    Ok(heads)
}

/// The columns of the BiMaps, the one first whose rows of the last layer are largest.
fn columns(d: usize, heads: &[Vec<f64>]) -> Vec<(f64, Vec<f64>)> {
    let weight = |column: usize| -> f64 {
        let row = |head: &Vec<f64>| head[column * d..][..d].iter().map(|x| x * x).sum::<f64>();
        heads.iter().map(row).sum::<f64>().sqrt()
    };
    let unit = |column: usize| (0..d).map(|i| f64::from(u8::from(i == column))).collect();
    let mut columns: Vec<(f64, Vec<f64>)> = (0..d).map(|column| (weight(column), unit(column))).collect();
    columns.sort_by(|a, b| b.0.total_cmp(&a.0));
    columns
}

/// For each class the direction whose log-power has most to say: the eigenvector of `S_k` with the largest eigenvalue in size. Unlike single columns it does
/// not depend on the basis: `W R` with `R^T S_k R` is the same network for every rotation `R`.
fn speakers(d: usize, heads: &[Vec<f64>]) -> Result<Vec<(f64, Vec<f64>)>, Error> {
    let mut eigen = SymmetricEigen::new(d)?;
    let (mut values, mut vectors) = (vec![0.0; d], vec![0.0; d * d]);
    let largest = heads.iter().map(|head| {
        eigen.decompose(head, &mut values, &mut vectors)?;
        let place = if values[0].abs() > values[d - 1].abs() { 0 } else { d - 1 };
        Ok((values[place], (0..d).map(|row| vectors[row * d + place]).collect()))
    });
    largest.collect()
}

/// Patterns whose largest weight is 1 in size, each with 1 at its largest channel.
fn normalised(patterns: Vec<(f64, Vec<f64>)>) -> Vec<Pattern> {
    let most = patterns.iter().fold(0.0_f64, |most, (weight, _)| most.max(weight.abs()));
    let share = |x: f64, of: f64| if of == 0.0 { 0.0 } else { x / of };
    let pattern = |(weight, channels): (f64, Vec<f64>)| {
        let peak = channels.iter().fold(0.0_f64, |peak, &x| if x.abs() > peak.abs() { x } else { peak });
        Pattern { weight: share(weight, most), channels: channels.iter().map(|&x| share(x, peak)).collect() }
    };
    patterns.into_iter().map(pattern).collect()
}

fn eigenvalues(n: usize, matrices: &[f64]) -> Result<Vec<f64>, Error> {
    let mut values = vec![0.0; matrices.len() / n];
    SymmetricEigen::new(n).and_then(|mut eigen| eigen.eigenvalues(matrices, &mut values))?;
    Ok(values)
}

/// Quantiles over the matrices for each place of their spectra.
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

/// Principal components by the Gram matrix of the centred features, of which there are more than trials.
fn plane(features: &[Vec<f64>], labels: &[usize]) -> Result<Plane, Error> {
    let count = features.len();
    let length = features.first().map_or(0, Vec::len);
    let mut means = vec![0.0; length];
    for trial in features {
        means.iter_mut().zip(trial).for_each(|(mean, x)| *mean += x / count as f64);
    }
    let centred: Vec<Vec<f64>> =
        features.iter().map(|trial| trial.iter().zip(&means).map(|(x, mean)| x - mean).collect()).collect();
    let mut gram = vec![0.0; count * count];
    for i in 0..count {
        for j in 0..=i {
            let product = centred[i].iter().zip(&centred[j]).map(|(x, y)| x * y).sum();
            gram[i * count + j] = product;
            gram[j * count + i] = product;
        }
    }
    let (mut values, mut vectors) = (vec![0.0; count], vec![0.0; count * count]);
    SymmetricEigen::new(count).and_then(|mut eigen| eigen.decompose(&gram, &mut values, &mut vectors))?;
    let total: f64 = values.iter().map(|value| value.max(0.0)).sum();
    let component = |back: usize| -> (f64, Vec<f64>) {
        if back > count {
            return (0.0, vec![0.0; count]);
        }
        let place = count - back;
        let variance = values[place].max(0.0);
        let scores: Vec<f64> = (0..count).map(|i| vectors[i * count + place] * variance.sqrt()).collect();
        let peak = scores.iter().fold(0.0_f64, |peak, &x| if x.abs() > peak.abs() { x } else { peak });
        // The sign of a component means nothing; a rule makes it the same on every machine.
        let scores = if peak < 0.0 { scores.into_iter().map(|x| -x).collect() } else { scores };
        (if total > 0.0 { variance / total } else { 0.0 }, scores)
    };
    let (first, second) = (component(1), component(2));
    Ok(Plane {
        explained: [first.0, second.0],
        points: first.1.into_iter().zip(second.1).map(|(x, y)| [x, y]).collect(),
        classes: labels.to_vec(),
    })
}
