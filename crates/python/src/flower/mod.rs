//! Server and sites of federated training across machines, for `fedspd.flower`.

mod coordinator;
mod message;
mod site;

use std::path::PathBuf;

use fedspd_experiment::config::{Config, ConfigError, Override, Preset};
use fedspd_experiment::remote::{self, Introduction, SitePolicy, Studies, StudyHash};
use fedspd_federated::Exchange;
use pyo3::prelude::*;

pub(crate) use coordinator::Coordinator;
pub(crate) use site::Site;

use crate::error::of_experiment;
use crate::watch::{Watch, watched};

/// Returns the complete configuration as TOML, with changes such as `train.lr=0.01`.
///
/// `file` is the name of a built-in experiment, or of the file with this text.
#[pyfunction]
pub(crate) fn resolve(text: &str, file: &str, changes: Vec<String>) -> PyResult<String> {
    let changes = overrides(&changes).map_err(|error| of_experiment(&error.into()))?;
    let config = match Preset::find(file) {
        Some(preset) => preset.config(&changes),
        None => Config::parse(text, file, &changes),
    };
    Ok(config.map_err(|error| of_experiment(&error.into()))?.to_toml())
}

/// Returns the number and the name in a site's introduction.
#[pyfunction]
pub(crate) fn introduced(text: &str) -> PyResult<(u32, String)> {
    let read = Introduction::read(text).map_err(|error| of_experiment(&error))?;
    Ok((read.number, read.name))
}

/// Returns a site's text as one line of bounded length.
#[pyfunction]
pub(crate) fn one_line(text: &str) -> String {
    remote::one_line(text)
}

/// Returns the SHA-256 that names a study: that of its configuration as TOML.
#[pyfunction]
pub(crate) fn study(config: &str) -> String {
    StudyHash::of(config).to_string()
}

/// Checks a site's policy, and returns the folder of its state, if it names one.
#[pyfunction]
pub(crate) fn policy(text: &str, file: PathBuf) -> PyResult<Option<PathBuf>> {
    let policy = SitePolicy::parse(text, &file).map_err(|error| of_experiment(&error))?;
    Ok(policy.state)
}

/// Returns the studies that asked for a site: the hash, whether each is approved, and in plain
/// words what it asks for.
#[pyfunction]
pub(crate) fn review(
    text: &str,
    file: PathBuf,
    state: PathBuf,
) -> PyResult<Vec<(String, bool, Vec<String>)>> {
    let read = || -> Result<Vec<_>, fedspd_experiment::Error> {
        let policy = SitePolicy::parse(text, &file)?;
        let studies = Studies::new(&state);
        let described = |study: StudyHash| -> Result<_, fedspd_experiment::Error> {
            let config = Config::parse(&studies.read(&study)?, "the study", &[])?;
            let mut lines = policy.explain(&config);
            lines.extend(
                policy.allows(&config).err().map(|error| format!("Your policy refuses it: {error}.")),
            );
            Ok((study.to_string(), studies.is_approved(&study), lines))
        };
        studies.all()?.into_iter().map(described).collect()
    };
    read().map_err(|error| of_experiment(&error))
}

/// Approves a study that asked for a site.
#[pyfunction]
pub(crate) fn approve(state: PathBuf, study: &str) -> PyResult<()> {
    let study = study.parse().map_err(|error| of_experiment(&error))?;
    Studies::new(&state).approve(&study).map_err(|error| of_experiment(&error))
}

fn overrides(changes: &[String]) -> Result<Vec<Override>, ConfigError> {
    changes.iter().map(|change| change.parse()).collect()
}

/// An exchange in Python: the round and the exchange within it, both counted from 0.
type Place = (u32, u32);

fn place(exchange: Exchange) -> Place {
    (exchange.round, exchange.number)
}

fn exchange((round, number): Place) -> Exchange {
    Exchange { round, number }
}

/// Calls a function with the interpreter released; its warnings go to the logger.
fn heard<R: Send>(
    python: Python<'_>,
    call: impl FnOnce(&mut Watch<'_>) -> Result<R, fedspd_experiment::Error> + Send,
) -> PyResult<R> {
    watched(python, logger(python)?.unbind(), call)?.map_err(|error| of_experiment(&error))
}

fn logger(python: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    python.import("logging")?.call_method1("getLogger", ("fedspd",))
}
