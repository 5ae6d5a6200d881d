//! The server.

use std::path::PathBuf;

use fedspd_experiment::config::Config;
use fedspd_experiment::remote::{self, Introduction, Judgement, Reply, Verdict};
use fedspd_run::Status;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::{dtype, heard};
use crate::error::of_experiment;
use crate::watch::Watch;

/// What a model made of the trials of a split: the mean loss, and the confusion matrix row by row.
type Seen = Option<(f64, Vec<u64>)>;

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

    /// Names and shapes of the arrays that travel, in their order.
    #[getter]
    fn travelling(&self) -> Vec<(String, Vec<usize>)> {
        self.inner.travelling()
    }

    /// Their type.
    #[getter]
    fn dtype(&self) -> &'static str {
        dtype(self.inner.config())
    }

    /// What the round asks for: its number, the learning rate, the parameters, and for each client its number, epochs and version of its state.
    fn plan<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let plan = self.inner.plan().map_err(|error| of_experiment(&error))?;
        let asked = plan.clients.iter().map(|asked| (asked.client, asked.epochs, asked.since));
        let dict = PyDict::new(python);
        dict.set_item("round", plan.round)?;
        dict.set_item("learning_rate", plan.learning_rate)?;
        dict.set_item("clients", asked.collect::<Vec<_>>())?;
        dict.set_item("parameters", PyBytes::new(python, &plan.parameters))?;
        Ok(dict)
    }

    /// Takes the reply of a client.
    fn submit(
        &mut self,
        python: Python<'_>,
        client: usize,
        parameters: &[u8],
        trials: usize,
        loss: f64,
    ) -> PyResult<()> {
        let reply = Reply { parameters: parameters.to_vec(), trials, loss };
        heard(python, |_| self.inner.submit(client, Ok(reply)))
    }

    /// Says that a client has no reply to take, and why.
    fn fail(&mut self, python: Python<'_>, client: usize, reason: String) -> PyResult<()> {
        heard(python, |_| self.inner.submit(client, Err(reason)))
    }

    /// Ends the round. Gives what every site is to judge: the parameters, whether they are validated
    /// and tested, and the version of each site's state.
    fn close<'py>(&mut self, python: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let examination = heard(python, |_| self.inner.close())?;
        let dict = PyDict::new(python);
        dict.set_item("parameters", PyBytes::new(python, &examination.parameters))?;
        dict.set_item("validated", examination.validated)?;
        dict.set_item("tested", examination.tested)?;
        dict.set_item("since", examination.since)?;
        Ok(dict)
    }

    /// Takes what the new model made of a site's trials.
    fn judge(&mut self, python: Python<'_>, client: usize, validation: Seen, test: Seen) -> PyResult<()> {
        let verdict = |(loss, confusion)| Verdict { loss, confusion };
        let judgement = Judgement { validation: validation.map(verdict), test: test.map(verdict) };
        heard(python, |watch| self.inner.judge(client, Ok(judgement), watch))
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
