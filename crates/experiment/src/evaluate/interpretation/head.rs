//! The last layer as symmetric matrices, and the directions that it weights most.

use fedspd_manifold::SymmetricEigen;
use fedspd_nn::{Error, ParamSet, SpdNetConfig};
use fedspd_run::Pattern;

/// Returns the last layer as one symmetric matrix `S_k` for each class: an input adds `tr(S_k
/// log(W^T C W))` to the logit of class `k`. The mean over classes cancels in the softmax and is
/// subtracted.
pub(super) fn heads(
    config: &SpdNetConfig,
    network: &ParamSet<f64>,
    input: usize,
) -> Result<Vec<Vec<f64>>, Error> {
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
        for head in &mut heads {
            head[entry] -= mean;
        }
    }
    Ok(heads)
}

/// Returns the columns of the `BiMap` weights, sorted by the norms of their rows in the last layer,
/// largest first.
pub(super) fn columns(d: usize, heads: &[Vec<f64>]) -> Vec<(f64, Vec<f64>)> {
    let weight = |column: usize| -> f64 {
        let row = |head: &Vec<f64>| head[column * d..][..d].iter().map(|x| x * x).sum::<f64>();
        heads.iter().map(row).sum::<f64>().sqrt()
    };
    let unit = |column: usize| (0..d).map(|i| f64::from(u8::from(i == column))).collect();
    let mut columns: Vec<(f64, Vec<f64>)> = (0..d).map(|column| (weight(column), unit(column))).collect();
    columns.sort_by(|a, b| b.0.total_cmp(&a.0));
    columns
}

/// Returns for each class the direction whose log-power has the largest weight: the eigenvector of
/// `S_k` with the largest absolute eigenvalue. Unlike single columns, it does not depend on the
/// basis: `W R` with `R^T S_k R` is the same network for every rotation `R`.
pub(super) fn class_directions(d: usize, heads: &[Vec<f64>]) -> Result<Vec<(f64, Vec<f64>)>, Error> {
    let mut eigen = SymmetricEigen::new(d)?;
    let (mut values, mut vectors) = (vec![0.0; d], vec![0.0; d * d]);
    let largest = heads.iter().map(|head| {
        eigen.decompose(head, &mut values, &mut vectors)?;
        let place = if values[0].abs() > values[d - 1].abs() { 0 } else { d - 1 };
        Ok((values[place], (0..d).map(|row| vectors[row * d + place]).collect()))
    });
    largest.collect()
}

/// Scales patterns. The largest absolute weight becomes 1, and each pattern is 1 at its largest
/// channel.
pub(super) fn normalised(patterns: Vec<(f64, Vec<f64>)>) -> Vec<Pattern> {
    let most = patterns.iter().fold(0.0_f64, |most, (weight, _)| most.max(weight.abs()));
    let share = |x: f64, of: f64| if of == 0.0 { 0.0 } else { x / of };
    let pattern = |(weight, channels): (f64, Vec<f64>)| {
        let peak = channels.iter().fold(0.0_f64, |peak, &x| if x.abs() > peak.abs() { x } else { peak });
        Pattern { weight: share(weight, most), channels: channels.iter().map(|&x| share(x, peak)).collect() }
    };
    patterns.into_iter().map(pattern).collect()
}
