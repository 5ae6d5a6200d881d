//! Interpolation between electrodes by spherical splines (Perrin, Pernier, Bertrand and Echallier
//! 1989).

use std::f64::consts::PI;

use super::montage::Direction;

/// The order of the splines.
const ORDER: i32 = 4;
/// Number of Legendre polynomials in their kernel; the remainder is below a millionth of it.
const TERMS: usize = 20;

/// A function on the sphere with given values at the electrodes: `c + sum_i w_i g(cos(x, x_i))`
/// with `sum_i w_i = 0`.
pub(crate) struct Spline {
    places: Vec<Direction>,
    weights: Vec<f64>,
    level: f64,
}

impl Spline {
    /// Fits a spline through these values; none if two electrodes have the same position.
    pub(crate) fn through(places: &[Direction], values: &[f64]) -> Option<Self> {
        let count = places.len();
        let size = count + 1;
        let mut system = vec![vec![0.0; size + 1]; size];
        for (row, place) in places.iter().enumerate() {
            for (column, other) in places.iter().enumerate() {
                system[row][column] = kernel(cosine(place, other));
            }
            (system[row][count], system[count][row]) = (1.0, 1.0);
            system[row][size] = values[row];
        }
        let mut weights = solve(system)?;
        let level = weights.pop()?;
        Some(Self { places: places.to_vec(), weights, level })
    }

    pub(crate) fn at(&self, place: &Direction) -> f64 {
        let parts = self.places.iter().zip(&self.weights);
        self.level + parts.map(|(other, weight)| weight * kernel(cosine(place, other))).sum::<f64>()
    }
}

fn cosine(a: &Direction, b: &Direction) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>().clamp(-1.0, 1.0)
}

/// `g(x) = 1/(4 pi) sum_n (2n + 1) / (n (n + 1))^m P_n(x)`.
fn kernel(x: f64) -> f64 {
    let (mut before, mut last) = (1.0, x);
    let mut sum = 0.0;
    for n in 1..=TERMS {
        let n = n as f64;
        sum += (2.0 * n + 1.0) / (n * (n + 1.0)).powi(ORDER) * last;
        (before, last) = (last, ((2.0 * n + 1.0) * x * last - n * before) / (n + 1.0));
    }
    sum / (4.0 * PI)
}

/// Solves a linear system by Gaussian elimination with row pivots; the right side is the last
/// column. Returns none without a unique solution.
fn solve(mut system: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let size = system.len();
    let scale = system.iter().flat_map(|row| &row[..size]).fold(0.0_f64, |most, x| most.max(x.abs()));
    for column in 0..size {
        let pivot =
            (column..size).max_by(|&a, &b| system[a][column].abs().total_cmp(&system[b][column].abs()))?;
        if !(system[pivot][column].abs() > scale * f64::EPSILON) {
            return None;
        }
        system.swap(column, pivot);
        let (above, below) = system.split_at_mut(column + 1);
        let lead = &above[column];
        for row in below {
            let factor = row[column] / lead[column];
            for (entry, pivot) in row.iter_mut().zip(lead).skip(column) {
                *entry -= factor * pivot;
            }
        }
    }
    let mut solution = vec![0.0; size];
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size).map(|column| system[row][column] * solution[column]).sum();
        solution[row] = (system[row][size] - known) / system[row][row];
    }
    Some(solution)
}

#[cfg(test)]
mod tests {
    use super::super::montage::position;
    use super::*;

    const NAMES: [&str; 10] = ["Fp1", "Fp2", "F7", "Fz", "F8", "C3", "C4", "P7", "Pz", "Oz"];

    #[test]
    fn it_has_the_values_it_was_given() {
        let places = NAMES.map(|name| position(name).unwrap());
        let values = [0.3, -0.1, 1.0, 0.4, -1.0, 0.2, 0.25, -0.6, 0.0, 0.7];
        let spline = Spline::through(&places, &values).unwrap();
        for (place, value) in places.iter().zip(values) {
            assert!((spline.at(place) - value).abs() < 1e-7, "{value}: {}", spline.at(place));
        }
    }

    #[test]
    fn a_constant_stays_constant_everywhere() {
        let places = NAMES.map(|name| position(name).unwrap());
        let spline = Spline::through(&places, &[0.5; 10]).unwrap();
        assert!((spline.at(&position("CPP3h").unwrap()) - 0.5).abs() < 1e-7);
    }

    #[test]
    fn two_values_at_one_place_are_none() {
        let places = ["Cz", "Cz", "Pz"].map(|name| position(name).unwrap());
        assert!(Spline::through(&places, &[1.0, 2.0, 0.0]).is_none());
    }
}
