//! Metadata of trials: classes, channels, origins and processing.

use crate::{Error, Making};

/// The unit of signals: microvolts.
pub const MICROVOLTS: &str = "uV";

/// The unit of covariances of signals in microvolts.
pub const SQUARE_MICROVOLTS: &str = "uV^2";

/// The unit of dimensionless data, such as recentred covariances.
pub const NO_UNIT: &str = "1";

/// Classes, channels and origins of trials.
#[derive(Clone, Debug, PartialEq)]
pub struct About {
    /// The names of the classes; a label is an index into this list.
    pub classes: Vec<String>,
    /// The names of the channels, in the order of the rows.
    pub channels: Vec<String>,
    /// Samples per second.
    pub sfreq: f64,
    /// [`MICROVOLTS`], [`SQUARE_MICROVOLTS`] or [`NO_UNIT`].
    pub unit: String,
    /// The processing of the data.
    pub making: Making,
    /// One origin for each trial.
    pub origins: Vec<Origin>,
}

/// The origin of a trial, and its class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The label, an index into the classes.
    pub label: usize,
    /// The subject.
    pub subject: String,
    /// The session: the day or sitting.
    pub session: String,
    /// The run: the recording within the session.
    pub run: String,
}

impl About {
    /// The label of each trial.
    pub fn labels(&self) -> Vec<usize> {
        self.origins.iter().map(|origin| origin.label).collect()
    }

    /// The number of trials of each class.
    pub fn class_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.classes.len()];
        for origin in &self.origins {
            counts[origin.label] += 1;
        }
        counts
    }

    /// The subjects in the order of their first trials.
    pub fn subjects(&self) -> Vec<&str> {
        let mut seen = std::collections::HashSet::new();
        self.origins.iter().map(|origin| &*origin.subject).filter(|subject| seen.insert(*subject)).collect()
    }

    /// The indices of a subject's trials.
    pub fn trials_of(&self, subject: &str) -> Vec<usize> {
        let of_subject = |(_, origin): &(usize, &Origin)| origin.subject == subject;
        self.origins.iter().enumerate().filter(of_subject).map(|(trial, _)| trial).collect()
    }

    /// The name of a trial in error messages.
    pub fn name(&self, trial: usize) -> String {
        let Origin { subject, session, run, .. } = &self.origins[trial];
        format!("trial {trial} (subject {subject}, session {session}, run {run})")
    }

    /// Checks that the number of trials matches the origins, and that every label is a class.
    pub(crate) fn check(&self, trials: usize) -> Result<(), Error> {
        if self.origins.len() != trials {
            return Err(Error::Length { what: "trials", expected: self.origins.len(), found: trials });
        }
        let classes = self.classes.len();
        match self.origins.iter().position(|origin| origin.label >= classes) {
            Some(trial) => Err(Error::Label { trial, label: self.origins[trial].label, classes }),
            None => Ok(()),
        }
    }
}
