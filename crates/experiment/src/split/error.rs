//! Faults of partitions and splits.

use fedspd_run::counted;
use thiserror::Error;

use super::deal::Recordings;
use crate::config::LEAST_FOLDS_OF_PEOPLE;

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
        "`align.calibration` is {first}, but held-out subject `{subject}` has {}: none would be left to score",
        counted(trials, "trial")
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
    #[error("no subject is left for training: {} held out", counted(subjects, "subject"))]
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
    #[error("client `{client}` has {}, but none is left for training", counted(trials, "trial"))]
    NothingToTrain {
        /// The client.
        client: String,
        /// Its number of trials.
        trials: usize,
    },
    /// A subject with a single run or session cannot have one in training and one in the test.
    #[error("subject `{subject}` has 1 {}; leave-{}-out needs at least 2", unit.name(), unit.name())]
    OneRecording {
        /// The subject.
        subject: String,
        /// The recordings that are held out.
        unit: Recordings,
    },
    /// There are too few subjects or clients for folds.
    #[error("there are {count} {what}s; {kind} needs at least {LEAST_FOLDS_OF_PEOPLE}")]
    TooFewPeople {
        /// The split.
        kind: &'static str,
        /// `subject` or `client`.
        what: &'static str,
        /// Their number.
        count: usize,
    },
    /// A client that trains alone has nobody for validation.
    #[error(
        "client `{client}` has {}: fold {fold} leaves nobody for validation, which chooses its model",
        counted(subjects, "subject")
    )]
    NobodyValidates {
        /// The client.
        client: String,
        /// Its number of subjects.
        subjects: usize,
        /// The fold, counted from 0.
        fold: usize,
    },
    /// A fold leaves out a class.
    #[error(transparent)]
    LostClass(Box<LostClass>),
}

/// A fold that leaves a client without a class in training, validation or test.
#[derive(Debug, Error, Clone, PartialEq)]
#[error(
    "fold {fold} of {folds} (counted from 0) leaves {whom} without {part} trials of `{class}`: of {}, there are {}",
    classes.join(", "),
    listed(counts)
)]
pub struct LostClass {
    /// The test fold.
    pub fold: usize,
    /// The number of folds.
    pub folds: usize,
    /// The client, or all of them.
    pub whom: String,
    /// `training`, `validation` or `test`.
    pub part: &'static str,
    /// The missing class.
    pub class: String,
    /// All classes.
    pub classes: Vec<String>,
    /// Trials of each class in training, validation and test.
    pub counts: [Vec<usize>; 3],
    /// The largest number of folds that keeps every class, if there is one and it is known.
    pub largest: Option<usize>,
}

/// The names of the splits in messages.
pub(crate) const PARTS: [&str; 3] = ["training", "validation", "test"];

/// Lists the counts of each split.
fn listed(counts: &[Vec<usize>; 3]) -> String {
    let numbers = |counts: &[usize]| counts.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let parts = PARTS.iter().zip(counts).map(|(part, counts)| format!("{} for {part}", numbers(counts)));
    parts.collect::<Vec<_>>().join(", ")
}

/// The largest number of names in a message, because a dataset may have thousands of subjects.
const SHOWN: usize = 8;

impl SharingError {
    /// Returns advice for the user, if there is any.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NobodyValidates { .. } => Some(
                "set `train.early_stop = 0` and `run.select = \"last\"`, or give clients more subjects"
                    .into(),
            ),
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
            Self::OneRecording { unit: Recordings::Session, .. } => {
                Some("use `split.kind = \"leave-run-out\"`".into())
            }
            Self::OneRecording { unit: Recordings::Run, .. } => {
                Some("exclude the subject, or use the stratified split".into())
            }
            Self::TooFewPeople { .. } => {
                Some("one fold is the test, one the validation, and the others are the training".into())
            }
            Self::LostClass(lost) => Some(match lost.largest {
                Some(largest) => {
                    format!("use `split.folds = {largest}`, the largest number that keeps every class")
                }
                None => {
                    "give each client more subjects, leave out `split.folds`, or use another `split.kind`"
                        .into()
                }
            }),
            _ => None,
        }
    }
}
