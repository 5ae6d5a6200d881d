//! The clients of a seed and their trials: all random choices before training.

use std::collections::HashSet;

use fedspd_eeg::About;
use fedspd_federated::Shard;
use fedspd_nn::{Purpose, Seed};
use fedspd_run::{HeldOutShard, SeedShards, Shard as ShardCounts};

use super::error::SharingError;
use super::facts::test_sha256;
use super::partition::{Assignment, Client, HeldOut, partition};
use super::trials::{SplitRule, split};
use crate::Error;
use crate::config::{Clients, Config, Mode, SplitKind};

/// The clients of a seed with their trials.
pub struct Design {
    /// The clients.
    pub clients: Vec<Client>,
    /// The training, validation and test trials of each client.
    pub shards: Vec<Shard>,
    /// Subjects that no client trains on.
    pub held_out: Vec<HeldOut>,
    /// Subjects that a map of clients does not name.
    pub unused: Vec<String>,
}

impl Design {
    /// Creates the design of a seed.
    ///
    /// # Errors
    /// [`Error::Sharing`] if the trials cannot be split as configured, or no client has a run in
    /// the test fold.
    pub fn new(config: &Config, about: &About, seed: u64) -> Result<Self, Error> {
        let (settings, seed) = (&config.federated, split_seed(config, seed));
        let subjects_per_client = settings.subjects_per_client;
        let assignment = match &settings.clients {
            Clients::Fixed => Assignment::Fixed { subjects_per_client },
            Clients::Shuffled => Assignment::Shuffled { subjects_per_client },
            Clients::Explicit(map) => {
                Assignment::Map(map.iter().map(|(name, subjects)| (name.clone(), subjects.clone())).collect())
            }
        };
        let held_out = config.split.held_out_subjects.as_ref().map_or(&[][..], |selection| selection.ids());
        let partition = partition(about, &assignment, held_out, seed)?;
        check_names(config, &partition.clients)?;
        if let Some(first) = config.calibration()
            && let Some(all) = partition.held_out.iter().find(|held_out| held_out.trials.len() <= first)
        {
            let (subject, trials) = (all.subject.clone(), all.trials.len());
            return Err(SharingError::Calibration { first, subject, trials }.into());
        }
        let shards = partition.clients.iter().enumerate();
        let shards = shards.map(|(number, client)| shard(config, about, client, number as u32, seed));
        let shards = shards.collect::<Result<Vec<_>, Error>>()?;
        let split = &config.split;
        if split.kind == SplitKind::LeaveRunOut && shards.iter().all(|shard| shard.test.is_empty()) {
            return Err(SharingError::EmptyFold { folds: split.folds, fold: split.fold }.into());
        }
        Ok(Self {
            clients: partition.clients,
            shards,
            held_out: partition.held_out,
            unused: partition.unused,
        })
    }

    /// Creates the design of one client that has all trials. `number` is its index in the
    /// federation.
    pub(crate) fn of_site(
        config: &Config,
        about: &About,
        seed: u64,
        name: &str,
        number: u32,
    ) -> Result<Self, Error> {
        let subjects = about.subjects().into_iter().map(str::to_owned).collect();
        let assignment = Assignment::Map(vec![(name.to_owned(), subjects)]);
        let seed = split_seed(config, seed);
        let clients = partition(about, &assignment, &[], seed)?.clients;
        let shards = clients.iter().map(|client| shard(config, about, client, number, seed));
        let shards = shards.collect::<Result<_, _>>()?;
        Ok(Self { clients, shards, held_out: Vec::new(), unused: Vec::new() })
    }

    /// Returns the warnings before training: subjects without a client, and clients without scores.
    pub(crate) fn warnings(&self, config: &Config) -> Vec<String> {
        let mut warnings = Vec::new();
        match &self.unused[..] {
            [] => {}
            [subject] => {
                warnings.push(format!("no client has the subject {subject}: its trials are not used"));
            }
            subjects => warnings.push(format!(
                "no client has the subjects {}: their trials are not used",
                subjects.join(", ")
            )),
        }
        let clients = self.clients.iter().zip(&self.shards);
        let clients =
            clients.map(|(client, shard)| (&*client.name, shard.validation.len(), shard.test.len()));
        warnings.extend(unscored(config, &clients.collect::<Vec<_>>()));
        warnings
    }

    /// Returns one shard with the training, validation and test trials of all clients.
    pub fn pooled(&self) -> Shard {
        let all = |part: fn(&Shard) -> &Vec<usize>| {
            let mut trials: Vec<usize> = self.shards.iter().flat_map(part).copied().collect();
            trials.sort_unstable();
            trials
        };
        Shard {
            train: all(|shard| &shard.train),
            validation: all(|shard| &shard.validation),
            test: all(|shard| &shard.test),
        }
    }

    /// Counts the trials of each class, for the run folder.
    pub fn counts(&self, about: &About, seed: u64) -> SeedShards {
        let count = |trials: &[usize]| {
            let mut counts = vec![0; about.classes.len()];
            for &trial in trials {
                counts[about.origins[trial].label] += 1;
            }
            counts
        };
        let clients = self.clients.iter().zip(&self.shards).map(|(client, shard)| ShardCounts {
            name: client.name.clone(),
            subjects: client.subjects.clone(),
            train: count(&shard.train),
            val: count(&shard.validation),
            test: count(&shard.test),
        });
        let held_out = self.held_out.iter().map(|held_out| HeldOutShard {
            subject: held_out.subject.clone(),
            trials: count(&held_out.trials),
        });
        let test_sha256 = Some(test_sha256(about, &self.pooled().test));
        SeedShards { seed, fold: None, clients: clients.collect(), held_out: held_out.collect(), test_sha256 }
    }
}

/// Returns the seed of the split: `split.seed` if set, otherwise the run's seed.
fn split_seed(config: &Config, seed: u64) -> Seed {
    Seed(config.split.seed.unwrap_or(seed))
}

/// Splits the trials of a client.
fn shard(config: &Config, about: &About, client: &Client, number: u32, seed: Seed) -> Result<Shard, Error> {
    let asked = &config.split;
    let rule = match asked.kind {
        SplitKind::Stratified => {
            SplitRule::Stratified { train: asked.train, val: asked.val, test: asked.test }
        }
        // Training and validation share the rest in proportion.
        SplitKind::LeaveRunOut => SplitRule::LeaveRunOut {
            folds: asked.folds,
            fold: asked.fold,
            val: asked.val / (asked.train + asked.val),
        },
    };
    let split = split(about, client, &rule, seed.stream(Purpose::Split).client(number))?;
    Ok(Shard { train: split.train, validation: split.val, test: split.test })
}

/// Warns about clients without validation or test trials. A client is its name and its numbers of
/// validation and test trials.
pub(crate) fn unscored(config: &Config, clients: &[(&str, usize, usize)]) -> Vec<String> {
    let untested = config.split.kind == SplitKind::Stratified && config.split.test == 0.0;
    let splits =
        [("validation", "does not count for the learning rate"), ("test", "is not in the test scores")];
    let mut warnings = Vec::new();
    for (what, means) in splits.into_iter().filter(|(what, _)| !(untested && *what == "test")) {
        let without =
            clients.iter().filter(|client| if what == "test" { client.2 == 0 } else { client.1 == 0 });
        let names: Vec<&str> = without.map(|client| client.0).collect();
        match names[..] {
            [] => {}
            [one] => warnings.push(format!("{one} has no {what} trials: it {means}")),
            [first, ..] if names.len() < clients.len() => warnings.push(format!(
                "{} of {} clients have no {what} trials (first: {first}): such a client {means}",
                names.len(),
                clients.len()
            )),
            _ => warnings.push(format!("no client has {what} trials: there are no {what} scores")),
        }
    }
    warnings
}

/// Checks that every client with epochs of its own exists.
fn check_names(config: &Config, clients: &[Client]) -> Result<(), SharingError> {
    let named = config.federated.epochs_local.clients.keys().filter(|_| config.mode == Mode::Federated);
    let names: HashSet<&str> = clients.iter().map(|client| &*client.name).collect();
    for name in named {
        if !names.contains(&**name) {
            let known: Vec<&str> = clients.iter().take(8).map(|client| &*client.name).collect();
            return Err(SharingError::UnknownClient { name: name.clone(), known: known.join(", ") });
        }
    }
    Ok(())
}
