//! Names of runs.

use std::path::PathBuf;

use pyo3::PyErr;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

/// Makes the names of run folders distinct by the settings in which the runs differ.
///
/// ``["spdnet", "spdnet"]`` becomes ``["spdnet, model.dims 18", "spdnet, model.dims 24"]``. Runs
/// that differ in no setting get a number.
#[pyfunction]
pub(crate) fn distinct_names(names: Vec<String>, folders: Vec<PathBuf>) -> PyResult<Vec<String>> {
    if names.len() != folders.len() {
        let (names, folders) = (names.len(), folders.len());
        return Err(PyValueError::new_err(format!("{names} names for {folders} run folders")));
    }
    fedspd_report::distinct_names(names, &folders).map_err(|fault| raised(&fault))
}

fn raised(fault: &fedspd_report::Error) -> PyErr {
    let hint = fault.hint().map_or(String::new(), |hint| format!("; {hint}"));
    let text = format!("{fault}{hint}");
    if fault.is_environment() { PyOSError::new_err(text) } else { crate::error::Error::new_err(text) }
}
