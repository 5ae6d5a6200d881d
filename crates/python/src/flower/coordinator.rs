//! The server.

use std::path::PathBuf;

use fedspd_experiment::config::Config;
use fedspd_experiment::remote::{self, Introduction};
use fedspd_run::Status;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::message::{Given, given, made};
use super::{heard, place};
use crate::error::of_experiment;
use crate::watch::Watch;

/// The server of sites on other machines, with its run folder. Opened in the folder of a run that was begun, it goes on with it.
#[pyclass(module = "fedspd._core")]
pub(crate) struct Coordinator {
    inner: remote::Coordinator,
}

#[pymethods]
impl Coordinator {
    /// Takes a resolved configuration as TOML, and each site's introduction.
    #[new]
    fn new(
        python: Python<'_>,
        config: &str,
        name: &str,
        folder: PathBuf,
        introductions: Vec<String>,
        quorum: usize,
    ) -> PyResult<Self> {
        let config = Config::parse(config, name, &[]).map_err(|error| of_experiment(&error.into()))?;
        let introductions = introductions.iter().map(|text| Introduction::read(text));
        let introductions =
            introductions.collect::<Result<Vec<_>, _>>().map_err(|error| of_experiment(&error))?;
        let open = |watch: &mut Watch<'_>| {
            remote::Coordinator::open(config, name, &folder, introductions, quorum, watch)
        };
        Ok(Self { inner: heard(python, open)? })
    }

    /// Whether all rounds are done and the model is saved.
    #[getter]
    fn finished(&self) -> bool {
        self.inner.finished()
    }

    /// What sites know the run by.
    #[getter]
    fn identity(&self) -> String {
        self.inner.identity().to_string()
    }

    /// How many rounds are done, and how many there are.
    #[getter]
    fn rounds(&self) -> (u32, u32) {
        self.inner.rounds()
    }

    /// The names of the sites, in the order of their numbers.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.inner.names()
    }

    /// What the exchange asks for: its place in the run, the learning rate, the message, and for each
    /// client its index, epochs and version of its state.
    fn plan<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let plan = self.inner.plan().map_err(|error| of_experiment(&error))?;
        let asked = plan.clients.iter().map(|asked| (asked.client, asked.epochs, asked.since.map(place)));
        let dict = PyDict::new(python);
        dict.set_item("exchange", place(plan.exchange))?;
        dict.set_item("learning_rate", plan.learning_rate)?;
        dict.set_item("clients", asked.collect::<Vec<_>>())?;
        dict.set_item("message", made(python, &plan.message))?;
        Ok(dict)
    }

    /// Takes the reply of a client.
    fn submit(&mut self, python: Python<'_>, client: usize, reply: Vec<Given>) -> PyResult<()> {
        let reply = given(reply)?;
        heard(python, |_| self.inner.submit(client, Ok(reply)))
    }

    /// Says that a client has no reply to take, and why.
    fn fail(&mut self, python: Python<'_>, client: usize, reason: String) -> PyResult<()> {
        heard(python, |_| self.inner.submit(client, Err(reason)))
    }

    /// Ends the exchange. Gives what every site is to judge: the model, whether it is validated and
    /// tested, and the version of each site's state; nothing if the round needs another exchange.
    fn close<'py>(&mut self, python: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(examination) = heard(python, |_| self.inner.close())? else { return Ok(None) };
        let dict = PyDict::new(python);
        dict.set_item("message", made(python, &examination.message))?;
        dict.set_item("validated", examination.validated)?;
        dict.set_item("tested", examination.tested)?;
        dict.set_item("since", examination.since.iter().map(|since| since.map(place)).collect::<Vec<_>>())?;
        Ok(Some(dict))
    }

    /// Takes what the new model made of a site's trials.
    fn judge(&mut self, python: Python<'_>, client: usize, verdicts: Vec<Given>) -> PyResult<()> {
        let verdicts = given(verdicts)?;
        heard(python, |watch| self.inner.judge(client, Ok(verdicts), watch))
    }

    /// Says that a site has not judged the model, and why.
    fn excuse(&mut self, python: Python<'_>, client: usize, reason: String) -> PyResult<()> {
        heard(python, |watch| self.inner.judge(client, Err(reason), watch))
    }

    /// Goes on to the next round; after the last one the model is saved.
    fn advance(&mut self, python: Python<'_>) -> PyResult<()> {
        heard(python, |watch| self.inner.advance(watch))
    }

    /// Says in the run folder that the run has failed.
    fn abandon(&mut self) -> PyResult<()> {
        self.inner.end(Status::Failed).map_err(|error| of_experiment(&error))
    }
}
