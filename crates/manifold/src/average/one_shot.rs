//! Averages in closed form.

use super::{Average, StiefelSum, weighted_points};
use crate::{Error, Matrix, Polar, Qr, Real, Retraction, RetractionKind, Stiefel};

/// Computes `ProjAvg`: the polar factor of the mean, `uf(sum w_i W_i)`. It minimises the weighted
/// sum of squared chordal distances `|W - W_i|^2`.
///
/// # Errors
/// [`Error::Zero`], [`Error::NoWeight`] for an empty sum; [`Error::RankDeficient`] if the points
/// cancel in some direction. The minimiser is then not unique; use [`rl_avg`] instead.
pub fn proj_avg(sum: &StiefelSum) -> Result<Average<f64>, Error> {
    let mean = sum.mean()?;
    let (p, k) = sum.shape();
    let mut polar = Polar::with_simd(p, k, sum.simd())?;
    polar.factor(mean.as_slice()).map_err(|error| name(error, "ProjAvg"))?;
    let (smallest_singular_value, _) = polar.singular_value_range();
    let point = if sum.count() == 1 { mean } else { Matrix::from_rows(p, k, polar.q().to_vec())? };
    Ok(in_closed_form(point, smallest_singular_value))
}

/// Computes `RLAvg`: the polar retraction of the mean of the liftings at the previous point,
/// `uf(W + P_W(sum w_i W_i))`, because the lifting is linear. It is always defined.
///
/// # Errors
/// [`Error::Zero`], [`Error::NoWeight`] for an empty sum; [`Error::Shape`] or [`Error::NotFinite`]
/// for the previous point.
pub fn rl_avg(previous: &Matrix<f64>, sum: &StiefelSum) -> Result<Average<f64>, Error> {
    let mean = sum.mean()?;
    let (p, k) = sum.shape();
    let mut stiefel = Stiefel::with_simd(p, k, sum.simd())?;
    stiefel.check_matrix("the previous point", 0, previous)?;
    let mut lifted = Matrix::zeros(p, k);
    stiefel.lift(previous.as_slice(), mean.as_slice(), lifted.as_mut_slice())?;
    let mut polar = Polar::with_simd(p, k, sum.simd())?;
    let mut point = previous.clone();
    if lifted.as_slice().iter().any(|&x| x != 0.0) {
        let moved = previous.zip(&lifted, |w, x| w + x);
        polar.project(moved.as_slice(), point.as_mut_slice())?;
    }
    Ok(in_closed_form(point, polar.smallest_singular_value_of(mean.as_slice())?))
}

/// Computes the QR factor of the mean, `qf(sum w_i W_i)`. Unlike [`proj_avg`], it depends on the
/// order of the columns.
///
/// # Errors
/// As [`proj_avg`].
pub fn qr_avg(sum: &StiefelSum) -> Result<Average<f64>, Error> {
    let mean = sum.mean()?;
    let (p, k) = sum.shape();
    let mut qr = Qr::with_simd(p, k, sum.simd())?;
    qr.factor(mean.as_slice()).map_err(|error| name(error, "the QR average"))?;
    let smallest = Polar::with_simd(p, k, sum.simd())?.smallest_singular_value_of(mean.as_slice())?;
    let point = if sum.count() == 1 { mean } else { Matrix::from_rows(p, k, qr.q().to_vec())? };
    Ok(in_closed_form(point, smallest))
}

/// Computes `RetAvg`: `R_W(sum w_i R_W^-1(W_i))`, the tangent-space average with a retraction and
/// its own inverse.
///
/// # Errors
/// Errors of points and weights; [`Error::TooFarApart`] if a point has no inverse retraction at
/// `previous`.
pub fn ret_avg<T: Real>(
    kind: RetractionKind,
    previous: &Matrix<T>,
    points: &[Matrix<T>],
    weights: Option<&[f64]>,
) -> Result<Average<T>, Error> {
    let points = weighted_points(points, weights)?;
    let sum = sum_of(&points)?;
    let mean = sum.mean()?;
    let (p, k) = sum.shape();
    let smallest = Polar::with_simd(p, k, sum.simd())?.smallest_singular_value_of(mean.as_slice())?;
    let mut retraction = Retraction::new(kind, p, k)?;
    Stiefel::new(p, k)?.check_matrix("the previous point", 0, previous)?;
    let previous = previous.cast::<f64>();
    let point = if let [(_, only)] = &points[..] {
        only.clone()
    } else {
        tangent_step(&mut retraction, &previous, &points)?.0
    };
    Ok(in_closed_form(point.cast(), smallest))
}

/// Computes `R_W(sum w_i R_W^-1(W_i))` and the length of the tangent vector.
pub(super) fn tangent_step(
    retraction: &mut Retraction<f64>,
    base: &Matrix<f64>,
    points: &[(f64, Matrix<f64>)],
) -> Result<(Matrix<f64>, f64), Error> {
    let (p, k) = (base.rows(), base.columns());
    let (mut vector, mut mean) = (Matrix::zeros(p, k), Matrix::zeros(p, k));
    for (weight, point) in points {
        retraction.inverse(base.as_slice(), point.as_slice(), vector.as_mut_slice())?;
        mean = mean.zip(&vector, |mean, x| mean + weight * x);
    }
    retraction.retract_once(base.as_slice(), mean.as_slice(), vector.as_mut_slice())?;
    Ok((vector, mean.norm()))
}

/// Returns the weighted sum of points.
pub(super) fn sum_of(points: &[(f64, Matrix<f64>)]) -> Result<StiefelSum, Error> {
    let (_, first) = points.first().ok_or(Error::Zero { what: "the number of points" })?;
    let mut sum = StiefelSum::new(first.rows(), first.columns())?;
    for (weight, point) in points {
        sum.add(*weight, point.as_slice())?;
    }
    Ok(sum)
}

fn in_closed_form<T>(point: Matrix<T>, smallest_singular_value: f64) -> Average<T> {
    Average { point, smallest_singular_value, iterations: 1, residual: 0.0 }
}

/// Names the average in a rank error.
fn name(error: Error, operation: &'static str) -> Error {
    match error {
        Error::RankDeficient { smallest, largest, .. } => {
            Error::RankDeficient { operation, smallest, largest }
        }
        other => other,
    }
}
