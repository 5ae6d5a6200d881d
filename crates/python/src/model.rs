//! Training on arrays and what came of it: the training of `fedspd run`, without its folder.

use std::path::Path;

use fedspd_eeg::{About, Covariances, MICROVOLTS, Making, Origin, SQUARE_MICROVOLTS, Trials};
use fedspd_experiment::config::{Config, ModelKind, Override};
use fedspd_experiment::{Content, Experiment, Predictor, fit};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::{Array, Number, Typed, give, typed};
use crate::error::of_experiment;
use crate::watch::watched;

/// Where the trials of a configuration come from has no say here; what prepared data cannot follow is refused.
const SETTINGS: &str = "version = 1\n[data]\nname = \"arrays.npz\"\n";

/// A trained network.
///
/// ``Model(data)`` takes the bytes of a model file (safetensors); ``bytes(model)`` gives them back. Models are pickled as these bytes.
#[pyclass(frozen, module = "fedspd")]
pub(crate) struct Model {
    bytes: Vec<u8>,
    predictor: Predictor,
}

#[pymethods]
impl Model {
    #[new]
    fn new(data: Vec<u8>) -> PyResult<Self> {
        let predictor =
            Predictor::new(Path::new("the model"), &data).map_err(|fault| of_experiment(&fault))?;
        Ok(Self { bytes: data, predictor })
    }

    fn __bytes__<'py>(&self, python: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(python, &self.bytes)
    }

    fn __getnewargs__<'py>(&self, python: Python<'py>) -> (Bound<'py, PyBytes>,) {
        (self.__bytes__(python),)
    }

    fn __repr__(&self) -> String {
        let manifest = self.predictor.manifest();
        format!("Model(classes={:?}, {} channels)", manifest.classes, manifest.channels.len())
    }

    /// The names of the classes, in the order of the probabilities.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.predictor.manifest().classes.clone()
    }

    /// The names of the channels, in the order of the rows.
    #[getter]
    fn channels(&self) -> Vec<String> {
        self.predictor.manifest().channels.clone()
    }

    /// The parameters by name, as arrays of float64.
    fn parameters<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(python);
        for (parameter, values) in self.predictor.parameters().iter() {
            all.set_item(&parameter.name, give(python, values.to_vec(), &[], &parameter.shape)?)?;
        }
        Ok(all)
    }

    /// The probabilities of the classes of each trial: ``(trials, n, n)`` or ``(trials, inputs, n, n)`` of an SPDnet, ``(trials, channels, samples)`` of an EEGNet, give ``(trials, classes)``.
    fn predict_proba<'py>(&self, python: Python<'py>, trials: Array<'py>) -> PyResult<Bound<'py, PyAny>> {
        let manifest = self.predictor.manifest();
        let raw = matches!(manifest.network, fedspd_nn::file::Network::EegNet(_));
        let (shape, numbers) = typed!(trials => numbers_of(trials, raw)?);
        let expected = match &manifest.network {
            fedspd_nn::file::Network::SpdNet(config) if config.inputs == 1 => {
                vec![config.dimensions[0], config.dimensions[0]]
            }
            fedspd_nn::file::Network::SpdNet(config) => {
                vec![config.inputs, config.dimensions[0], config.dimensions[0]]
            }
            fedspd_nn::file::Network::EegNet(config) => vec![config.channels, config.samples],
            _ => shape[1..].to_vec(),
        };
        if shape[1..] != expected {
            let found = &shape[1..];
            return Err(PyValueError::new_err(format!(
                "trials of shape {found:?} where the model expects {expected:?}"
            )));
        }
        let made = python.detach(|| self.predictor.probabilities(&numbers));
        give(python, made.map_err(|fault| of_experiment(&fault))?, &shape[..1], &[manifest.classes.len()])
    }
}

/// The shape of trials, and their numbers in the order in which networks read them: EEGNet takes samples with all channels each.
fn numbers_of<T: Number>(trials: &Typed<'_, T>, raw: bool) -> PyResult<(Vec<usize>, Vec<f64>)> {
    let (shape, numbers) = (trials.shape().to_vec(), T::widen(trials.numbers()?));
    let &[_, channels, samples] = &shape[..] else {
        if raw || shape.len() != 4 {
            let fault = format!("expected trials of shape (trials, rows, columns), found {shape:?}");
            return Err(PyValueError::new_err(fault));
        }
        return Ok((shape, numbers.into_owned()));
    };
    if !raw || numbers.is_empty() {
        return Ok((shape, numbers.into_owned()));
    }
    let mut turned = Vec::with_capacity(numbers.len());
    for trial in numbers.chunks_exact(channels * samples) {
        for sample in 0..samples {
            turned.extend(trial[sample..].iter().step_by(samples));
        }
    }
    Ok((shape, turned))
}

/// Trains a network on arrays, as ``fedspd run`` trains on a file.
///
/// ``trials`` is ``(trials, n, n)`` or ``(trials, inputs, n, n)`` for SPDnet, ``(trials, channels, samples)`` for EEGNet; ``labels`` are places in ``classes``; ``subjects`` says
/// whose each trial is. ``settings`` are keys of the configuration, such as ``train.lr=1e-3``. Progress goes to ``watch``, a logger.
#[pyfunction]
#[pyo3(signature = (trials, labels, classes, subjects, settings, *, channels, sfreq, unit, watch))]
#[allow(clippy::too_many_arguments)] // keywords of Python, called by one class
pub(crate) fn train<'py>(
    python: Python<'py>,
    trials: Array<'py>,
    labels: Vec<usize>,
    classes: Vec<String>,
    subjects: Vec<String>,
    settings: Vec<String>,
    channels: Vec<String>,
    sfreq: f64,
    unit: Option<String>,
    watch: Py<PyAny>,
) -> PyResult<Model> {
    let overrides: Result<Vec<Override>, _> = settings.iter().map(|setting| setting.parse()).collect();
    let config = overrides.and_then(|overrides| Config::parse(SETTINGS, "the settings", &overrides));
    let config = config.map_err(|fault| of_experiment(&fault.into()))?;
    let raw = config.model.kind == ModelKind::Eegnet;
    let (shape, numbers) = typed!(trials => numbers_of(trials, raw)?);
    if labels.len() != shape[0] || subjects.len() != shape[0] {
        let (trials, labels, subjects) = (shape[0], labels.len(), subjects.len());
        let fault = format!("{trials} trials with {labels} labels and {subjects} subjects");
        return Err(PyValueError::new_err(fault));
    }
    let unit = unit.unwrap_or_else(|| if raw { MICROVOLTS } else { SQUARE_MICROVOLTS }.to_owned());
    let origin = |(label, subject)| Origin { label, subject, session: "1".into(), run: "1".into() };
    let origins = labels.into_iter().zip(subjects).map(origin).collect();
    let about = About { classes, channels, sfreq, unit, making: Making::default(), origins };
    let made = watched(python, watch, |watch| {
        let content = if raw {
            Content::Trials(Trials::new(about, shape[2], numbers)?)
        } else {
            let inputs = if shape.len() == 4 { shape[1] } else { 1 };
            let inputs = (0..inputs).map(|input| format!("input {input}")).collect();
            Content::Covariances(Covariances::new(about, inputs, numbers)?)
        };
        fit(&Experiment::on(config, "the array", content)?, watch)
    })?;
    match made.map_err(|fault| of_experiment(&fault))? {
        Some(bytes) => Model::new(bytes),
        None => Err(PyKeyboardInterrupt::new_err(())),
    }
}
