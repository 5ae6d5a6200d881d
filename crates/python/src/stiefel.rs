//! The manifold of matrices with orthonormal columns.

use fedspd_manifold::{Error, Matrix, Polar, Qr, Retraction, Stiefel, StiefelMetric};
use fedspd_nn::{Purpose, Seed};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

use crate::arrays::{Array, give, typed};
use crate::choice::{retraction, stiefel_metric, whole};
use crate::error::of_geometry;

type Given<'py> = PyResult<Bound<'py, PyAny>>;

fn checked<T>(made: Result<T, Error>) -> PyResult<T> {
    made.map_err(|fault| of_geometry(&fault))
}

/// The polar factor ``uf(A) = A (A^T A)^-1/2``: the nearest matrix with orthonormal columns.
///
/// ``(..., p, k)`` to ``(..., p, k)``, ``p >= k``.
///
/// Reference: Higham, "Functions of Matrices", 2008, chapter 8.
#[pyfunction]
pub(crate) fn polar<'py>(python: Python<'py>, matrices: Array<'py>) -> Given<'py> {
    typed!(matrices => {
        let stack = matrices.stack()?;
        let mut polar = checked(Polar::new(stack.rows, stack.columns))?;
        stack.map(python, &[stack.rows, stack.columns], |matrix, out| polar.project(matrix, out))
    })
}

/// The QR factor ``qf(A)``: ``A = Q R`` with a positive diagonal of ``R``.
///
/// ``(..., p, k)`` to ``(..., p, k)``, ``p >= k``.
///
/// Reference: Absil, Mahony and Sepulchre, "Optimization Algorithms on Matrix Manifolds", 2008,
/// example 4.1.3.
#[pyfunction]
pub(crate) fn qr_factor<'py>(python: Python<'py>, matrices: Array<'py>) -> Given<'py> {
    typed!(matrices => {
        let stack = matrices.stack()?;
        let mut qr = checked(Qr::new(stack.rows, stack.columns))?;
        stack.map(python, &[stack.rows, stack.columns], |matrix, out| {
            qr.factor(matrix)?;
            out.copy_from_slice(qr.q());
            Ok(())
        })
    })
}

/// The projection to the tangent space at ``base``: ``P_W(X) = X - W sym(W^T X)``. ``(..., p, k)``.
///
/// It turns a Euclidean gradient into the Riemannian gradient.
///
/// Reference: Absil, Mahony and Sepulchre, "Optimization Algorithms on Matrix Manifolds", 2008,
/// example 3.6.2.
#[pyfunction]
pub(crate) fn tangent_project<'py>(
    python: Python<'py>,
    base: Array<'py>,
    matrices: Array<'py>,
) -> Given<'py> {
    typed!(base, matrices => {
        let (base, matrices) = (base.stack()?, matrices.stack()?);
        let mut stiefel = checked(Stiefel::new(base.rows, base.columns))?;
        base.zip(python, matrices, &[base.rows, base.columns], |w, x, out| stiefel.project(w, x, out))
    })
}

/// The orthographic lifting of points to the tangent space at ``base``: ``L_W(Y) = P_W(Y - W)``.
///
/// ``(..., p, k)``.
///
/// Reference: Kaneko, Fiori and Tanaka, "Empirical arithmetic averaging over the compact Stiefel
/// manifold", IEEE Trans. Signal Process. 61, 2013.
#[pyfunction]
pub(crate) fn lift<'py>(python: Python<'py>, base: Array<'py>, points: Array<'py>) -> Given<'py> {
    typed!(base, points => {
        let (base, points) = (base.stack()?, points.stack()?);
        let mut stiefel = checked(Stiefel::new(base.rows, base.columns))?;
        base.zip(python, points, &[base.rows, base.columns], |w, y, out| stiefel.lift(w, y, out))
    })
}

/// Transport of tangent vectors to the tangent space at ``target``, by projection: ``P_W(X)``.
///
/// ``(..., p, k)``.
///
/// Reference: Absil, Mahony and Sepulchre, "Optimization Algorithms on Matrix Manifolds", 2008,
/// section 8.1.3.
#[pyfunction]
pub(crate) fn transport<'py>(python: Python<'py>, target: Array<'py>, tangents: Array<'py>) -> Given<'py> {
    tangent_project(python, target, tangents)
}

/// The distance from orthonormal columns: ``|W^T W - I|``. ``(..., p, k)`` to ``(...)``.
///
/// Reference: Absil, Mahony and Sepulchre, "Optimization Algorithms on Matrix Manifolds", 2008,
/// section 3.3.2.
#[pyfunction]
pub(crate) fn feasibility_error<'py>(python: Python<'py>, matrices: Array<'py>) -> Given<'py> {
    typed!(matrices => {
        let stack = matrices.stack()?;
        let mut stiefel = checked(Stiefel::new(stack.rows, stack.columns))?;
        stack.map(python, &[], |matrix, out| {
            out[0] = stiefel.feasibility_error(matrix)?;
            Ok(())
        })
    })
}

/// The retraction ``R_W(X)``: ``uf(W + X)`` or, with ``kind="qr"``, ``qf(W + X)``. ``(..., p, k)``.
///
/// Reference: Absil, Mahony and Sepulchre, "Optimization Algorithms on Matrix Manifolds", 2008,
/// example 4.1.3.
#[pyfunction]
#[pyo3(signature = (base, tangents, *, kind = "polar"))]
pub(crate) fn retract<'py>(
    python: Python<'py>,
    base: Array<'py>,
    tangents: Array<'py>,
    kind: &str,
) -> Given<'py> {
    let kind = retraction(kind)?;
    typed!(base, tangents => {
        let (base, tangents) = (base.stack()?, tangents.stack()?);
        let mut retraction = checked(Retraction::new(kind, base.rows, base.columns))?;
        let shape = [base.rows, base.columns];
        base.zip(python, tangents, &shape, |w, x, out| retraction.retract_once(w, x, out))
    })
}

/// The tangent vector ``X`` at ``base`` with ``R_W(X) = Y``. ``(..., p, k)``.
///
/// Let ``M = W^T Y``. Polar: ``X = Y S - W``, where ``S`` is symmetric positive and solves
/// ``M S + S M^T = 2 I``. QR: ``X = Y R - W``, where ``R`` is upper triangular and solves
/// ``M R + R^T M^T = 2 I``.
///
/// Reference: Kaneko, Fiori and Tanaka, "Empirical arithmetic averaging over the compact Stiefel
/// manifold", IEEE Trans. Signal Process. 61, 2013.
#[pyfunction]
#[pyo3(signature = (base, points, *, kind = "polar"))]
pub(crate) fn inverse_retract<'py>(
    python: Python<'py>,
    base: Array<'py>,
    points: Array<'py>,
    kind: &str,
) -> Given<'py> {
    let kind = retraction(kind)?;
    typed!(base, points => {
        let (base, points) = (base.stack()?, points.stack()?);
        let mut retraction = checked(Retraction::new(kind, base.rows, base.columns))?;
        let shape = [base.rows, base.columns];
        base.zip(python, points, &shape, |w, y, out| retraction.inverse(w, y, out))
    })
}

/// The end of the geodesic from ``base`` with velocity ``tangents``. ``(..., p, k)``.
///
/// The metric is ``"embedded"`` or ``"canonical"``. Let ``A = W^T X`` and
/// ``(I - W W^T) X = Q R``. Embedded: ``[W Q] e^[[2A, -R^T], [R, 0]] [I; 0] e^-A``. Canonical:
/// ``[W Q] e^[[A, -R^T], [R, 0]] [I; 0]``.
///
/// Reference: Edelman, Arias and Smith, "The geometry of algorithms with orthogonality
/// constraints", SIAM J. Matrix Anal. Appl. 20, 1998.
#[pyfunction]
#[pyo3(signature = (base, tangents, *, metric = "embedded"))]
pub(crate) fn stiefel_exp<'py>(
    python: Python<'py>,
    base: Array<'py>,
    tangents: Array<'py>,
    metric: &str,
) -> Given<'py> {
    along(python, &base, &tangents, stiefel_metric(metric)?, true)
}

/// The initial velocity of the geodesic from ``base`` to ``points``, by shooting. ``(..., p, k)``.
///
/// The metric is ``"embedded"`` or ``"canonical"``.
///
/// Reference: Zimmermann and Hueper, "Computing the Riemannian logarithm on the Stiefel manifold",
/// SIAM J. Matrix Anal. Appl. 43, 2022.
#[pyfunction]
#[pyo3(signature = (base, points, *, metric = "embedded"))]
pub(crate) fn stiefel_log<'py>(
    python: Python<'py>,
    base: Array<'py>,
    points: Array<'py>,
    metric: &str,
) -> Given<'py> {
    along(python, &base, &points, stiefel_metric(metric)?, false)
}

/// Computes the exponential (`forward`) or the logarithm.
fn along<'py>(
    python: Python<'py>,
    base: &Array<'py>,
    other: &Array<'py>,
    metric: StiefelMetric,
    forward: bool,
) -> Given<'py> {
    typed!(base, other => {
        let (base, other) = (base.stack()?, other.stack()?);
        let (p, k) = (base.rows, base.columns);
        let mut stiefel = checked(Stiefel::new(p, k))?;
        base.zip(python, other, &[p, k], |w, x, out| {
            let (w, x) = (Matrix::from_rows(p, k, w.to_vec())?, Matrix::from_rows(p, k, x.to_vec())?);
            let made = if forward { stiefel.exp(metric, &w, &x)? } else { stiefel.log(metric, &w, &x)? };
            out.copy_from_slice(made.as_slice());
            Ok(())
        })
    })
}

/// Draws points from the uniform distribution: QR factors of Gaussian matrices.
///
/// The shape is ``(p, k)``, or ``(size, p, k)``. A seed gives the same points on every machine.
///
/// Reference: Chikuse, "Statistics on Special Manifolds", 2003, section 2.5.
#[pyfunction]
#[pyo3(signature = (p, k, size = None, *, seed))]
pub(crate) fn random_stiefel(
    python: Python<'_>,
    p: i128,
    k: i128,
    size: Option<i128>,
    seed: i128,
) -> Given<'_> {
    let (p, k) = (whole("p", p)?, whole("k", k)?);
    let size = size.map(|size| whole("size", size)).transpose()?;
    let seed = Seed(whole("seed", seed)? as u64);
    let stiefel = checked(Stiefel::<f64>::new(p, k))?;
    let count = size.unwrap_or(1).saturating_mul(p * k);
    let mut numbers = Vec::new();
    numbers.try_reserve_exact(count).map_err(|_| {
        PyMemoryError::new_err(format!("no memory for {} matrices of {p} x {k}", size.unwrap_or(1)))
    })?;
    let made = python.detach(|| {
        let mut rng = seed.stream(Purpose::Generator).item(0);
        for _ in 0..size.unwrap_or(1) {
            numbers.extend_from_slice(stiefel.random(&mut rng)?.as_slice());
        }
        Ok(numbers)
    });
    let leading = size.map(|size| vec![size]).unwrap_or_default();
    give(python, checked(made)?, &leading, &[p, k])
}
