//! The manifold of SPD matrices.

use fedspd_manifold::{Error, IterationLimits, Spd, SpdMetric, SymmetricEigen};
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;

use crate::arrays::{Array, Number, Stack, give, typed, written};
use crate::choice::{Weights, limits, spd_metric};
use crate::error::of_geometry;

type Given<'py> = PyResult<Bound<'py, PyAny>>;

fn distance<'py>(python: Python<'py>, a: &Array<'py>, b: &Array<'py>, metric: SpdMetric) -> Given<'py> {
    typed!(a, b => {
        let (a, b) = (a.stack()?, b.stack()?);
        let mut spd = Spd::new(a.size()?).map_err(|fault| of_geometry(&fault))?;
        a.zip(python, b, &[], |a, b, out| {
            out[0] = spd.distance(metric, a, b)?;
            Ok(())
        })
    })
}

/// The affine-invariant distance ``|log(A^-1/2 B A^-1/2)|`` of SPD matrices.
///
/// Two stacks ``(..., n, n)`` give ``(...)``. A single matrix is paired with the whole stack.
///
/// Reference: Pennec, Fillard and Ayache, "A Riemannian framework for tensor computing", Int. J.
/// Comput. Vis. 66, 2006.
#[pyfunction]
pub(crate) fn distance_riemannian<'py>(python: Python<'py>, a: Array<'py>, b: Array<'py>) -> Given<'py> {
    distance(python, &a, &b, SpdMetric::AffineInvariant)
}

/// The log-Euclidean distance ``|log A - log B|`` of SPD matrices.
///
/// Two stacks ``(..., n, n)`` give ``(...)``. A single matrix is paired with the whole stack.
///
/// Reference: Arsigny et al., "Geometric means in a novel vector space structure on symmetric
/// positive-definite matrices", SIAM J. Matrix Anal. Appl. 29, 2007.
#[pyfunction]
pub(crate) fn distance_logeuclid<'py>(python: Python<'py>, a: Array<'py>, b: Array<'py>) -> Given<'py> {
    distance(python, &a, &b, SpdMetric::LogEuclidean)
}

/// The point at time ``t`` on the geodesic from ``A`` (time 0) to ``B`` (time 1), ``(..., n, n)``.
///
/// ``"riemannian"``: ``A^1/2 (A^-1/2 B A^-1/2)^t A^1/2``;
/// ``"logeuclid"``: ``exp((1 - t) log A + t log B)``.
///
/// Reference: Bhatia, "Positive Definite Matrices", 2007, chapter 6.
#[pyfunction]
#[pyo3(signature = (a, b, t = 0.5, *, metric = "riemannian"))]
pub(crate) fn geodesic<'py>(
    python: Python<'py>,
    a: Array<'py>,
    b: Array<'py>,
    t: f64,
    metric: &str,
) -> Given<'py> {
    let metric = spd_metric(metric)?;
    typed!(a, b => {
        let (a, b) = (a.stack()?, b.stack()?);
        let n = a.size()?;
        let mut spd = Spd::new(n).map_err(|fault| of_geometry(&fault))?;
        a.zip(python, b, &[n, n], |a, b, out| spd.geodesic(metric, a, b, number(t), out))
    })
}

fn number<T: Number>(value: f64) -> T {
    T::from_f64(value)
}

/// The end of the geodesic from ``base`` with velocity ``tangents``, ``(..., n, n)``.
///
/// ``"riemannian"``: ``P^1/2 exp(P^-1/2 X P^-1/2) P^1/2``;
/// ``"logeuclid"``: ``exp(log P + D log(P)[X])``.
///
/// Reference: Pennec, Fillard and Ayache, "A Riemannian framework for tensor computing", Int. J.
/// Comput. Vis. 66, 2006.
#[pyfunction]
#[pyo3(signature = (base, tangents, *, metric = "riemannian"))]
pub(crate) fn exp_map<'py>(
    python: Python<'py>,
    base: Array<'py>,
    tangents: Array<'py>,
    metric: &str,
) -> Given<'py> {
    let metric = spd_metric(metric)?;
    typed!(base, tangents => {
        let (base, tangents) = (base.stack()?, tangents.stack()?);
        let n = base.size()?;
        let mut spd = Spd::new(n).map_err(|fault| of_geometry(&fault))?;
        base.zip(python, tangents, &[n, n], |base, x, out| spd.exp(metric, base, x, out))
    })
}

/// The initial velocity of the geodesic from ``base`` to ``points``, ``(..., n, n)``.
///
/// ``"riemannian"``: ``P^1/2 log(P^-1/2 Y P^-1/2) P^1/2``;
/// ``"logeuclid"``: ``D exp(log P)[log Y - log P]``.
///
/// Reference: Pennec, Fillard and Ayache, "A Riemannian framework for tensor computing", Int. J.
/// Comput. Vis. 66, 2006.
#[pyfunction]
#[pyo3(signature = (base, points, *, metric = "riemannian"))]
pub(crate) fn log_map<'py>(
    python: Python<'py>,
    base: Array<'py>,
    points: Array<'py>,
    metric: &str,
) -> Given<'py> {
    let metric = spd_metric(metric)?;
    typed!(base, points => {
        let (base, points) = (base.stack()?, points.stack()?);
        let n = base.size()?;
        let mut spd = Spd::new(n).map_err(|fault| of_geometry(&fault))?;
        base.zip(python, points, &[n, n], |base, y, out| spd.log(metric, base, y, out))
    })
}

fn mean<'py>(
    python: Python<'py>,
    matrices: &Array<'py>,
    weights: Option<Weights>,
    metric: SpdMetric,
    limits: IterationLimits,
) -> Given<'py> {
    let weights = weights.map(|Weights(weights)| weights);
    typed!(matrices => {
        let stack = matrices.list("SPD matrices of shape (m, n, n)")?;
        let n = stack.size()?;
        let made = python.detach(|| {
            let made = Spd::new(n)?.mean(metric, stack.numbers, weights.as_deref(), limits);
            made.map_err(|fault| traced(stack, fault))
        });
        let made = made.map_err(|fault| of_geometry(&fault))?;
        if !made.converged {
            let IterationLimits { iterations, .. } = limits;
            let text = format!("the mean did not converge in {iterations} iterations: gradient {:e}", made.gradient_norm);
            let warning = std::ffi::CString::new(text)?;
            PyErr::warn(python, &python.get_type::<PyUserWarning>(), &warning, 1)?;
        }
        give(python, made.point, &[], &[n, n])
    })
}

/// Returns the fault of a mean, with the index of the first matrix that is not positive definite.
///
/// The mean may report the fault in an intermediate matrix.
fn traced<T: Number>(stack: Stack<'_, T>, fault: Error) -> Error {
    if !matches!(fault, Error::NotPositiveDefinite { .. }) {
        return fault;
    }
    let mut values = vec![T::ZERO; stack.count() * stack.rows];
    let spectra =
        SymmetricEigen::new(stack.rows).and_then(|mut eigen| eigen.eigenvalues(stack.numbers, &mut values));
    let smallest = values.chunks_exact(stack.rows).map(|values| values[0].to_f64());
    match (spectra, smallest.enumerate().find(|(_, value)| *value <= 0.0)) {
        (Ok(()), Some((matrix, smallest_eigenvalue))) => {
            Error::NotPositiveDefinite { matrix, smallest_eigenvalue }
        }
        _ => fault,
    }
}

/// The Riemannian (Karcher) mean of SPD matrices.
///
/// It minimises ``sum w_i d(G, X_i)^2`` with the affine-invariant distance. ``(m, n, n)`` and
/// weights ``(m)`` give ``(n, n)``. The iteration is
/// ``G <- G^1/2 exp(s sum w_i log(G^-1/2 X_i G^-1/2)) G^1/2``, with a step ``s`` that always
/// contracts. A warning is issued if it does not converge in ``max_iterations``.
///
/// Reference: Bini and Iannazzo, "Computing the Karcher mean of symmetric positive definite
/// matrices", Linear Algebra Appl. 438, 2013.
#[pyfunction]
#[pyo3(signature = (matrices, weights = None, *, tolerance = 1e-12, max_iterations = 200))]
pub(crate) fn mean_riemannian<'py>(
    python: Python<'py>,
    matrices: Array<'py>,
    weights: Option<Weights>,
    tolerance: f64,
    max_iterations: i128,
) -> Given<'py> {
    mean(python, &matrices, weights, SpdMetric::AffineInvariant, limits(tolerance, max_iterations)?)
}

/// The log-Euclidean mean ``exp(sum w_i log X_i)`` of SPD matrices.
///
/// ``(m, n, n)`` and weights ``(m)`` give ``(n, n)``.
///
/// Reference: Arsigny et al., "Geometric means in a novel vector space structure on symmetric
/// positive-definite matrices", SIAM J. Matrix Anal. Appl. 29, 2007.
#[pyfunction]
#[pyo3(signature = (matrices, weights = None))]
pub(crate) fn mean_logeuclid<'py>(
    python: Python<'py>,
    matrices: Array<'py>,
    weights: Option<Weights>,
) -> Given<'py> {
    mean(python, &matrices, weights, SpdMetric::LogEuclidean, IterationLimits::default())
}

/// Recentres SPD matrices: ``G^-1/2 X_i G^-1/2``, which maps the reference ``G`` to the identity.
///
/// ``(..., n, n)`` and ``(n, n)`` give ``(..., n, n)``.
///
/// Reference: Zanini et al., "Transfer learning: a Riemannian geometry framework with applications
/// to brain-computer interfaces", IEEE Trans. Biomed. Eng. 65, 2018.
#[pyfunction]
pub(crate) fn whiten<'py>(python: Python<'py>, matrices: Array<'py>, reference: Array<'py>) -> Given<'py> {
    typed!(matrices, reference => {
        let (stack, reference) = (matrices.stack()?, reference.stack()?);
        let n = stack.size()?;
        if (reference.rows, reference.columns, reference.leading.len()) != (n, n, 0) {
            let found = [reference.leading, &[reference.rows, reference.columns]].concat();
            let fault = format!("expected a reference of shape ({n}, {n}), found {}", written(&found));
            return Err(PyValueError::new_err(fault));
        }
        let made = python.detach(|| {
            let mut out = stack.numbers.to_vec();
            if !out.is_empty() {
                Spd::new(n)?.whiten(reference.numbers, stack.numbers, &mut out)?;
            }
            Ok(out)
        });
        give(python, made.map_err(|fault| of_geometry(&fault))?, stack.leading, &[n, n])
    })
}
