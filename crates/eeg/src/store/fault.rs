//! What can be wrong with prepared data.

use thiserror::Error;

/// Why an archive of arrays is not a prepared dataset.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum StoreFault {
    /// An array is missing.
    #[error("there is no array `{name}`")]
    Absent {
        /// Its name.
        name: &'static str,
    },
    /// An array has another shape.
    #[error("`{name}` has the shape {shape:?}; it must be {expected}")]
    Shape {
        /// Its name.
        name: &'static str,
        /// Its shape.
        shape: Vec<usize>,
        /// What it must be.
        expected: String,
    },
    /// A list that is longer than a file of this size can be meant to have.
    #[error("`{name}` has {entries} entries in a file of {length} bytes")]
    Many {
        /// Of which array.
        name: &'static str,
        /// How many it has.
        entries: usize,
        /// The bytes of the file.
        length: u64,
    },
    /// Two classes or two channels of one name.
    #[error("`{name}` lists \"{twice}\" twice")]
    Twice {
        /// Of which array.
        name: &'static str,
        /// What is there twice.
        twice: String,
    },
    /// The kind is neither trials nor covariances.
    #[error("`kind` is \"{kind}\"; it must be \"trials\" or \"covariances\"")]
    Kind {
        /// What it is.
        kind: String,
    },
    /// An alignment that is not known here: later stages must not take the data for what they are not.
    #[error("`align` is \"{name}\"; it must be none, riemannian, log-euclidean or euclidean")]
    Align {
        /// What it is.
        name: String,
    },
    /// Whether trials were scaled is neither yes nor no.
    #[error("`z_score` is {values:?}; it must be 0 or 1")]
    ZScore {
        /// What it is.
        values: Vec<i64>,
    },
    /// A label is not one of the classes.
    #[error("`y` has the label {label} at trial {trial}, but there are {classes} classes (counted from 0)")]
    Label {
        /// Which trial.
        trial: usize,
        /// Its label.
        label: i64,
        /// The number of classes.
        classes: usize,
    },
    /// A number is not finite.
    #[error("`X` has {value} in trial {trial}")]
    NotFinite {
        /// Which trial.
        trial: usize,
        /// What it is.
        value: f64,
    },
    /// A covariance is not symmetric.
    #[error(
        "`X` has a matrix that is not symmetric in trial {trial}, input {input}: entries ({}, {}) and ({}, {}) differ by {difference:e}",
        entry[0], entry[1], entry[1], entry[0]
    )]
    NotSymmetric {
        /// Which trial.
        trial: usize,
        /// Which of its matrices.
        input: usize,
        /// Row and column of the worst pair.
        entry: [usize; 2],
        /// How much the two differ.
        difference: f64,
    },
    /// The sampling rate is no rate.
    #[error("`sfreq` is {sfreq}; it must be positive")]
    Rate {
        /// What it is.
        sfreq: f64,
    },
    /// The unit is unknown.
    #[error("`unit` is \"{unit}\"; it must be {expected}")]
    Unit {
        /// What it is.
        unit: String,
        /// What it may be.
        expected: &'static str,
    },
}
