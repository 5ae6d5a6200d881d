//! Training on arrays and what came of it: the training of `fedspd run`, without its folder.

use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;

use fedspd_eeg::{About, Covariances, MICROVOLTS, Making, NO_UNIT, Origin, SQUARE_MICROVOLTS, Trials};
use fedspd_experiment::config::{Config, ModelKind, Override};
use fedspd_experiment::{Content, Experiment, Predictor, fit};
use fedspd_nn::file::Network;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::{Array, Number, give, typed, written};
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
        typed!(trials => {
            let (shape, raw) = (trials.shape(), matches!(manifest.network, Network::EegNet(_)));
            let expected = match &manifest.network {
                Network::SpdNet(config) if config.inputs == 1 => vec![config.dimensions[0]; 2],
                Network::SpdNet(config) => vec![config.inputs, config.dimensions[0], config.dimensions[0]],
                Network::EegNet(config) => vec![config.channels, config.samples],
                _ => shape.get(1..).unwrap_or_default().to_vec(),
            };
            if shape.is_empty() || shape[1..] != expected {
                let (expected, found) = (written(&expected).replacen('(', "(trials, ", 1), written(shape));
                let fault = format!("expected trials of shape {expected}, which the model was trained on, found {found}");
                return Err(PyValueError::new_err(fault));
            }
            // No more than a few trials are copied at a time.
            let (size, numbers) = (expected.iter().product::<usize>(), trials.numbers()?);
            let read = |some: Range<usize>| {
                as_read(raw.then_some(expected[expected.len() - 1]), size, &numbers[some.start * size..some.end * size])
            };
            let made = python.detach(|| self.predictor.probabilities(shape[0], read));
            let made = made.map_err(|fault| of_experiment(&fault))?;
            give(python, made, &shape[..1], &[manifest.classes.len()])
        })
    }
}

/// Trials of so many numbers each in the order in which networks read them: of raw trials, `EEGNet` takes so many samples with all channels each.
fn as_read<T: Number>(samples: Option<usize>, size: usize, numbers: &[T]) -> Vec<f64> {
    let Some(samples) = samples else { return T::widen(numbers).into_owned() };
    let mut turned = Vec::with_capacity(numbers.len());
    for trial in numbers.chunks_exact(size) {
        for sample in 0..samples {
            turned.extend(trial[sample..].iter().step_by(samples).map(|number| number.to_f64()));
        }
    }
    turned
}

/// What there is to train on: the shape is that of trials, and as many labels, subjects and names of channels as it says.
fn check_training(
    raw: bool,
    shape: &[usize],
    labels: usize,
    subjects: usize,
    channels: &[String],
) -> PyResult<()> {
    let refused = |text: String| Err(PyValueError::new_err(text));
    let square = !raw && shape.len() > 2 && shape[shape.len() - 1] == shape[shape.len() - 2];
    let known = if raw { shape.len() == 3 } else { square && shape.len() <= 4 };
    if !known || shape.contains(&0) {
        let expected = if raw {
            "(trials, channels, samples)"
        } else {
            "(trials, n, n), or (trials, inputs, n, n) with several matrices for each trial"
        };
        return refused(format!("expected trials of shape {expected}, found {}", written(shape)));
    }
    if labels != shape[0] || subjects != shape[0] {
        return refused(format!("{} trials with {labels} labels and {subjects} subjects", shape[0]));
    }
    let rows = shape[shape.len() - 2];
    if channels.len() != rows {
        return refused(format!("{} names of channels for trials of {rows} channels", channels.len()));
    }
    let mut seen = HashSet::new();
    match channels.iter().find(|name| !seen.insert(*name)) {
        Some(twice) => refused(format!("there are two channels called {twice:?}")),
        None => Ok(()),
    }
}

/// The unit of trials or of their covariances, by the words of prepared files; microvolts if nothing is said.
fn unit_of(raw: bool, unit: Option<String>) -> PyResult<String> {
    let known = if raw { MICROVOLTS } else { SQUARE_MICROVOLTS };
    match unit {
        None => Ok(known.to_owned()),
        Some(unit) if unit == known || unit == NO_UNIT => Ok(unit),
        Some(unit) => {
            let what = if raw { "raw trials" } else { "covariances" };
            let fault =
                format!("unit is {unit:?}; that of {what} must be {known:?}, or {NO_UNIT:?} for none");
            Err(PyValueError::new_err(fault))
        }
    }
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
    let shape = typed!(trials => trials.shape().to_vec());
    check_training(raw, &shape, labels.len(), subjects.len(), &channels)?;
    let unit = unit_of(raw, unit)?;
    // The one copy that training needs: it keeps the trials while the interpreter goes on.
    let (size, samples) = (shape[1..].iter().product(), raw.then_some(shape[shape.len() - 1]));
    let numbers = typed!(trials => as_read(samples, size, trials.numbers()?));
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
