//! Federated training on several machines, for `fedspd.flower`: bytes in, bytes out.

mod coordinator;
mod site;

use fedspd_experiment::config::{Config, ConfigError, Override, Precision, Preset};
use fedspd_experiment::remote::{self, Introduction};
use pyo3::prelude::*;

pub(crate) use coordinator::Coordinator;
pub(crate) use site::Site;

use crate::error::of_experiment;
use crate::watch::{Watch, watched};

/// The whole configuration as TOML: that of a built-in experiment by its name, or that of a file's text; with changes such as `train.lr=0.01`.
#[pyfunction]
pub(crate) fn resolve(text: &str, file: &str, changes: Vec<String>) -> PyResult<String> {
    let changes = overrides(&changes).map_err(|error| of_experiment(&error.into()))?;
    let config = match Preset::find(file) {
        Some(preset) => preset.config(&changes),
        None => Config::parse(text, file, &changes),
    };
    Ok(config.map_err(|error| of_experiment(&error.into()))?.to_toml())
}

/// The number and the name that a site introduces itself with.
#[pyfunction]
pub(crate) fn introduced(text: &str) -> PyResult<(u32, String)> {
    let read = Introduction::read(text).map_err(|error| of_experiment(&error))?;
    Ok((read.number, read.name))
}

/// What a site says in words, as one line of bounded length.
#[pyfunction]
pub(crate) fn one_line(text: &str) -> String {
    remote::one_line(text)
}

fn overrides(changes: &[String]) -> Result<Vec<Override>, ConfigError> {
    changes.iter().map(|change| change.parse()).collect()
}

/// The type of numbers that travel, as NumPy writes it.
fn dtype(config: &Config) -> &'static str {
    match config.model.resolved_precision() {
        Precision::F64 => "<f8",
        Precision::F32 => "<f4",
    }
}

/// Calls what may warn, without holding the interpreter.
fn heard<R: Send>(
    python: Python<'_>,
    call: impl FnOnce(&mut Watch<'_>) -> Result<R, fedspd_experiment::Error> + Send,
) -> PyResult<R> {
    watched(python, logger(python)?.unbind(), call)?.map_err(|error| of_experiment(&error))
}

fn logger(python: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    python.import("logging")?.call_method1("getLogger", ("fedspd",))
}
