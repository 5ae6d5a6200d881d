//! The embedded sample as arrays.

use fedspd_eeg::sample;
use pyo3::prelude::*;

use crate::arrays::give;
use crate::error::of_experiment;

type Parts<'py> = (Bound<'py, PyAny>, Vec<String>, Vec<String>, Vec<String>);

/// Covariances of ten subjects of PhysionetMI, in square microvolts: matrices ``(trials, 64, 64)``, and lists of the class and the subject of each trial and of the channels.
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
