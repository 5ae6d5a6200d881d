//! Faults of prepared data.

use fedspd_run::counted;
use thiserror::Error;

use super::unit::{OF_COVARIANCES, OF_TRIALS};
use crate::names::list;

/// Faults of a file with prepared data.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum StoreFault {
    /// An array is missing.
    #[error("there is no array `{name}`")]
    Absent {
        /// Its name.
        name: &'static str,
    },
    /// An array has the wrong shape.
    #[error("`{name}` has the shape {shape:?}; it must be {expected}")]
    Shape {
        /// Its name.
        name: &'static str,
        /// Its shape.
        shape: Vec<usize>,
        /// The expected shape.
        expected: String,
    },
    /// A list has another length than `X` has trials.
    #[error("`{name}` has {}, but `X` has {}", counted(entries, "entry"), counted(trials, "trial"))]
    PerTrial {
        /// The array.
        name: &'static str,
        /// Its number of entries.
        entries: usize,
        /// The number of trials.
        trials: usize,
    },
    /// `X` has another length than `y` and `subject`, which agree.
    #[error("`X` has {}, but `y` and `subject` have {entries} entries each", counted(trials, "trial"))]
    Trials {
        /// The number of trials in `X`.
        trials: usize,
        /// The number of labels and of subjects.
        entries: usize,
    },
    /// A list of names has another length than the axis of `X` that it names.
    #[error("`{name}` has {}, but `X` has {}", counted(names, "name"), counted(entries, of))]
    Axis {
        /// The array.
        name: &'static str,
        /// Its number of names.
        names: usize,
        /// The length of the axis.
        entries: usize,
        /// The noun for an entry of the axis.
        of: &'static str,
    },
    /// A number is not whole.
    #[error("`{name}` has {value} at entry {place}; it must be a text or a whole number")]
    NotWhole {
        /// The array.
        name: &'static str,
        /// The index of the entry.
        place: usize,
        /// The value found.
        value: f64,
    },
    /// A list is too long for a file of this size.
    #[error("`{name}` has {entries} entries in a file of {length} bytes")]
    Many {
        /// The array.
        name: &'static str,
        /// The number of entries.
        entries: usize,
        /// The length of the file in bytes.
        length: u64,
    },
    /// Two classes or two channels have the same name.
    #[error("`{name}` lists \"{twice}\" twice")]
    Twice {
        /// The array.
        name: &'static str,
        /// The repeated name.
        twice: String,
    },
    /// The kind is neither trials nor covariances.
    #[error("`kind` is \"{kind}\"; it must be \"trials\" or \"covariances\"")]
    Kind {
        /// The value found.
        kind: String,
    },
    /// The alignment is unknown. Later stages must know it, to avoid aligning twice.
    #[error("`align` is \"{name}\"; it must be none, riemannian, log-euclidean or euclidean")]
    Align {
        /// The value found.
        name: String,
    },
    /// The preparation is not of this version.
    #[error("`preparation` cannot be read: {reason}")]
    Preparation {
        /// Message of the reader.
        reason: String,
    },
    /// The preparation does not describe every input.
    #[error("`preparation` describes {branches} inputs per trial, `X` has {inputs}")]
    Branches {
        /// The described inputs.
        branches: usize,
        /// The inputs of `X`.
        inputs: usize,
    },
    /// The z-score flag is neither 0 nor 1.
    #[error("`z_score` is {values:?}; it must be 0 or 1")]
    ZScore {
        /// The value found.
        values: Vec<i64>,
    },
    /// A label is not one of the classes.
    #[error(
        "`y` has the label {label} at trial {trial}, but `classes` has {} (counted from 0)",
        counted(classes, "name")
    )]
    Label {
        /// The trial.
        trial: usize,
        /// Its label.
        label: i64,
        /// The number of classes.
        classes: usize,
    },
    /// A label is not the name of a class.
    #[error("`y` has the label \"{label}\" at trial {trial}, but `classes` has {}", list(classes))]
    LabelName {
        /// The trial.
        trial: usize,
        /// Its label.
        label: String,
        /// The names of the classes.
        classes: Vec<String>,
    },
    /// A value is not finite.
    #[error("`X` has {value} in trial {trial}")]
    NotFinite {
        /// The trial.
        trial: usize,
        /// The value found.
        value: f64,
    },
    /// A covariance is not symmetric.
    #[error(
        "`X` has a matrix that is not symmetric in trial {trial}, input {input}: entries ({}, {}) and ({}, {}) differ by {difference:e}",
        entry[0], entry[1], entry[1], entry[0]
    )]
    NotSymmetric {
        /// The trial.
        trial: usize,
        /// The input: its index among the matrices of the trial.
        input: usize,
        /// Row and column of the pair with the largest difference.
        entry: [usize; 2],
        /// The difference of the pair.
        difference: f64,
    },
    /// The sampling rate is not positive.
    #[error("`sfreq` is {sfreq}; it must be positive")]
    Rate {
        /// The value found.
        sfreq: f64,
    },
    /// The unit is unknown.
    #[error("`unit` is \"{unit}\"; it must be {expected}")]
    Unit {
        /// The value found.
        unit: String,
        /// The permitted values.
        expected: &'static str,
    },
}

impl StoreFault {
    /// Returns a hint for the user, if there is one.
    pub(crate) fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Absent { name: "unit" } => {
                format!("in Python, save `unit=\"uV^2\"` for covariances of microvolts, or another of {OF_COVARIANCES}; for trials, {OF_TRIALS}")
            }
            Self::Absent { .. } => {
                "the arrays X, y, subject, sfreq and unit are required; session, run, classes and channels have defaults".into()
            }
            Self::Label { .. } => {
                "leave `classes` out to name the classes after their labels, or save the name of each trial's class in `y`".into()
            }
            _ => return None,
        })
    }
}
