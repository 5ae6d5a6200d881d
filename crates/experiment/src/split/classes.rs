//! The check that a fold keeps every class.

use fedspd_eeg::About;
use fedspd_federated::Shard;

use super::design::Design;
use super::error::{LostClass, PARTS, SharingError};
use super::folds::Fold;
use crate::config::{Config, Mode};

impl Design {
    /// Checks that training, validation and test have every class: those of each client, or those of
    /// all clients together if whole people are held out.
    ///
    /// # Errors
    /// [`SharingError::LostClass`] for the first class that is missing.
    pub(super) fn keeps_classes(
        &self,
        config: &Config,
        about: &About,
        fold: Fold,
    ) -> Result<(), SharingError> {
        if config.split.kind.holds_out_people() {
            if config.mode == Mode::Local && config.chooses() {
                self.can_choose(fold)?;
            }
            return keeps(about, fold, "all clients together", &self.pooled());
        }
        let mut clients = self.clients.iter().zip(&self.shards);
        clients.try_for_each(|(client, shard)| keeps(about, fold, &format!("`{}`", client.name), shard))
    }

    /// Checks that every client that trains alone and is tested has somebody for validation.
    fn can_choose(&self, fold: Fold) -> Result<(), SharingError> {
        let mut clients = self.clients.iter().zip(&self.shards);
        let blind =
            |shard: &Shard| shard.validation.is_empty() && !shard.train.is_empty() && !shard.test.is_empty();
        match clients.find(|(_, shard)| blind(shard)) {
            None => Ok(()),
            Some((client, _)) => Err(SharingError::NobodyValidates {
                client: client.name.clone(),
                subjects: client.subjects.len(),
                fold: fold.test,
            }),
        }
    }
}

fn keeps(about: &About, fold: Fold, whom: &str, shard: &Shard) -> Result<(), SharingError> {
    let counts = [&shard.train, &shard.validation, &shard.test].map(|trials| count_classes(about, trials));
    for (class, name) in about.classes.iter().enumerate() {
        // A class that the client does not have at all cannot be lost.
        if counts.iter().all(|counts| counts[class] == 0) {
            continue;
        }
        if let Some(part) = counts.iter().position(|counts| counts[class] == 0) {
            return Err(SharingError::LostClass(Box::new(LostClass {
                fold: fold.test,
                folds: fold.of,
                whom: whom.to_owned(),
                part: PARTS[part],
                class: name.clone(),
                classes: about.classes.clone(),
                counts,
                largest: None,
            })));
        }
    }
    Ok(())
}

/// Counts the trials of each class.
pub(super) fn count_classes(about: &About, trials: &[usize]) -> Vec<usize> {
    let mut counts = vec![0; about.classes.len()];
    for &trial in trials {
        counts[about.origins[trial].label] += 1;
    }
    counts
}
