//! The Python class of a client.

use std::path::{Path, PathBuf};

use fedspd_experiment::remote::{self, Identity, SitePolicy, SiteTask};
use pyo3::prelude::*;

use super::message::{Given, Made, given, made};
use super::{Place, exchange, heard, logger};
use crate::error::{Error, of_experiment};
use crate::watch::Watch;

/// A client with its own trials, and its state on its own disk.
#[pyclass(module = "fedspd._core")]
pub(crate) struct Site {
    inner: remote::Site,
}

#[pymethods]
impl Site {
    /// Opens a site for a study that asks for it. Takes the text of its policy, the name of its
    /// file, the folder for its state, and the study's configuration as TOML.
    #[staticmethod]
    fn asked(
        python: Python<'_>,
        policy: &str,
        file: PathBuf,
        state: PathBuf,
        config: &str,
    ) -> PyResult<Self> {
        opened(python, policy, &file, state, |policy, state, watch| {
            remote::Site::asked(policy, state, config, &(), watch)
        })
    }

    /// Opens a site for a message of a run. Its study must have asked before.
    #[staticmethod]
    fn of_run(
        python: Python<'_>,
        policy: &str,
        file: PathBuf,
        state: PathBuf,
        study: &str,
        run: &str,
    ) -> PyResult<Self> {
        opened(python, policy, &file, state, |policy, state, watch| {
            remote::Site::of_run(policy, state, &study.parse()?, &run.parse()?, &(), watch)
        })
    }

    /// Returns the site's introduction to the server, as JSON.
    ///
    /// It holds counts of trials, classes and channels, but no trial and no subject's name.
    fn introduce(&self, python: Python<'_>) -> PyResult<String> {
        let introduction = for_server(python, || self.inner.introduce())?;
        serde_json::to_string(&introduction).map_err(|error| Error::new_err(error.to_string()))
    }

    /// Trains and returns the reply to a message of the server.
    ///
    /// Exceptions of this method and of `evaluate` may be sent to the server. The full error is in
    /// the site's log.
    #[allow(clippy::too_many_arguments)] // one for each entry of the message
    fn train<'py>(
        &self,
        python: Python<'py>,
        run: &str,
        place: Place,
        epochs: u32,
        learning_rate: f64,
        since: Option<Place>,
        message: Vec<Given>,
    ) -> PyResult<Vec<Made<'py>>> {
        let message = given(message)?;
        let reply = for_server(python, || {
            let (run, exchange, since) = (run.parse()?, exchange(place), since.map(exchange));
            self.inner.train(&SiteTask { run, exchange, epochs, learning_rate, since, message })
        })?;
        Ok(made(python, &reply))
    }

    /// Returns the scores of a model on the site's validation and test trials, as requested.
    fn evaluate<'py>(
        &self,
        python: Python<'py>,
        run: &str,
        model: Vec<Given>,
        since: Option<Place>,
        validated: bool,
        tested: bool,
    ) -> PyResult<Vec<Made<'py>>> {
        let model = given(model)?;
        let scores = for_server(python, || {
            let run: Identity = run.parse()?;
            self.inner.evaluate(&run, &model, since.map(exchange), validated, tested)
        })?;
        Ok(made(python, &scores))
    }
}

/// Opens a site with its policy. Its own folder for the state takes precedence.
fn opened(
    python: Python<'_>,
    policy: &str,
    file: &Path,
    state: PathBuf,
    open: impl FnOnce(&SitePolicy, &Path, &mut Watch<'_>) -> Result<remote::Site, fedspd_experiment::Error> + Send,
) -> PyResult<Site> {
    let opened = heard(python, |watch| {
        Ok(SitePolicy::parse(policy, file).and_then(|policy| {
            let state = policy.state.clone().unwrap_or(state);
            open(&policy, &state, watch)
        }))
    })?;
    let inner = opened.map_err(|error| told(python, &error, error.for_server_at_start()))?;
    Ok(Site { inner })
}

/// Calls a function whose errors may hold private details of the site.
///
/// The full error goes to the log. The exception holds only the text that may leave the site.
fn for_server<R: Send>(
    python: Python<'_>,
    call: impl FnOnce() -> Result<R, fedspd_experiment::Error> + Send,
) -> PyResult<R> {
    let call = |_: &mut Watch<'_>| Ok(call());
    heard(python, call)?.map_err(|error| told(python, &error, error.for_server()))
}

/// Writes an error to the log, and returns the exception with the text that may leave the site.
fn told(python: Python<'_>, error: &fedspd_experiment::Error, text: String) -> PyErr {
    let whole = of_experiment(error).value(python).to_string();
    let logged = logger(python).and_then(|logger| logger.call_method1("error", ("%s", whole)));
    logged.err().unwrap_or_else(|| Error::new_err(text))
}
