//! The embedded sample as arrays.

use fedspd_eeg::sample;
use pyo3::prelude::*;

use crate::arrays::give;
use crate::error::of_experiment;

type Parts<'py> = (Bound<'py, PyAny>, Vec<String>, Vec<String>, Vec<String>);

/// Returns covariances of ten PhysionetMI subjects, in square microvolts.
///
/// The result holds matrices ``(trials, 64, 64)``, the class of each trial, the subject of each
/// trial, and the channel names.
#[pyfunction]
pub(crate) fn load_sample(python: Python<'_>) -> PyResult<Parts<'_>> {
    let covariances = python.detach(sample::sample).map_err(|fault| of_experiment(&fault.into()))?;
    let about = covariances.about.clone();
    let (trials, n) = (covariances.len(), about.channels.len());
    let classes = about.origins.iter().map(|origin| about.classes[origin.label].clone()).collect();
    let subjects = about.origins.iter().map(|origin| origin.subject.clone()).collect();
    let matrices = give(python, covariances.into_matrices(), &[trials], &[n, n])?;
    Ok((matrices, classes, subjects, about.channels))
}
