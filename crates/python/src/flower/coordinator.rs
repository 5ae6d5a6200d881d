//! The Python class of the server.

use std::path::PathBuf;

use fedspd_experiment::config::Config;
use fedspd_experiment::remote::{self, Introduction};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::message::{Given, given, made};
use super::{heard, place};
use crate::error::of_experiment;
use crate::watch::Watch;

/// The server of sites on other machines, with its run folder.
///
/// In the folder of an unfinished run it continues that run.
#[pyclass(module = "fedspd._core")]
pub(crate) struct Coordinator {
    inner: remote::Coordinator,
}

#[pymethods]
impl Coordinator {
    /// Takes a resolved configuration as TOML and the introductions of all sites.
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

    /// True if all rounds are done and the model is saved.
    #[getter]
    fn finished(&self) -> bool {
        self.inner.finished()
    }

    /// The identifier of the run at the sites.
    #[getter]
    fn identity(&self) -> String {
        self.inner.identity().to_string()
    }

    /// The number of finished rounds and of all rounds.
    #[getter]
    fn rounds(&self) -> (u32, u32) {
        self.inner.rounds()
    }

    /// The names of the sites, in the order of their numbers.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.inner.names()
    }

    /// Returns the plan of the exchange: its round and number, the learning rate, the message, and
    /// for each client its index, epochs and version of its state.
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

    /// Records that a client sent no valid reply, and why.
    fn fail(&mut self, python: Python<'_>, client: usize, reason: String) -> PyResult<()> {
        heard(python, |_| self.inner.submit(client, Err(reason)))
    }

    /// Ends the exchange and returns the evaluation of the new model.
    ///
    /// It holds the model, whether sites validate and test it, and the version of each site's
    /// state. Returns None if the round needs another exchange.
    fn close<'py>(&mut self, python: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(evaluation) = heard(python, |_| self.inner.close())? else { return Ok(None) };
        let dict = PyDict::new(python);
        dict.set_item("message", made(python, &evaluation.message))?;
        dict.set_item("validated", evaluation.validated)?;
        dict.set_item("tested", evaluation.tested)?;
        dict.set_item("since", evaluation.since.iter().map(|since| since.map(place)).collect::<Vec<_>>())?;
        Ok(Some(dict))
    }

    /// Takes a site's scores of the new model.
    fn score(&mut self, python: Python<'_>, client: usize, scores: Vec<Given>) -> PyResult<()> {
        let scores = given(scores)?;
        heard(python, |watch| self.inner.score(client, Ok(scores), watch))
    }

    /// Records that a site did not evaluate the model, and why.
    fn no_scores(&mut self, python: Python<'_>, client: usize, reason: String) -> PyResult<()> {
        heard(python, |watch| self.inner.score(client, Err(reason), watch))
    }

    /// Advances to the next round; after the last round it saves the model.
    fn advance(&mut self, python: Python<'_>) -> PyResult<()> {
        heard(python, |watch| self.inner.advance(watch))
    }

    /// Marks the run as failed in its folder.
    fn abandon(&mut self) -> PyResult<()> {
        self.inner.abandon().map_err(|error| of_experiment(&error))
    }
}
