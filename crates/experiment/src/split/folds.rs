//! The folds of a leave-out split.

use fedspd_eeg::About;

use super::deal::{Recordings, most_folds};
use super::design::Design;
use super::error::SharingError;
use crate::Error;
use crate::config::{Config, LEAST_FOLDS_OF_PEOPLE, SplitKind};

/// The default number of folds of subjects and of clients.
const FOLDS_OF_PEOPLE: usize = 5;

/// A fold of a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The test fold, counted from 0.
    pub test: usize,
    /// The number of folds.
    pub of: usize,
}

impl Fold {
    /// Checks a fold.
    ///
    /// # Errors
    /// [`SharingError::Setting`] if there are fewer than two folds, or the index is too large.
    pub fn new(test: usize, of: usize) -> Result<Self, SharingError> {
        if of < 2 {
            let (value, expected) = (of.to_string(), "2 or more".into());
            return Err(SharingError::Setting { name: "split.folds", value, expected });
        }
        if test >= of {
            let expected = format!("less than the number of folds, {of}");
            return Err(SharingError::Setting { name: "split.fold", value: test.to_string(), expected });
        }
        Ok(Self { test, of })
    }

    /// Returns the validation fold: the one opposite the test fold.
    pub fn validation(self) -> usize {
        (self.test + self.of / 2) % self.of
    }
}

/// Returns the number of folds of a configuration; none for the stratified split.
///
/// # Errors
/// If no number of folds keeps every class for every seed, or there are too few people.
pub fn fold_count(config: &Config, about: &About) -> Result<Option<usize>, Error> {
    if !config.split.kind.has_folds() {
        return Ok(None);
    }
    config.split.folds.map_or_else(|| default_folds(config, about), Ok).map(Some)
}

/// Returns the default number of folds.
pub(super) fn default_folds(config: &Config, about: &About) -> Result<usize, Error> {
    let seeds = config.run.seeds.as_slice();
    let partitions = seeds.iter().map(|&seed| Design::partition(config, about, seed));
    let partitions = partitions.collect::<Result<Vec<_>, Error>>()?;
    let clients = partitions.iter().flat_map(|partition| &partition.clients);
    let Some(unit) = recordings(config.split.kind) else {
        let by_client = config.split.kind == SplitKind::LeaveClientOut;
        let counts = partitions.iter().map(|partition| {
            if by_client {
                return partition.clients.len();
            }
            partition.clients.iter().map(|client| client.subjects.len()).sum()
        });
        let count = counts.min().unwrap_or(0);
        if count < LEAST_FOLDS_OF_PEOPLE {
            let what = if by_client { "client" } else { "subject" };
            return Err(SharingError::TooFewPeople { kind: config.split.kind.name(), what, count }.into());
        }
        return Ok(count.min(FOLDS_OF_PEOPLE));
    };
    let most = clients.map(|client| most_folds(about, &client.trials, unit)).min().unwrap_or(0).max(2);
    let keep = |of: usize| -> Result<(), Error> {
        for &seed in seeds {
            for test in 0..of {
                let fold = Fold { test, of };
                Design::of_fold(config, about, seed, Some(fold))?.keeps_classes(config, about, fold)?;
            }
        }
        Ok(())
    };
    for of in (3..=most).rev() {
        match keep(of) {
            Ok(()) => return Ok(of),
            Err(Error::Sharing(SharingError::LostClass { .. } | SharingError::NothingToTrain { .. })) => {}
            Err(other) => return Err(other),
        }
    }
    keep(2).map(|()| 2)
}

/// Returns the recordings that a split holds out; none if it holds out people or nothing as a whole.
pub(super) fn recordings(kind: SplitKind) -> Option<Recordings> {
    match kind {
        SplitKind::LeaveRunOut => Some(Recordings::Run),
        SplitKind::LeaveSessionOut => Some(Recordings::Session),
        SplitKind::Stratified | SplitKind::LeaveSubjectOut | SplitKind::LeaveClientOut => None,
    }
}
