//! Faults as Python users expect them: values that will not do are a `ValueError`, files that cannot be read an `OSError`.

use fedspd_manifold::Error as Fault;
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyValueError};

create_exception!(
    fedspd,
    Error,
    PyValueError,
    "What cannot be done with these numbers or settings, and why."
);
create_exception!(
    fedspd,
    NotPositiveDefiniteError,
    Error,
    "A matrix has an eigenvalue that is not positive."
);
create_exception!(fedspd, ConvergenceError, Error, "An iteration did not come to its end.");

/// A fault of the geometry.
pub(crate) fn of_geometry(fault: &Fault) -> PyErr {
    told(fault, fault.to_string())
}

/// A fault in one of so many matrices that were looked at one by one.
pub(crate) fn of_stack(mut fault: Fault, place: usize, count: usize) -> PyErr {
    let text = match matrix_of(&mut fault) {
        Some(matrix) => {
            *matrix = place;
            fault.to_string()
        }
        None if count > 1 => format!("place {place} of the stack: {fault}"),
        None => fault.to_string(),
    };
    told(&fault, text)
}

/// A fault in one of so many pairs of matrices, where the geometry numbers the arguments. Which one is not finite, `in_first` says of a row and a column.
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
        None => format!("place {place} of the stack: {fault}"),
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

/// A fault of data, settings or training, with what can be done about it.
pub(crate) fn of_experiment(fault: &fedspd_experiment::Error) -> PyErr {
    let text = match fault.hint() {
        Some(hint) => format!("{fault}; {hint}"),
        None => fault.to_string(),
    };
    if fault.is_environment() { PyOSError::new_err(text) } else { Error::new_err(text) }
}
