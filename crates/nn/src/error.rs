//! Errors of the crate, with the measured numbers.

use std::fmt::Debug;
use std::path::PathBuf;

use thiserror::Error;

/// Reason why a network, an optimiser or a file refused its input or failed.
///
/// Indices count from zero.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the geometry.
    #[error(transparent)]
    Geometry(#[from] fedspd_manifold::Error),
    /// A matrix of a trial is invalid.
    #[error("trial {trial}, input {input}: {source}")]
    Trial {
        /// Index of the trial.
        trial: usize,
        /// Index of the matrix in its trial.
        input: usize,
        /// The error of the matrix.
        source: fedspd_manifold::Error,
    },
    /// A setting is out of range.
    #[error("`{field}` is {value}; it must be {expected}")]
    Config {
        /// The setting.
        field: &'static str,
        /// Its value.
        value: String,
        /// The allowed values.
        expected: String,
    },
    /// A tensor has no valid layout.
    #[error("parameter `{name}` with shape {shape:?} {fault}")]
    Tensor {
        /// Its name.
        name: String,
        /// Its shape.
        shape: Vec<usize>,
        /// The problem.
        fault: &'static str,
    },
    /// The length of a slice is wrong.
    #[error("{what}: {found} numbers where {expected} were expected")]
    Length {
        /// The argument.
        what: &'static str,
        /// Expected length.
        expected: usize,
        /// Actual length.
        found: usize,
    },
    /// A label is not one of the classes.
    #[error(
        "the label of trial {trial} is {label}, but classes are counted from 0 and their number is {classes}"
    )]
    Label {
        /// Index of the trial.
        trial: usize,
        /// Its label.
        label: usize,
        /// The number of classes.
        classes: usize,
    },
    /// A sample of a raw trial is not a finite number.
    #[error("trial {trial}, channel {channel}: a sample is {value}")]
    Sample {
        /// Index of the trial.
        trial: usize,
        /// Index of the channel.
        channel: usize,
        /// The value of the sample.
        value: f64,
    },
    /// The data do not match the network.
    #[error("{what}: the network expects {expected}, the data have {found}")]
    Mismatch {
        /// The property that differs.
        what: &'static str,
        /// The network's value.
        expected: String,
        /// The data's value.
        found: String,
    },
    /// The parameters belong to another network.
    #[error(
        "the parameters do not match this model: {found} numbers where {expected} were expected, or different names"
    )]
    ForeignParameters {
        /// The number of parameters of this model.
        expected: usize,
        /// The number of parameters given.
        found: usize,
    },
    /// The loss or a gradient is no longer finite.
    #[error("training diverged: {what} is {value:e}")]
    Diverged {
        /// The quantity that is not finite.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A parameter changed outside an optimiser that keeps a base point for it.
    #[error(
        "the parameters changed since the optimiser's last step: create a new optimiser at the new parameters"
    )]
    Moved,
    /// An optimiser has no rule for a parameter's geometry.
    #[error("the optimiser cannot move `{name}`, an SPD matrix")]
    NoRule {
        /// Name of the parameter.
        name: String,
    },
    /// The loss of a trial depends on other trials of its batch.
    #[error("the network couples the trials of a batch: a trial has no gradient of its own")]
    Coupled,
    /// A matrix is outside the region where the landing method is safe.
    #[error(
        "a weight matrix is {distance:.3e} away from orthonormal columns; the landing method needs at most {safe:e}"
    )]
    TooFarToLand {
        /// `|W^T W - I|`
        distance: f64,
        /// The largest safe distance.
        safe: f64,
    },
    /// A parameter is off its manifold.
    #[error("parameter `{name}` is {distance:.1e} away from its manifold")]
    Infeasible {
        /// Name of the parameter.
        name: String,
        /// [`Parameter::feasibility_error`](crate::Parameter::feasibility_error).
        distance: f64,
    },
    /// Nearly all eigenvalues are below the threshold, so no information is left to train on.
    #[error(
        "{:.1}% of the eigenvalues are below the threshold {threshold:e} (median {median:e}): no information is left to train on", share * 100.0
    )]
    AllClamped {
        /// The share of eigenvalues at or below the threshold.
        share: f64,
        /// The threshold.
        threshold: f64,
        /// The median eigenvalue.
        median: f64,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A file is not a model that this version can load.
    #[error("{path}: {fault}", path = path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// The problem.
        fault: crate::file::Fault,
    },
}

impl Error {
    /// Returns a suggestion for the user, if there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::AllClamped { median, .. } if !(*median > 0.0) => {
                Some("more than half of the eigenvalues are zero or negative: are these covariances?".into())
            }
            Self::AllClamped { threshold, median, .. } => Some(format!(
                "covariances in volts instead of microvolts are 1e12 times too small; scale the data, or lower the threshold from {threshold:e} below {median:e}"
            )),
            Self::Diverged { .. } => Some("lower the learning rate".into()),
            Self::NoRule { .. } => Some("use `riemannian-sgd`".into()),
            Self::Model { fault, .. } => fault.hint(),
            _ => None,
        }
    }
}

/// Checks a setting.
pub(crate) fn check(
    field: &'static str,
    value: impl Debug,
    holds: bool,
    expected: impl FnOnce() -> String,
) -> Result<(), Error> {
    if holds {
        return Ok(());
    }
    Err(Error::Config { field, value: format!("{value:?}"), expected: expected() })
}
