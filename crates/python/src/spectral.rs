//! Functions of the eigenvalues of symmetric matrices.

use fedspd_manifold::{SpectralFunction, SpectralMap, SymmetricEigen, Vectorisation};
use pyo3::prelude::*;

use crate::arrays::{Array, Number, Typed, give, typed};
use crate::error::of_geometry;

type Given<'py> = PyResult<Bound<'py, PyAny>>;

fn apply<'py, T: Number>(
    python: Python<'py>,
    matrices: &Typed<'_, T>,
    function: SpectralFunction<T>,
) -> Given<'py> {
    let stack = matrices.stack()?;
    let n = stack.size()?;
    let made = python.detach(|| {
        let mut out = vec![T::ZERO; stack.numbers.len()];
        if !out.is_empty() {
            SpectralMap::new(n)?.apply(function, stack.numbers, &mut out)?;
        }
        Ok(out)
    });
    give(python, made.map_err(|fault| of_geometry(&fault))?, stack.leading, &[n, n])
}

/// Eigenvalues, ascending, and eigenvectors of symmetric matrices: ``A = U diag(l) U^T``.
///
/// ``(..., n, n)`` gives ``(..., n)`` and ``(..., n, n)``, with eigenvectors as columns. Several
/// matrices are decomposed at once, one in each SIMD lane. The results do not depend on the number
/// of matrices.
///
/// Reference: Golub and Van Loan, "Matrix Computations", 4th edition, section 8.3 (tridiagonal QL).
#[pyfunction]
pub(crate) fn eigh<'py>(
    python: Python<'py>,
    matrices: Array<'py>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    typed!(matrices => {
        let stack = matrices.stack()?;
        let n = stack.size()?;
        let made = python.detach(|| {
            let zeros = |size: usize| vec![Default::default(); stack.count() * size];
            let (mut values, mut vectors) = (zeros(n), zeros(n * n));
            if !values.is_empty() {
                SymmetricEigen::new(n)?.decompose(stack.numbers, &mut values, &mut vectors)?;
            }
            Ok((values, vectors))
        });
        let (values, vectors) = made.map_err(|fault| of_geometry(&fault))?;
        Ok((give(python, values, stack.leading, &[n])?, give(python, vectors, stack.leading, &[n, n])?))
    })
}

/// The logarithm ``U diag(log l) U^T`` of SPD matrices, ``(..., n, n)`` to ``(..., n, n)``.
///
/// Reference: Higham, "Functions of Matrices", 2008.
#[pyfunction]
pub(crate) fn logm<'py>(python: Python<'py>, matrices: Array<'py>) -> Given<'py> {
    typed!(matrices => apply(python, matrices, SpectralFunction::Log))
}

/// The exponential ``U diag(exp l) U^T`` of symmetric matrices, ``(..., n, n)`` to ``(..., n, n)``.
///
/// Reference: Higham, "Functions of Matrices", 2008.
#[pyfunction]
pub(crate) fn expm<'py>(python: Python<'py>, matrices: Array<'py>) -> Given<'py> {
    typed!(matrices => apply(python, matrices, SpectralFunction::Exp))
}

/// The square root ``U diag(sqrt l) U^T`` of SPD matrices, ``(..., n, n)`` to ``(..., n, n)``.
///
/// Reference: Higham, "Functions of Matrices", 2008.
#[pyfunction]
pub(crate) fn sqrtm<'py>(python: Python<'py>, matrices: Array<'py>) -> Given<'py> {
    typed!(matrices => apply(python, matrices, SpectralFunction::Sqrt))
}

/// The inverse square root ``U diag(1/sqrt l) U^T`` of SPD matrices.
///
/// ``(..., n, n)`` to ``(..., n, n)``.
///
/// Reference: Higham, "Functions of Matrices", 2008.
#[pyfunction]
pub(crate) fn invsqrtm<'py>(python: Python<'py>, matrices: Array<'py>) -> Given<'py> {
    typed!(matrices => apply(python, matrices, SpectralFunction::InverseSqrt))
}

/// The power ``U diag(l^exponent) U^T`` of SPD matrices, ``(..., n, n)`` to ``(..., n, n)``.
///
/// Reference: Higham, "Functions of Matrices", 2008.
#[pyfunction]
pub(crate) fn powm<'py>(python: Python<'py>, matrices: Array<'py>, exponent: f64) -> Given<'py> {
    typed!(matrices => apply(python, matrices, SpectralFunction::Power(number(exponent))))
}

/// The rectification ``U diag(max(l, floor)) U^T`` of symmetric matrices.
///
/// ``(..., n, n)`` to ``(..., n, n)``.
///
/// Reference: Huang and Van Gool, "A Riemannian network for SPD matrix learning", AAAI 2017.
#[pyfunction]
pub(crate) fn reeig<'py>(python: Python<'py>, matrices: Array<'py>, floor: f64) -> Given<'py> {
    typed!(matrices => apply(python, matrices, SpectralFunction::Clamp { floor: number(floor) }))
}

fn number<T: Number>(value: f64) -> T {
    T::from_f64(value)
}

fn vector<'py>(python: Python<'py>, matrices: &Array<'py>, kind: Vectorisation) -> Given<'py> {
    typed!(matrices => {
        let stack = matrices.stack()?;
        let n = stack.size()?;
        stack.map(python, &[kind.length(n)], |matrix, out| kind.apply(n, matrix, out))
    })
}

/// All entries, row by row: ``(..., n, n)`` to ``(..., n n)``.
///
/// The paper's network uses it before its linear layer.
///
/// Reference: Magnus and Neudecker, "The elimination matrix: some lemmas and applications", SIAM J.
/// Algebraic Discrete Methods 1, 1980.
#[pyfunction]
pub(crate) fn vec<'py>(python: Python<'py>, matrices: Array<'py>) -> Given<'py> {
    vector(python, &matrices, Vectorisation::Vec)
}

/// The lower triangle, row by row: ``(..., n, n)`` to ``(..., n (n + 1)/2)``.
///
/// Reference: Magnus and Neudecker, "The elimination matrix: some lemmas and applications", SIAM J.
/// Algebraic Discrete Methods 1, 1980.
#[pyfunction]
pub(crate) fn vech<'py>(python: Python<'py>, matrices: Array<'py>) -> Given<'py> {
    vector(python, &matrices, Vectorisation::Vech)
}

/// The lower triangle, row by row, with off-diagonal entries times ``sqrt 2``.
///
/// It preserves inner products: ``<v(A), v(B)> = tr(A B)``. ``(..., n, n)`` to
/// ``(..., n (n + 1)/2)``.
///
/// Reference: Barachant et al., "Multiclass brain-computer interface classification by Riemannian
/// geometry", IEEE Trans. Biomed. Eng. 59, 2012.
#[pyfunction]
pub(crate) fn isometric_vech<'py>(python: Python<'py>, matrices: Array<'py>) -> Given<'py> {
    vector(python, &matrices, Vectorisation::IsometricVech)
}
