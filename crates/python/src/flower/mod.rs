//! Federated training on several machines, for `fedspd.flower`: messages in, messages out.

mod coordinator;
mod message;
mod site;

use fedspd_experiment::config::{Config, ConfigError, Override, Preset};
use fedspd_experiment::remote::{self, Introduction};
use fedspd_federated::Exchange;
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

/// An exchange as Python has it: the round and the exchange within it, both counted from 0.
type Place = (u32, u32);

fn place(exchange: Exchange) -> Place {
    (exchange.round, exchange.number)
}

fn exchange((round, number): Place) -> Exchange {
    Exchange { round, number }
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
