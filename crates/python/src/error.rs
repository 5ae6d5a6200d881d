//! Faults as Python users expect them.

use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;

create_exception!(
    fedspd,
    Error,
    PyValueError,
    "What cannot be done with these numbers or settings, and why."
);

/// A fault of the geometry: the arrays do not allow what was asked for.
pub(crate) fn of_geometry(error: &fedspd_manifold::Error) -> PyErr {
    Error::new_err(error.to_string())
}
