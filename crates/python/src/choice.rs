//! Words that choose among a few ways, and weights.

use fedspd_manifold::{RetractionKind, SpdMetric, StiefelMetric};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

fn choose<T: Copy>(what: &str, word: &str, choices: &[(&str, T)]) -> PyResult<T> {
    let chosen = choices.iter().find(|(name, _)| *name == word);
    chosen.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<String> = choices.iter().map(|(name, _)| format!("`{name}`")).collect();
        PyValueError::new_err(format!("unknown {what} `{word}`; it must be {}", names.join(" or ")))
    })
}

/// The metric of SPD matrices, by the name that pyRiemann users know.
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

/// Weights are few: a copy does no harm, and any layout will do.
pub(crate) fn weights_of(weights: Option<PyReadonlyArray1<'_, f64>>) -> Option<Vec<f64>> {
    weights.map(|weights| weights.as_array().to_vec())
}
