//! Faults as Python exceptions: invalid values raise a `ValueError`, unreadable files an `OSError`.

use fedspd_manifold::Error as Fault;
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyValueError};

create_exception!(fedspd, Error, PyValueError, "Invalid numbers or settings, with the reason.");
create_exception!(
    fedspd,
    NotPositiveDefiniteError,
    Error,
    "A matrix has an eigenvalue that is not positive."
);
create_exception!(fedspd, ConvergenceError, Error, "An iteration did not converge.");

/// Converts a fault of the geometry.
pub(crate) fn of_geometry(fault: &Fault) -> PyErr {
    told(fault, fault.to_string())
}

/// Converts a fault in matrix `place` of `count` matrices.
pub(crate) fn of_stack(mut fault: Fault, place: usize, count: usize) -> PyErr {
    let text = match matrix_of(&mut fault) {
        Some(matrix) => {
            *matrix = place;
            fault.to_string()
        }
        None if count > 1 => format!("index {place} of the stack: {fault}"),
        None => fault.to_string(),
    };
    told(&fault, text)
}

/// Converts a fault in pair `place` of `count` pairs of matrices.
///
/// The geometry reports which argument is at fault, except for values that are not finite.
/// `in_first` tells whether the first matrix is not finite at a row and a column.
pub(crate) fn of_pair(
    mut fault: Fault,
    place: usize,
    count: usize,
    in_first: impl Fn(usize, usize) -> bool,
) -> PyErr {
    let first = match &fault {
        Fault::NotFinite { row, column, .. } => Some(in_first(*row, *column)),
        _ => None,
    };
    let text = match matrix_of(&mut fault) {
        Some(matrix) => {
            let which = if first.unwrap_or(*matrix == 0) { "first" } else { "second" };
            *matrix = place;
            format!("in the {which} array, {fault}")
        }
        None if count == 1 => fault.to_string(),
        None => format!("index {place} of the stack: {fault}"),
    };
    told(&fault, text)
}

fn matrix_of(fault: &mut Fault) -> Option<&mut usize> {
    match fault {
        Fault::NotFinite { matrix, .. }
        | Fault::NotSymmetric { matrix, .. }
        | Fault::NotPositiveDefinite { matrix, .. }
        | Fault::Overflow { matrix, .. }
        | Fault::TooLarge { matrix, .. }
        | Fault::EigenvaluesNotConverged { matrix, .. } => Some(matrix),
        _ => None,
    }
}

fn told(fault: &Fault, text: String) -> PyErr {
    match fault {
        Fault::NotPositiveDefinite { .. } => NotPositiveDefiniteError::new_err(text),
        Fault::NotConverged { .. } | Fault::EigenvaluesNotConverged { .. } | Fault::TooFarApart { .. } => {
            ConvergenceError::new_err(text)
        }
        _ => Error::new_err(text),
    }
}

/// Converts a fault of data, settings or training, with its hint.
pub(crate) fn of_experiment(fault: &fedspd_experiment::Error) -> PyErr {
    let text = match fault.hint() {
        Some(hint) => format!("{fault}; {hint}"),
        None => fault.to_string(),
    };
    if fault.is_environment() { PyOSError::new_err(text) } else { Error::new_err(text) }
}
