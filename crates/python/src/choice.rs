//! Conversion of arguments: named choices, whole numbers and weights.

use fedspd_manifold::{IterationLimits, RetractionKind, SpdMetric, StiefelMetric};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::arrays::written;

fn choose<T: Copy>(what: &str, word: &str, choices: &[(&str, T)]) -> PyResult<T> {
    let chosen = choices.iter().find(|(name, _)| *name == word);
    chosen.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<String> = choices.iter().map(|(name, _)| format!("`{name}`")).collect();
        PyValueError::new_err(format!("unknown {what} `{word}`; it must be {}", names.join(" or ")))
    })
}

/// Returns the metric of SPD matrices for a pyRiemann-style name.
pub(crate) fn spd_metric(word: &str) -> PyResult<SpdMetric> {
    choose(
        "metric",
        word,
        &[("riemannian", SpdMetric::AffineInvariant), ("logeuclid", SpdMetric::LogEuclidean)],
    )
}

pub(crate) fn stiefel_metric(word: &str) -> PyResult<StiefelMetric> {
    choose("metric", word, &[("embedded", StiefelMetric::Embedded), ("canonical", StiefelMetric::Canonical)])
}

pub(crate) fn retraction(word: &str) -> PyResult<RetractionKind> {
    choose("retraction", word, &[("polar", RetractionKind::Polar), ("qr", RetractionKind::Qr)])
}

/// Converts a whole number to `usize`; the error names the argument.
pub(crate) fn whole(name: &str, value: i128) -> PyResult<usize> {
    usize::try_from(value).map_err(|_| {
        let most = usize::MAX;
        PyValueError::new_err(format!("{name} is {value}; it must be a whole number from 0 to {most}"))
    })
}

/// Returns the limits of an iteration.
pub(crate) fn limits(tolerance: f64, max_iterations: i128) -> PyResult<IterationLimits> {
    if !(tolerance.is_finite() && tolerance >= 0.0) {
        let fault = format!("tolerance is {tolerance}; it must be a finite number of 0 or more");
        return Err(PyValueError::new_err(fault));
    }
    Ok(IterationLimits { tolerance, iterations: whole("max_iterations", max_iterations)? })
}

/// Weights: a sequence of real numbers of any type. They are few, so a copy is cheap.
pub(crate) struct Weights(pub(crate) Vec<f64>);

impl<'py> FromPyObject<'_, 'py> for Weights {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let numpy = object.py().import("numpy")?;
        let array = numpy.call_method1("asarray", (object,))?;
        let kind = array.getattr("dtype")?;
        // Booleans, signed and unsigned integers, and floating-point numbers.
        if !"biuf".contains(&kind.getattr("kind")?.extract::<String>()?) {
            return Err(PyTypeError::new_err(format!(
                "expected weights that are real numbers, found {kind}"
            )));
        }
        let array = array.call_method1("astype", ("float64",))?;
        let Ok(weights) = array.extract::<PyReadonlyArray1<'_, f64>>() else {
            let shape = written(&array.getattr("shape")?.extract::<Vec<usize>>()?);
            return Err(PyValueError::new_err(format!("expected weights of shape (m,), found {shape}")));
        };
        Ok(Self(weights.as_array().to_vec()))
    }
}
