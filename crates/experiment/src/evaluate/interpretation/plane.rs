//! Principal components of trials.

use fedspd_manifold::SymmetricEigen;
use fedspd_nn::Error;
use fedspd_run::Plane;

/// Computes two principal components from the Gram matrix of the centred features, because there
/// are more features than trials.
pub(super) fn plane(features: &[Vec<f64>], labels: &[usize]) -> Result<Plane, Error> {
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
        // The sign of a component has no meaning. This rule makes it the same on every machine.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plane_holds_the_two_longest_directions() {
        // Trials on a cross: 4 and -4 along one direction, 1 and -1 along another, nothing along
        // the third.
        let cross = [[4.0, 0.0], [-4.0, 0.0], [0.0, 1.0], [0.0, -1.0]];
        let features: Vec<Vec<f64>> =
            cross.iter().map(|[x, y]| vec![5.0 + 0.6 * x - 0.8 * y, 0.8 * x + 0.6 * y, 7.0]).collect();
        let plane = plane(&features, &[0, 1, 2, 3]).unwrap();
        assert!(
            (plane.explained[0] - 16.0 / 17.0).abs() < 1e-12
                && (plane.explained[1] - 1.0 / 17.0).abs() < 1e-12
        );
        for (point, [x, y]) in plane.points.iter().zip(cross) {
            assert!((point[0].abs() - x.abs()).abs() < 1e-12 && (point[1].abs() - y.abs()).abs() < 1e-12);
        }
    }
}
