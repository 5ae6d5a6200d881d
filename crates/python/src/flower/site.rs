//! A client.

use std::path::PathBuf;

use fedspd_experiment::remote::{self, Assignment, Identity};
use pyo3::prelude::*;

use super::message::{Given, Made, given, made};
use super::{Place, exchange, heard, logger, overrides};
use crate::error::{Error, of_experiment};
use crate::watch::Watch;

/// A client with its own trials, and what it keeps from round to round on its own disk.
#[pyclass(module = "fedspd._core")]
pub(crate) struct Site {
    inner: remote::Site,
}

#[pymethods]
impl Site {
    /// Takes the server's configuration as TOML, and what is different here, such as `data.name=/data/eeg.npz`.
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
        let config = remote::at_home(config, &changes).map_err(|error| of_experiment(&error))?;
        let open = |_: &mut Watch<'_>| remote::Site::open(config, name, number, &state, &());
        Ok(Self { inner: heard(python, open)? })
    }

    /// What the server must know of the site, as JSON: counts of trials, classes and channels; no trial and nobody's name.
    fn introduce(&self, python: Python<'_>) -> PyResult<String> {
        let introduction = abroad(python, || self.inner.introduce())?;
        serde_json::to_string(&introduction).map_err(|error| Error::new_err(error.to_string()))
    }

    /// The reply to a message of the server. What is raised, here and below, may be told to the
    /// server; the log has the whole of it.
    #[allow(clippy::too_many_arguments)] // one for each thing that the message says
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
        let reply = abroad(python, || {
            let (run, exchange, since) = (run.parse()?, exchange(place), since.map(exchange));
            self.inner.train(&Assignment { run, exchange, epochs, learning_rate, since, message })
        })?;
        Ok(made(python, &reply))
    }

    /// What a model makes of the validation and the test trials of the site, as far as asked for.
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
        let verdicts = abroad(python, || {
            let run: Identity = run.parse()?;
            self.inner.evaluate(&run, &model, since.map(exchange), validated, tested)
        })?;
        Ok(made(python, &verdicts))
    }
}

/// Calls what may fail for reasons that concern nobody but the site: all of them go to the log, and those that may leave the site are raised.
fn abroad<R: Send>(
    python: Python<'_>,
    call: impl FnOnce() -> Result<R, fedspd_experiment::Error> + Send,
) -> PyResult<R> {
    let call = |_: &mut Watch<'_>| Ok(call());
    heard(python, call)?.map_err(|error| {
        let whole = of_experiment(&error).value(python).to_string();
        let logged = logger(python).and_then(|logger| logger.call_method1("error", ("%s", whole)));
        logged.err().unwrap_or_else(|| Error::new_err(error.abroad()))
    })
}
