//! Averages of matrices with orthonormal columns.

use fedspd_manifold::average::{self, StiefelSum};
use fedspd_manifold::{Error, Matrix};
use pyo3::prelude::*;

use crate::arrays::{Array, Number, Stack, Typed, give, typed};
use crate::choice::{Weights, limits, retraction, stiefel_metric};
use crate::error::of_geometry;

type Given<'py> = PyResult<Bound<'py, PyAny>>;
const POINTS: &str = "points of shape (m, p, k)";

/// Returns the sum of weighted points, sufficient for some averages.
fn summed<T: Number>(stack: Stack<'_, T>, weights: Option<&[f64]>) -> Result<StiefelSum, Error> {
    if let Some(weights) = weights
        && weights.len() != stack.count()
    {
        return Err(Error::Length { what: "the weights", expected: stack.count(), found: weights.len() });
    }
    let mut sum = StiefelSum::new(stack.rows, stack.columns)?;
    for (place, matrix) in stack.matrices().enumerate() {
        sum.add(weights.map_or(1.0, |weights| weights[place]), matrix)?;
    }
    Ok(sum)
}

fn matrices<T: Number>(stack: Stack<'_, T>) -> Result<Vec<Matrix<T>>, Error> {
    let matrix = |numbers: &[T]| Matrix::from_rows(stack.rows, stack.columns, numbers.to_vec());
    stack.matrices().map(matrix).collect()
}

/// Computes a matrix from points and weights, with the interpreter released.
fn averaged<'py, T: Number>(
    python: Python<'py>,
    points: &Typed<'_, T>,
    weights: Option<Weights>,
    work: impl FnOnce(Stack<'_, T>, Option<&[f64]>) -> Result<Matrix<T>, Error> + Send,
) -> Given<'py> {
    let (stack, weights) = (points.list(POINTS)?, weights.map(|Weights(weights)| weights));
    let made = python.detach(|| work(stack, weights.as_deref()));
    let made = made.map_err(|fault| of_geometry(&fault))?;
    give(python, made.as_slice().to_vec(), &[], &[stack.rows, stack.columns])
}

fn previous_of<T: Number>(previous: &Typed<'_, T>) -> PyResult<Matrix<T>> {
    let stack = previous.single("a previous point of shape (p, k)")?;
    let made = Matrix::from_rows(stack.rows, stack.columns, stack.numbers.to_vec());
    made.map_err(|fault| of_geometry(&fault))
}

/// ``ProjAvg``: the polar factor ``uf(sum w_i W_i)`` of the mean.
///
/// It is the point with the smallest ``sum w_i |W - W_i|^2``. Points ``(m, p, k)`` and weights
/// ``(m)`` give ``(p, k)``. Points that cancel in some direction have no such average; use
/// ``rl_avg`` for them.
///
/// Reference: Kaneko, Fiori and Tanaka, "Empirical arithmetic averaging over the compact Stiefel
/// manifold", IEEE Trans. Signal Process. 61, 2013.
#[pyfunction]
#[pyo3(signature = (points, weights = None))]
pub(crate) fn proj_avg<'py>(python: Python<'py>, points: Array<'py>, weights: Option<Weights>) -> Given<'py> {
    typed!(points => averaged(python, points, weights, |stack, weights| {
        Ok(average::proj_avg(&summed(stack, weights)?)?.point.cast())
    }))
}

/// ``RLAvg``: ``uf(W + P_W(sum w_i W_i))`` at the previous point ``W``. Always defined.
///
/// It is the polar retraction of the mean lifting. ``(p, k)``, points ``(m, p, k)`` and weights
/// ``(m)`` give ``(p, k)``.
///
/// Reference: Kaneko, Fiori and Tanaka, "Empirical arithmetic averaging over the compact Stiefel
/// manifold", IEEE Trans. Signal Process. 61, 2013.
#[pyfunction]
#[pyo3(signature = (previous, points, weights = None))]
pub(crate) fn rl_avg<'py>(
    python: Python<'py>,
    previous: Array<'py>,
    points: Array<'py>,
    weights: Option<Weights>,
) -> Given<'py> {
    typed!(previous, points => {
        let previous = previous_of(previous)?.cast();
        averaged(python, points, weights, |stack, weights| {
            Ok(average::rl_avg(&previous, &summed(stack, weights)?)?.point.cast())
        })
    })
}

/// The QR factor ``qf(sum w_i W_i)`` of the mean.
///
/// Points ``(m, p, k)`` and weights ``(m)`` give ``(p, k)``.
///
/// Reference: Absil, Mahony and Sepulchre, "Optimization Algorithms on Matrix Manifolds", 2008,
/// example 4.1.3.
#[pyfunction]
#[pyo3(signature = (points, weights = None))]
pub(crate) fn qr_avg<'py>(python: Python<'py>, points: Array<'py>, weights: Option<Weights>) -> Given<'py> {
    typed!(points => averaged(python, points, weights, |stack, weights| {
        Ok(average::qr_avg(&summed(stack, weights)?)?.point.cast())
    }))
}

/// ``RetAvg``: ``R_W(sum w_i R_W^-1(W_i))`` at the previous point ``W``.
///
/// ``(p, k)``, points ``(m, p, k)`` and weights ``(m)`` give ``(p, k)``. The retraction is
/// ``"polar"`` or ``"qr"``.
///
/// Reference: Kaneko, Fiori and Tanaka, "Empirical arithmetic averaging over the compact Stiefel
/// manifold", IEEE Trans. Signal Process. 61, 2013.
#[pyfunction]
#[pyo3(signature = (previous, points, weights = None, *, kind = "polar"))]
pub(crate) fn ret_avg<'py>(
    python: Python<'py>,
    previous: Array<'py>,
    points: Array<'py>,
    weights: Option<Weights>,
    kind: &str,
) -> Given<'py> {
    let kind = retraction(kind)?;
    typed!(previous, points => {
        let previous = previous_of(previous)?;
        averaged(python, points, weights, |stack, weights| {
            Ok(average::ret_avg(kind, &previous, &matrices(stack)?, weights)?.point)
        })
    })
}

/// The R-barycenter: the fixed point of ``G <- R_G(sum w_i R_G^-1(W_i))``.
///
/// The iteration starts at ``proj_avg``. Points ``(m, p, k)`` and weights ``(m)`` give ``(p, k)``.
/// The retraction is ``"polar"`` or ``"qr"``.
///
/// Reference: Bouchard et al., "Beyond R-barycenters: an effective averaging method on Stiefel and
/// Grassmann manifolds", 2025.
#[pyfunction]
#[pyo3(signature = (points, weights = None, *, kind = "polar", tolerance = 1e-12, max_iterations = 200))]
pub(crate) fn r_barycenter<'py>(
    python: Python<'py>,
    points: Array<'py>,
    weights: Option<Weights>,
    kind: &str,
    tolerance: f64,
    max_iterations: i128,
) -> Given<'py> {
    let (kind, limits) = (retraction(kind)?, limits(tolerance, max_iterations)?);
    typed!(points => averaged(python, points, weights, |stack, weights| {
        Ok(average::r_barycenter(kind, &matrices(stack)?, weights, limits)?.point)
    }))
}

/// The Karcher mean: the minimiser of ``sum w_i d(Y, W_i)^2`` with the geodesic distance.
///
/// The iteration is ``Y <- Exp_Y(sum w_i Log_Y(W_i))``. Points ``(m, p, k)`` and weights ``(m)``
/// give ``(p, k)``. The metric is ``"embedded"`` or ``"canonical"``.
///
/// Reference: Karcher, "Riemannian center of mass and mollifier smoothing", Commun. Pure Appl.
/// Math. 30, 1977.
#[pyfunction]
#[pyo3(signature = (points, weights = None, *, metric = "embedded", tolerance = 1e-12, max_iterations = 200))]
pub(crate) fn karcher_mean<'py>(
    python: Python<'py>,
    points: Array<'py>,
    weights: Option<Weights>,
    metric: &str,
    tolerance: f64,
    max_iterations: i128,
) -> Given<'py> {
    let (metric, limits) = (stiefel_metric(metric)?, limits(tolerance, max_iterations)?);
    typed!(points => averaged(python, points, weights, |stack, weights| {
        Ok(average::karcher_mean(metric, &matrices(stack)?, weights, limits)?.point)
    }))
}

/// The agreement of points: the smallest singular value of ``sum w_i W_i / sum w_i``.
///
/// It is 1 for equal points and 0 if some direction cancels. Points ``(m, p, k)`` and weights
/// ``(m)`` give a number.
///
/// Reference: Chikuse, "Statistics on Special Manifolds", 2003, section 2.4 (modal orientation).
#[pyfunction]
#[pyo3(signature = (points, weights = None))]
pub(crate) fn consensus<'py>(
    python: Python<'py>,
    points: Array<'py>,
    weights: Option<Weights>,
) -> PyResult<f64> {
    typed!(points => {
        let (stack, weights) = (points.list(POINTS)?, weights.map(|Weights(weights)| weights));
        let made = python.detach(|| {
            let sum = summed(stack, weights.as_deref())?;
            let mut polar = fedspd_manifold::Polar::new(stack.rows, stack.columns)?;
            polar.smallest_singular_value_of(sum.mean()?.as_slice())
        });
        made.map_err(|fault| of_geometry(&fault))
    })
}
