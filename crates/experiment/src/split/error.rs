//! What can go wrong, with the numbers.

use thiserror::Error;

/// Why trials could not be shared out.
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
        /// What it may be.
        expected: String,
    },
    /// The shares of a split are not those of a whole.
    #[error("the shares of training, validation and test are {train}, {val} and {test}, together {}", train + val + test)]
    Shares {
        /// The share of training.
        train: f64,
        /// The share of validation.
        val: f64,
        /// The share of the test.
        test: f64,
    },
    /// All trials of a held-out subject would be fitted on.
    #[error(
        "`align.calibration` is {first}, but held-out subject `{subject}` has {trials} trials: none would be left to score"
    )]
    Calibration {
        /// How many trials are fitted on.
        first: usize,
        /// Who.
        subject: String,
        /// How many trials there are.
        trials: usize,
    },
    /// Work for a client that there is not.
    #[error("`federated.epochs_local` names client `{name}`, who does not exist; there are {known}")]
    UnknownClient {
        /// Who.
        name: String,
        /// The first of those who do.
        known: String,
    },
    /// The data have no trials.
    #[error("there are no trials to share out")]
    NoTrials,
    /// A subject that the data do not have.
    #[error("{place} names subject `{subject}`, of whom there are no trials")]
    UnknownSubject {
        /// Who.
        subject: String,
        /// Where the name is.
        place: String,
        /// Who there is.
        known: Vec<String>,
    },
    /// A subject is named twice.
    #[error("subject `{subject}` is named twice, by {} and by {}", places[0], places[1])]
    SubjectTwice {
        /// Who.
        subject: String,
        /// By whom.
        places: [String; 2],
    },
    /// Two clients have one name.
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
        /// Which client.
        client: String,
    },
    /// Nobody is left to train on.
    #[error("all {subjects} subjects are held out")]
    AllHeldOut {
        /// How many there are.
        subjects: usize,
    },
    /// A trial of a client that is not of its subjects.
    #[error("trial {trial} of client `{client}` is not one of its subjects'")]
    ForeignTrial {
        /// Which client.
        client: String,
        /// Which trial.
        trial: usize,
    },
    /// A split leaves nothing to train on.
    #[error("client `{client}` has {trials} trials, of which none is left for training")]
    NothingToTrain {
        /// Which client.
        client: String,
        /// How many it has.
        trials: usize,
    },
    /// A subject with a single run cannot have a run in training and one in the test.
    #[error("subject `{subject}` has {runs} run; with whole runs held out, two or more are needed")]
    TooFewRuns {
        /// Who.
        subject: String,
        /// How many runs.
        runs: usize,
    },
    /// The fold that is for the test has no run of any client.
    #[error("fold {fold} of {folds} (counted from 0) is for the test, but no client has a run in it")]
    EmptyFold {
        /// Into how many folds runs are dealt.
        folds: usize,
        /// Which of them is for the test.
        fold: usize,
    },
}

/// What is shown of many names: a dataset may have thousands of subjects.
const SHOWN: usize = 8;

impl SharingError {
    /// What the user can do about it, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Shares { .. } => {
                Some("shares are not negative and add up to 1, as 0.75, 0.10 and 0.15 do".into())
            }
            Self::UnknownSubject { known, .. } => {
                let shown = known.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
                Some(match known.len().saturating_sub(SHOWN) {
                    0 => format!("there are {shown}"),
                    more => format!("there are {shown} and {more} more"),
                })
            }
            Self::SubjectTwice { .. } => Some("a subject belongs to one client, or is held out".into()),
            Self::ClientName { .. } => {
                Some("a name is not empty, and `pooled`, `mean` and `worst` are rows of the results".into())
            }
            Self::NoClients | Self::EmptyClient { .. } => {
                Some("give every client one subject or more".into())
            }
            Self::AllHeldOut { .. } => Some("leave some subjects to train on".into()),
            Self::NothingToTrain { .. } => {
                Some("give the client more subjects, or training a larger share".into())
            }
            Self::EmptyFold { .. } => {
                Some("use as many folds as there are runs with the same classes, or fewer".into())
            }
            Self::TooFewRuns { .. } => Some("leave the subject out, or use the stratified split".into()),
            _ => None,
        }
    }
}
