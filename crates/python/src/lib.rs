//! The Rust half of the Python package: `fedspd._core`.
//!
//! What Python users see is in `python/fedspd`; here arrays become slices, faults become exceptions, and the interpreter is let go while Rust works.

mod error;

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the `fedspd` command: words in, the first its name; exit code out.
#[pyfunction]
fn command(python: Python<'_>, words: Vec<OsString>) -> u8 {
    python.detach(|| fedspd::command(words))
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("Error", module.py().get_type::<error::Error>())?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    Ok(())
}
