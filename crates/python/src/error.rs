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

/// A fault of the geometry, and where in the stack it is.
pub(crate) fn of_geometry(fault: &Fault, place: Option<usize>) -> PyErr {
    let text = match place {
        Some(place) => format!("place {place} of the stack: {fault}"),
        None => fault.to_string(),
    };
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
