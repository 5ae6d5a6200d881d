//! What can go wrong, with the numbers.

use std::fmt::Debug;
use std::path::PathBuf;

use thiserror::Error;

/// Why a network, an optimiser or a file refused its input or could not go on.
///
/// Indices count from zero.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A fault of the geometry.
    #[error(transparent)]
    Geometry(#[from] fedspd_manifold::Error),
    /// A matrix of a trial is at fault.
    #[error("trial {trial}, input {input}: {source}")]
    Trial {
        /// Which trial.
        trial: usize,
        /// Which of its matrices.
        input: usize,
        /// What is wrong with it.
        source: fedspd_manifold::Error,
    },
    /// A setting is out of range.
    #[error("`{field}` is {value}; it must be {expected}")]
    Config {
        /// The setting.
        field: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        expected: String,
    },
    /// A tensor cannot be laid out.
    #[error("parameter `{name}` with shape {shape:?} {fault}")]
    Tensor {
        /// Its name.
        name: String,
        /// Its shape.
        shape: Vec<usize>,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// A slice does not have the length it must have.
    #[error("{what}: {found} numbers where {expected} were expected")]
    Length {
        /// The argument.
        what: &'static str,
        /// The length that fits.
        expected: usize,
        /// The length it has.
        found: usize,
    },
    /// A label is not one of the classes.
    #[error("the label of trial {trial} is {label}, but there are {classes} classes (counted from 0)")]
    Label {
        /// Which trial.
        trial: usize,
        /// Its label.
        label: usize,
        /// The number of classes.
        classes: usize,
    },
    /// A sample of a raw trial is not a finite number.
    #[error("trial {trial}, channel {channel}: a sample is {value}")]
    Sample {
        /// Which trial.
        trial: usize,
        /// Which channel.
        channel: usize,
        /// What it is.
        value: f64,
    },
    /// Data and network do not fit together.
    #[error("the network takes {what} {expected}, the data have {found}")]
    Mismatch {
        /// What differs.
        what: &'static str,
        /// The network's.
        expected: String,
        /// The data's.
        found: String,
    },
    /// Parameters of one network were given to another.
    #[error(
        "the parameters are not those of this model: {found} numbers where {expected} were expected, or other names"
    )]
    ForeignParameters {
        /// How many this model has.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// The loss or a gradient is not finite any more.
    #[error("training diverged: {what} is {value}")]
    Diverged {
        /// What is not finite.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A parameter was changed behind the back of an optimiser that keeps a base point for it.
    #[error(
        "the parameters were changed since the optimiser's last step: make a new optimiser at the new parameters"
    )]
    Moved,
    /// A matrix is outside of the region in which the landing method is safe.
    #[error(
        "a weight matrix is {distance:.3e} away from orthonormal columns; the landing method needs at most {safe:e}"
    )]
    TooFarToLand {
        /// `|W^T W - I|`
        distance: f64,
        /// The largest safe distance.
        safe: f64,
    },
    /// A matrix that must have orthonormal columns has not.
    #[error("parameter `{name}` has columns that are {distance:.1e} away from orthonormal")]
    Infeasible {
        /// Which parameter.
        name: String,
        /// `|W^T W - I|`
        distance: f64,
    },
    /// Nearly all eigenvalues are below the threshold, so nothing is left to learn from.
    #[error(
        "{:.1}% of the eigenvalues are below the threshold {threshold:e} (their median is {median:e}): nothing is left to learn from", share * 100.0
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
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file is not a model that this version can load.
    #[error("{path}: {fault}", path = path.display())]
    Model {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        fault: crate::file::Fault,
    },
}

impl Error {
    /// What the user can do about it, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::AllClamped { median, .. } if !(*median > 0.0) => {
                Some("more than half of the eigenvalues are not even positive: are these covariances?".into())
            }
            Self::AllClamped { threshold, median, .. } => Some(format!(
                "covariances in volts instead of microvolts are 1e12 times too small; scale the data, or lower the threshold from {threshold:e} below {median:e}"
            )),
            Self::Diverged { .. } => Some("lower the learning rate".into()),
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
