//! Training on arrays, and trained models: the same training as `fedspd run`, without a run folder.

use std::collections::HashSet;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Mutex;

use fedspd_eeg::dataset::Selection;
use fedspd_eeg::{
    About, Branch, Covariances, MICROVOLTS, Making, NO_UNIT, OnlineAlignment, Origin, SQUARE_MICROVOLTS,
    Trials, sample_by_sample,
};
use fedspd_experiment::config::{Config, Override};
use fedspd_experiment::{
    Calibration, Content, Experiment, NewData, PredictedTrial, Predictions, Predictor, fit,
};
use fedspd_nn::Input;
use fedspd_run::counted;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::{Array, Number, give, typed, written};
use crate::error::of_experiment;
use crate::watch::watched;

/// A configuration with prepared data. The file is not read; it rules out settings that prepared
/// data do not support.
const SETTINGS: &str = "version = 1\n[data]\nname = \"arrays.npz\"\n";

/// A trained network.
///
/// ``Model(data)`` takes the bytes of a model file (safetensors). ``bytes(model)`` returns them.
/// Models are pickled as these bytes.
#[pyclass(frozen, module = "fedspd")]
pub(crate) struct Model {
    bytes: Vec<u8>,
    predictor: Predictor,
}

#[pymethods]
impl Model {
    #[new]
    fn new(data: Vec<u8>) -> PyResult<Self> {
        let predictor = Predictor::new("the model", &data).map_err(|fault| of_experiment(&fault))?;
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
        format!("Model(classes={:?}, {})", manifest.classes, counted(manifest.channels.len(), "channel"))
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

    /// How the training data were prepared, as JSON.
    #[getter]
    fn preparation(&self) -> PyResult<String> {
        let text = serde_json::to_string(self.predictor.preparation());
        text.map_err(|fault| PyValueError::new_err(fault.to_string()))
    }

    /// Prepares files as the model says, and returns the origins, class probabilities and notes.
    ///
    /// ``data`` is a recording, a folder of recordings, a definition, an ``.npz`` file or a
    /// built-in dataset. Each origin is a subject, a session, a run, an onset in seconds and a
    /// label; unknown values are None.
    #[pyo3(signature = (data, *, root, subjects, calibration, online))]
    fn predict_files<'py>(
        &self,
        python: Python<'py>,
        data: String,
        root: Option<PathBuf>,
        subjects: Option<String>,
        calibration: Option<usize>,
        online: bool,
    ) -> PyResult<(Vec<TrialOrigin>, Bound<'py, PyAny>, Vec<String>)> {
        let subjects: Option<Selection> =
            subjects.map(|text| text.parse()).transpose().map_err(PyValueError::new_err)?;
        let data = NewData { root, subjects, ..NewData::new(data) };
        let made = python.detach(|| self.predictor.predict(&data, calibrated(calibration, online), &()));
        given(python, made.map_err(|fault| of_experiment(&fault))?)
    }

    /// Prepares filtered trials ``(trials, channels, samples)`` in microvolts as the model says, and
    /// returns the origins, class probabilities and notes.
    #[pyo3(signature = (trials, *, channels, sfreq, band, window, subjects, calibration, online))]
    #[allow(clippy::too_many_arguments)] // keywords of Python, called by one class
    fn predict_trials<'py>(
        &self,
        python: Python<'py>,
        trials: Array<'py>,
        channels: Vec<String>,
        sfreq: f64,
        band: Option<[f64; 2]>,
        window: Option<[f64; 2]>,
        subjects: Vec<String>,
        calibration: Option<usize>,
        online: bool,
    ) -> PyResult<(Vec<TrialOrigin>, Bound<'py, PyAny>, Vec<String>)> {
        let content = self.filtered(trials, channels, sfreq, band, window, subjects)?;
        let made = python
            .detach(|| self.predictor.predict_content(content, "the array", calibrated(calibration, online)));
        given(python, made.map_err(|fault| of_experiment(&fault))?)
    }

    /// Begins the online alignment of a subject.
    fn stream(model: Py<Self>, python: Python<'_>, subject: String) -> PyResult<Stream> {
        let online = model.bind(python).get().predictor.online().map_err(|fault| of_experiment(&fault))?;
        Ok(Stream { model, subject, online: Mutex::new(online) })
    }

    /// A note on a model without the start of online alignment.
    #[getter]
    fn online_note(&self) -> Option<String> {
        self.predictor.online_note()
    }

    /// Returns the class probabilities ``(trials, classes)`` of each trial.
    ///
    /// An SPDnet takes ``(trials, n, n)`` or ``(trials, inputs, n, n)``, an EEGNet
    /// ``(trials, channels, samples)``.
    fn predict_proba<'py>(&self, python: Python<'py>, trials: Array<'py>) -> PyResult<Bound<'py, PyAny>> {
        let manifest = self.predictor.manifest();
        typed!(trials => {
            let (shape, reads) = (trials.shape(), manifest.network.kind().reads());
            let expected = self.checked_shape(shape)?;
            // Only a few trials are copied at a time.
            let (size, numbers) = (expected.iter().product::<usize>(), trials.numbers()?);
            let read = |some: Range<usize>| as_read(reads, &expected, &numbers[some.start * size..some.end * size]);
            let made = python.detach(|| self.predictor.probabilities(shape[0], read));
            let made = made.map_err(|fault| of_experiment(&fault))?;
            give(python, made, &shape[..1], &[manifest.classes.len()])
        })
    }
}

impl Model {
    /// Returns the shape of a trial, if an array has trials of this shape.
    fn checked_shape(&self, shape: &[usize]) -> PyResult<Vec<usize>> {
        let expected = self.predictor.manifest().network.trial_shape();
        if shape.is_empty() || shape[1..] != expected {
            let (expected, found) = (written(&expected).replacen('(', "(trials, ", 1), written(shape));
            let fault = format!("expected trials of shape {expected}, as in training, found {found}");
            return Err(PyValueError::new_err(fault));
        }
        Ok(expected)
    }

    /// Takes filtered trials in microvolts.
    fn filtered(
        &self,
        trials: Array<'_>,
        channels: Vec<String>,
        sfreq: f64,
        band: Option<[f64; 2]>,
        window: Option<[f64; 2]>,
        subjects: Vec<String>,
    ) -> PyResult<Content> {
        let shape = typed!(trials => trials.shape().to_vec());
        check_training(true, &shape, subjects.len(), subjects.len(), &channels)?;
        let numbers = typed!(trials => as_read(Input::Samples, &shape[1..], trials.numbers()?));
        let branch = Branch {
            band: band.map(Into::into),
            window,
            samples: Some(shape[2]),
            centred: Some(false),
            ..Branch::default()
        };
        let making = Making { branches: vec![branch], ..Making::default() };
        let origin = |subject| Origin { label: 0, subject, session: "1".into(), run: "1".into() };
        let origins = subjects.into_iter().map(origin).collect();
        let classes = self.predictor.manifest().classes.clone();
        let about = About { classes, channels, sfreq, unit: MICROVOLTS.into(), making, origins };
        let trials = Trials::new(about, shape[2], numbers);
        Ok(Content::Trials(trials.map_err(|fault| of_experiment(&fault.into()))?))
    }
}

/// The trials of one subject, one after the other. Each is aligned on the trials so far.
#[pyclass(frozen, module = "fedspd")]
pub(crate) struct Stream {
    model: Py<Model>,
    subject: String,
    online: Mutex<OnlineAlignment>,
}

#[pymethods]
impl Stream {
    /// Predicts filtered trials ``(trials, channels, samples)`` in microvolts. Returns the class
    /// probabilities and notes.
    #[pyo3(signature = (trials, *, channels, sfreq, band, window))]
    fn predict_trials<'py>(
        &self,
        python: Python<'py>,
        trials: Array<'py>,
        channels: Vec<String>,
        sfreq: f64,
        band: Option<[f64; 2]>,
        window: Option<[f64; 2]>,
    ) -> PyResult<(Bound<'py, PyAny>, Vec<String>)> {
        let count = typed!(trials => trials.shape().first().copied().unwrap_or(0));
        let subjects = vec![self.subject.clone(); count];
        let content = self.model.get().filtered(trials, channels, sfreq, band, window, subjects)?;
        self.next(python, content)
    }

    /// Predicts trials that are prepared as the model says, up to alignment and z-scores. Returns
    /// the class probabilities and notes.
    fn predict_prepared<'py>(
        &self,
        python: Python<'py>,
        trials: Array<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Vec<String>)> {
        let predictor = &self.model.get().predictor;
        let shape = typed!(trials => trials.shape().to_vec());
        let expected = self.model.get().checked_shape(&shape)?;
        let reads = predictor.manifest().network.kind().reads();
        let numbers = typed!(trials => as_read(reads, &expected, trials.numbers()?));
        let about = predictor.before_alignment(&self.subject, shape[0]);
        let content = match reads {
            Input::Samples => Trials::new(about, expected[1], numbers).map(Content::Trials),
            Input::Covariances => {
                let inputs = if expected.len() == 3 { expected[0] } else { 1 };
                Covariances::new(about, input_names(inputs), numbers).map(Content::Covariances)
            }
        };
        self.next(python, content.map_err(|fault| of_experiment(&fault.into()))?)
    }
}

impl Stream {
    fn next<'py>(&self, python: Python<'py>, content: Content) -> PyResult<(Bound<'py, PyAny>, Vec<String>)> {
        let predictor = &self.model.get().predictor;
        let made = python.detach(|| {
            let mut online = self.online.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            predictor.predict_next(&mut online, content, "the array")
        });
        let (_, probabilities, notes) = given(python, made.map_err(|fault| of_experiment(&fault))?)?;
        Ok((probabilities, notes))
    }
}

/// Returns the names of the inputs of covariances in memory.
fn input_names(inputs: usize) -> Vec<String> {
    (0..inputs).map(|input| format!("input {input}")).collect()
}

/// Subject, session, run, onset and label of a trial.
type TrialOrigin = (String, String, String, Option<f64>, Option<usize>);

fn calibrated(first: Option<usize>, online: bool) -> Calibration {
    match first {
        _ if online => Calibration::Online,
        Some(first) => Calibration::First(first),
        None => Calibration::All,
    }
}

/// Passes predictions to Python.
fn given(
    python: Python<'_>,
    predictions: Predictions,
) -> PyResult<(Vec<TrialOrigin>, Bound<'_, PyAny>, Vec<String>)> {
    let Predictions { classes, trials, notes, .. } = predictions;
    let numbers = trials.iter().flat_map(|trial| &trial.probabilities).copied().collect();
    let probabilities = give(python, numbers, &[trials.len()], &[classes.len()])?;
    let origin = |trial: PredictedTrial| (trial.subject, trial.session, trial.run, trial.onset, trial.label);
    Ok((trials.into_iter().map(origin).collect(), probabilities, notes))
}

/// Trials of a shape in the order in which networks read them.
fn as_read<T: Number>(reads: Input, shape: &[usize], numbers: &[T]) -> Vec<f64> {
    match (reads, shape) {
        (Input::Samples, &[channels, samples]) => {
            sample_by_sample(channels, samples, numbers, |number| number.to_f64())
        }
        _ => T::widen(numbers).into_owned(),
    }
}

/// Checks the shape of trials, and the number of labels, subjects and channel names.
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
    for (argument, found) in [("labels", labels), ("subjects", subjects)] {
        if found != shape[0] {
            let (found, trials) = (counted(found, "entry"), counted(shape[0], "trial"));
            return refused(format!("{argument} has {found} for {trials}"));
        }
    }
    let rows = shape[shape.len() - 2];
    if channels.len() != rows {
        let (found, rows) = (counted(channels.len(), "name"), counted(rows, "channel"));
        return refused(format!("channels has {found} for {rows}"));
    }
    let mut seen = HashSet::new();
    match channels.iter().find(|name| !seen.insert(*name)) {
        Some(twice) => refused(format!("the channel name {twice:?} occurs twice")),
        None => Ok(()),
    }
}

/// Returns the unit of trials or covariances as prepared files write it; microvolts by default.
fn unit_of(raw: bool, unit: Option<String>) -> PyResult<String> {
    let known = if raw { MICROVOLTS } else { SQUARE_MICROVOLTS };
    match unit {
        None => Ok(known.to_owned()),
        Some(unit) if unit == known || unit == NO_UNIT => Ok(unit),
        Some(unit) => {
            let what = if raw { "raw trials" } else { "covariances" };
            let fault = format!("unit is {unit:?}; for {what} it must be {known:?}, or {NO_UNIT:?} for none");
            Err(PyValueError::new_err(fault))
        }
    }
}

/// Returns the path of the only model of a run folder.
#[pyfunction]
pub(crate) fn model_of_run(folder: PathBuf) -> PyResult<PathBuf> {
    fedspd_experiment::model_of_run(&folder).map_err(|fault| of_experiment(&fault))
}

/// Trains a network on arrays, as ``fedspd run`` trains on a file.
///
/// ``trials`` is ``(trials, n, n)`` or ``(trials, inputs, n, n)`` for SPDnet,
/// ``(trials, channels, samples)`` for EEGNet. ``labels`` are indices into ``classes``.
/// ``subjects`` holds the subject of each trial. ``settings`` are configuration keys with values,
/// such as ``train.lr=1e-3``. Progress goes to the logger ``watch``.
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
    let reads = config.model.kind.reads();
    let raw = reads == Input::Samples;
    let shape = typed!(trials => trials.shape().to_vec());
    check_training(raw, &shape, labels.len(), subjects.len(), &channels)?;
    let unit = unit_of(raw, unit)?;
    // The only copy: training keeps the trials while the interpreter is released.
    let numbers = typed!(trials => as_read(reads, &shape[1..], trials.numbers()?));
    let origin = |(label, subject)| Origin { label, subject, session: "1".into(), run: "1".into() };
    let origins = labels.into_iter().zip(subjects).map(origin).collect();
    let about = About { classes, channels, sfreq, unit, making: Making::default(), origins };
    let made = watched(python, watch, |watch| {
        let content = if raw {
            Content::Trials(Trials::new(about, shape[2], numbers)?)
        } else {
            let inputs = if shape.len() == 4 { shape[1] } else { 1 };
            Content::Covariances(Covariances::new(about, input_names(inputs), numbers)?)
        };
        fit(&Experiment::on(config, "the array", content)?, watch)
    })?;
    match made.map_err(|fault| of_experiment(&fault))? {
        Some(bytes) => Model::new(bytes),
        None => Err(PyKeyboardInterrupt::new_err(())),
    }
}
