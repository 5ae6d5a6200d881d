//! Faults of partitions and splits.

use thiserror::Error;

/// A fault of the assignment of trials to clients and splits.
///
/// Indices count from zero.
#[derive(Debug, Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum SharingError {
    /// A setting is out of range.
    #[error("`{name}` is {value}; it must be {expected}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: String,
        /// The allowed values.
        expected: String,
    },
    /// The shares of a split do not add up to 1, or one is negative.
    #[error("the shares of training, validation and test are {train}, {val} and {test}, together {}", train + val + test)]
    Shares {
        /// The share of training.
        train: f64,
        /// The share of validation.
        val: f64,
        /// The share of the test.
        test: f64,
    },
    /// Calibration would use all trials of a held-out subject.
    #[error(
        "`align.calibration` is {first}, but held-out subject `{subject}` has {trials} trials: none would be left to score"
    )]
    Calibration {
        /// Trials for calibration.
        first: usize,
        /// The subject.
        subject: String,
        /// Its number of trials.
        trials: usize,
    },
    /// Epochs for a client that does not exist.
    #[error(
        "`federated.epochs_local` names client `{name}`, which does not exist; existing clients include {known}"
    )]
    UnknownClient {
        /// Its name.
        name: String,
        /// The first clients that exist.
        known: String,
    },
    /// The data have no trials.
    #[error("there are no trials to split")]
    NoTrials,
    /// A subject without trials.
    #[error("{place} names subject `{subject}`, which has no trials")]
    UnknownSubject {
        /// The subject.
        subject: String,
        /// The client or list that names it.
        place: String,
        /// The subjects of the data.
        known: Vec<String>,
    },
    /// A subject is named twice.
    #[error("subject `{subject}` is named twice, by {} and by {}", places[0], places[1])]
    SubjectTwice {
        /// The subject.
        subject: String,
        /// The two clients or lists that name it.
        places: [String; 2],
    },
    /// Two clients have the same name.
    #[error("two clients are called `{name}`")]
    ClientTwice {
        /// Their name.
        name: String,
    },
    /// A name that a client cannot have.
    #[error("a client cannot be called `{name}`")]
    ClientName {
        /// The name.
        name: String,
    },
    /// A map without clients.
    #[error("the map of clients is empty")]
    NoClients,
    /// A client without subjects.
    #[error("client `{client}` has no trials")]
    EmptyClient {
        /// The client.
        client: String,
    },
    /// All subjects are held out.
    #[error("all {subjects} subjects are held out")]
    AllHeldOut {
        /// The number of subjects.
        subjects: usize,
    },
    /// A trial of a client belongs to none of its subjects.
    #[error("trial {trial} of client `{client}` belongs to none of its subjects")]
    ForeignTrial {
        /// The client.
        client: String,
        /// The trial.
        trial: usize,
    },
    /// A split leaves no trials for training.
    #[error("client `{client}` has {trials} trials, but none is left for training")]
    NothingToTrain {
        /// The client.
        client: String,
        /// Its number of trials.
        trials: usize,
    },
    /// A subject with a single run cannot have a run in training and one in the test.
    #[error("subject `{subject}` has {runs} run; leave-run-out needs at least 2")]
    TooFewRuns {
        /// The subject.
        subject: String,
        /// Its number of runs.
        runs: usize,
    },
    /// The test fold has no run of any client.
    #[error("no client has a run in test fold {fold} of {folds} (counted from 0)")]
    EmptyFold {
        /// The number of folds.
        folds: usize,
        /// The test fold.
        fold: usize,
    },
}

/// The largest number of names in a message, because a dataset may have thousands of subjects.
const SHOWN: usize = 8;

impl SharingError {
    /// Returns advice for the user, if there is any.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Shares { .. } => {
                Some("shares must not be negative and must add up to 1, as in 0.75, 0.10 and 0.15".into())
            }
            Self::UnknownSubject { known, .. } => {
                let shown = known.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
                Some(match known.len().saturating_sub(SHOWN) {
                    0 => format!("available: {shown}"),
                    more => format!("available: {shown} and {more} more"),
                })
            }
            Self::SubjectTwice { .. } => Some("a subject belongs to one client, or is held out".into()),
            Self::ClientName { .. } => Some(
                "a name must not be empty, `pooled`, `mean` or `worst`, which are rows of the results".into(),
            ),
            Self::NoClients | Self::EmptyClient { .. } => {
                Some("give every client at least one subject".into())
            }
            Self::AllHeldOut { .. } => Some("keep some subjects for training".into()),
            Self::NothingToTrain { .. } => {
                Some("give the client more subjects, or training a larger share of trials".into())
            }
            Self::EmptyFold { .. } => {
                Some("use as many folds as there are runs with the same classes, or fewer".into())
            }
            Self::TooFewRuns { .. } => Some("exclude the subject, or use the stratified split".into()),
            _ => None,
        }
    }
}
