//! The Python class of a client.

use std::path::PathBuf;

use fedspd_experiment::remote::{self, Identity, SiteTask};
use pyo3::prelude::*;

use super::message::{Given, Made, given, made};
use super::{Place, exchange, heard, logger, overrides};
use crate::error::{Error, of_experiment};
use crate::watch::Watch;

/// A client with its own trials, and its state on its own disk.
#[pyclass(module = "fedspd._core")]
pub(crate) struct Site {
    inner: remote::Site,
}

#[pymethods]
impl Site {
    /// Takes the server's configuration as TOML, and local changes such as
    /// `data.name=/data/eeg.npz`.
    #[new]
    fn new(
        python: Python<'_>,
        config: &str,
        changes: Vec<String>,
        name: &str,
        number: u32,
        state: PathBuf,
    ) -> PyResult<Self> {
        let changes = overrides(&changes).map_err(|error| of_experiment(&error.into()))?;
        let config = remote::site_config(config, &changes).map_err(|error| of_experiment(&error))?;
        let open = |watch: &mut Watch<'_>| remote::Site::open(&config, name, number, &state, &(), watch);
        Ok(Self { inner: heard(python, open)? })
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

/// Calls a function whose errors may hold private details of the site.
///
/// The full error goes to the log. The exception holds only the text that may leave the site.
fn for_server<R: Send>(
    python: Python<'_>,
    call: impl FnOnce() -> Result<R, fedspd_experiment::Error> + Send,
) -> PyResult<R> {
    let call = |_: &mut Watch<'_>| Ok(call());
    heard(python, call)?.map_err(|error| {
        let whole = of_experiment(&error).value(python).to_string();
        let logged = logger(python).and_then(|logger| logger.call_method1("error", ("%s", whole)));
        logged.err().unwrap_or_else(|| Error::new_err(error.for_server()))
    })
}
