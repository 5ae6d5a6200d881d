//! Who has which trials, and what they are for: all that a seed decides before training.

use fedspd_eeg::About;
use fedspd_federated::Shard;
use fedspd_nn::{Purpose, Seed};
use fedspd_run::{HeldOutShard, SeedShards, Shard as ShardCounts};

use crate::config::{Clients, Config, Mode, SplitKind as ConfiguredSplit};
use crate::partition::{Assignment, Client, HeldOut, partition};
use crate::split::{SplitKind, split};
use crate::{Error, SharingError};

/// The clients of a seed with their trials.
pub struct Design {
    /// The clients.
    pub clients: Vec<Client>,
    /// What each client's trials are for.
    pub shards: Vec<Shard>,
    /// Subjects that nobody trains on.
    pub held_out: Vec<HeldOut>,
    /// Subjects that a map of clients does not name.
    pub unused: Vec<String>,
}

impl Design {
    /// That of a seed.
    ///
    /// # Errors
    /// [`Error::Sharing`] if the trials cannot be shared out as asked for, or a fold is for the test that has no run of any client.
    pub fn new(config: &Config, about: &About, seed: u64) -> Result<Self, Error> {
        let (settings, seed) = (&config.federated, Seed(seed));
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
        let asked = &config.split;
        let kind = match asked.kind {
            ConfiguredSplit::Stratified => {
                SplitKind::Stratified { train: asked.train, val: asked.val, test: asked.test }
            }
            // What is left after the test is divided as training and validation would be among themselves.
            ConfiguredSplit::LeaveRunOut => SplitKind::LeaveRunOut {
                folds: asked.folds,
                fold: asked.fold,
                val: asked.val / (asked.train + asked.val),
            },
        };
        let shards = partition.clients.iter().enumerate().map(|(number, client)| {
            let stream = seed.stream(Purpose::Split).client(number as u32);
            let split = split(about, client, &kind, stream)?;
            Ok(Shard { train: split.train, validation: split.val, test: split.test })
        });
        let shards = shards.collect::<Result<Vec<_>, Error>>()?;
        if let SplitKind::LeaveRunOut { folds, fold, .. } = kind
            && shards.iter().all(|shard| shard.test.is_empty())
        {
            return Err(SharingError::EmptyFold { folds, fold }.into());
        }
        Ok(Self {
            clients: partition.clients,
            shards,
            held_out: partition.held_out,
            unused: partition.unused,
        })
    }

    /// What a person should know before training: subjects that nobody has, and clients that cannot be scored.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if !self.unused.is_empty() {
            warnings.push(format!(
                "no client has the subjects {}: their trials are not used",
                self.unused.join(", ")
            ));
        }
        for (what, means) in
            [("validation", "has no say in the learning rate"), ("test", "is not in the test scores")]
        {
            let trials =
                |shard: &Shard| if what == "test" { shard.test.len() } else { shard.validation.len() };
            let without = self.clients.iter().zip(&self.shards).filter(|(_, shard)| trials(shard) == 0);
            let names: Vec<&str> = without.map(|(client, _)| &*client.name).collect();
            match names[..] {
                [] => {}
                [one] => warnings.push(format!("{one} has no {what} trials: it {means}")),
                [first, ..] if names.len() < self.clients.len() => warnings.push(format!(
                    "{} of {} clients have no {what} trials, {first} the first of them: such a client {means}",
                    names.len(),
                    self.clients.len()
                )),
                _ => warnings.push(format!("no client has {what} trials: there are no {what} scores")),
            }
        }
        warnings
    }

    /// One shard with the trials of all clients, each for what it was for.
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

    /// Trials of each class, for the run folder.
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
        SeedShards { seed, clients: clients.collect(), held_out: held_out.collect() }
    }
}

/// Every client that is given work of its own exists.
fn check_names(config: &Config, clients: &[Client]) -> Result<(), SharingError> {
    let named = config.federated.epochs_local.clients.keys().filter(|_| config.mode == Mode::Federated);
    for name in named {
        if clients.iter().all(|client| client.name != *name) {
            let known: Vec<&str> = clients.iter().take(8).map(|client| &*client.name).collect();
            return Err(SharingError::UnknownClient { name: name.clone(), known: known.join(", ") });
        }
    }
    Ok(())
}
