//! The clients of a seed and a fold with their trials: all random choices before training.

use std::collections::HashSet;

use fedspd_eeg::About;
use fedspd_federated::Shard;
use fedspd_nn::{Purpose, Seed};
use fedspd_run::{HeldOutShard, SeedShards, Shard as ShardCounts, Stage, Unit};

use super::classes::count_classes;
use super::deal::{deal_clients, deal_subjects};
use super::error::{LostClass, SharingError};
use super::facts::test_sha256;
use super::folds::{Fold, default_folds, fold_count, recordings};
use super::partition::{Assignment, Client, HeldOut, Partition, partition};
use super::trials::{SplitRule, split};
use crate::Error;
use crate::config::{Clients, Config, Mode, SplitKind};

/// The clients of a seed with their trials, for one fold.
pub struct Design {
    /// The clients.
    pub clients: Vec<Client>,
    /// The training, validation and test trials of each client.
    pub shards: Vec<Shard>,
    /// The people of clients whom nobody trains on in this fold.
    pub newcomers: Vec<Newcomer>,
    /// Subjects that no client trains on in any fold.
    pub held_out: Vec<HeldOut>,
    /// Subjects that a map of clients does not name.
    pub unused: Vec<String>,
}

/// A subject of a client whom nobody trains on in a fold. The subject is scored under the name of
/// the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Newcomer {
    /// The index of the client.
    pub client: usize,
    /// The subject.
    pub subject: String,
    /// Whether the subject is for validation or for the test.
    pub part: Part,
    /// The trials that alignment and statistics are fitted on, without labels.
    pub fit: Vec<usize>,
    /// The trials that are scored.
    pub scored: Vec<usize>,
}

/// Part of the trials that are not for training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Validation trials.
    Validation,
    /// Test trials.
    Test,
}

impl Part {
    /// Returns the trials of this part.
    pub(crate) fn of(self, shard: &Shard) -> &[usize] {
        match self {
            Self::Validation => &shard.validation,
            Self::Test => &shard.test,
        }
    }
}

impl Design {
    /// Creates the design of a seed and a fold. Without `fold` it is `split.fold`, or the first.
    ///
    /// # Errors
    /// [`Error::Sharing`] if the trials cannot be split as configured.
    pub fn new(config: &Config, about: &About, seed: u64, fold: Option<usize>) -> Result<Self, Error> {
        let Some(of) = fold_count(config, about)? else { return Self::of_fold(config, about, seed, None) };
        let fold = Fold::new(fold.or(config.split.fold).unwrap_or(0), of)?;
        let design = Self::of_fold(config, about, seed, Some(fold))?;
        design.keeps_classes(config, about, fold).map_err(|error| match error {
            SharingError::LostClass(lost) => SharingError::LostClass(Box::new(LostClass {
                largest: default_folds(config, about).ok(),
                ..*lost
            })),
            other => other,
        })?;
        Ok(design)
    }

    /// Assigns subjects to the clients of a seed.
    pub(super) fn partition(config: &Config, about: &About, seed: u64) -> Result<Partition, Error> {
        let settings = &config.federated;
        let subjects_per_client = settings.subjects_per_client;
        let assignment = match &settings.clients {
            Clients::Fixed => Assignment::Fixed { subjects_per_client },
            Clients::Shuffled => Assignment::Shuffled { subjects_per_client },
            Clients::Explicit(map) => {
                Assignment::Map(map.iter().map(|(name, subjects)| (name.clone(), subjects.clone())).collect())
            }
        };
        let held_out = config.split.held_out_subjects.as_ref().map_or(&[][..], |selection| selection.ids());
        Ok(partition(about, &assignment, held_out, split_seed(config, seed))?)
    }

    /// Creates the design of a fold. Classes may be missing.
    pub(super) fn of_fold(
        config: &Config,
        about: &About,
        seed: u64,
        fold: Option<Fold>,
    ) -> Result<Self, Error> {
        let Partition { clients, held_out, unused } = Self::partition(config, about, seed)?;
        check_names(config, &clients)?;
        for subject in &held_out {
            check_calibration(config, &subject.subject, subject.trials.len())?;
        }
        let seed = split_seed(config, seed);
        if let (Some(fold), true) = (fold, config.split.kind.holds_out_people()) {
            let (shards, newcomers) = hold_out_people(config, about, &clients, fold, seed)?;
            return Ok(Self { clients, shards, newcomers, held_out, unused });
        }
        let shards = clients.iter().enumerate();
        let shards = shards.map(|(number, client)| shard(config, about, client, number as u32, fold, seed));
        let shards = shards.collect::<Result<Vec<_>, Error>>()?;
        Ok(Self { clients, shards, newcomers: Vec::new(), held_out, unused })
    }

    /// Returns the design of a stage. The final fit also trains on validation trials.
    pub(crate) fn for_stage(mut self, stage: Option<Stage>) -> Self {
        if stage == Some(Stage::Fit) {
            for shard in &mut self.shards {
                shard.train.append(&mut shard.validation);
                shard.train.sort_unstable();
            }
            self.newcomers.retain(|newcomer| newcomer.part == Part::Test);
        }
        self
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
        // The server has checked that both keys are set.
        let fold = config.split.fold.zip(config.split.folds).filter(|_| config.split.kind.has_folds());
        let fold = fold.map(|(test, of)| Fold::new(test, of)).transpose()?;
        let shards = clients.iter().map(|client| shard(config, about, client, number, fold, seed));
        let shards = shards.collect::<Result<_, _>>()?;
        let (newcomers, held_out, unused) = (Vec::new(), Vec::new(), Vec::new());
        let design = Self { clients, shards, newcomers, held_out, unused };
        if let Some(fold) = fold {
            design.keeps_classes(config, about, fold)?;
        }
        Ok(design)
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
        // Other splits keep every class of every client.
        if config.split.kind == SplitKind::Stratified {
            let clients = self.clients.iter().zip(&self.shards);
            let clients =
                clients.map(|(client, shard)| (&*client.name, shard.validation.len(), shard.test.len()));
            warnings.extend(unscored(config, &clients.collect::<Vec<_>>()));
        }
        warnings.extend(self.without_own_model(config));
        warnings
    }

    /// Warns about clients that train alone and have only held-out subjects in this fold.
    fn without_own_model(&self, config: &Config) -> Option<String> {
        let clients = self.clients.iter().zip(&self.shards).filter(|_| config.mode == Mode::Local);
        let idle = clients.filter(|(_, shard)| shard.train.is_empty() && !shard.test.is_empty());
        let names: Vec<&str> = idle.map(|(client, _)| &*client.name).collect();
        (!names.is_empty()).then(|| {
            format!(
                "without training trials in this fold, these clients are not scored: {}",
                names.join(", ")
            )
        })
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
    pub fn counts(&self, mode: Mode, about: &About, unit: Unit) -> SeedShards {
        let count = |trials: &[usize]| count_classes(about, trials);
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
        // A client that trains alone without trials of its own is not scored.
        let scored = self.shards.iter().filter(|shard| mode != Mode::Local || !shard.train.is_empty());
        let scored: Vec<usize> = scored.flat_map(|shard| &shard.test).copied().collect();
        let test_sha256 = Some(test_sha256(about, &scored));
        SeedShards {
            seed: unit.seed,
            fold: unit.fold,
            clients: clients.collect(),
            held_out: held_out.collect(),
            test_sha256,
        }
    }
}

/// Returns the seed of the split: `split.seed` if set, otherwise the run's seed.
fn split_seed(config: &Config, seed: u64) -> Seed {
    Seed(config.split.seed.unwrap_or(seed))
}

/// Splits the trials of a client.
fn shard(
    config: &Config,
    about: &About,
    client: &Client,
    number: u32,
    fold: Option<Fold>,
    seed: Seed,
) -> Result<Shard, Error> {
    let asked = &config.split;
    let rule = match (recordings(asked.kind), fold) {
        (Some(unit), Some(fold)) => SplitRule::LeaveOut { unit, fold },
        _ => SplitRule::Stratified { train: asked.train, val: asked.val, test: asked.test },
    };
    let split = split(about, client, &rule, seed.stream(Purpose::Split).client(number))?;
    Ok(Shard { train: split.train, validation: split.val, test: split.test })
}

/// Splits the trials of all clients by whole subjects or whole clients.
fn hold_out_people(
    config: &Config,
    about: &About,
    clients: &[Client],
    fold: Fold,
    seed: Seed,
) -> Result<(Vec<Shard>, Vec<Newcomer>), SharingError> {
    let of_clients = deal_clients(clients.len(), fold.of, seed);
    let (mut shards, mut newcomers) = (Vec::with_capacity(clients.len()), Vec::new());
    let mut before = 0;
    for (number, client) in clients.iter().enumerate() {
        let folds = match config.split.kind {
            SplitKind::LeaveClientOut => vec![of_clients[number]; client.subjects.len()],
            _ => deal_subjects(client.subjects.len(), (number as u32, before), fold.of, seed),
        };
        before += client.subjects.len();
        let mut shard = Shard { train: Vec::new(), validation: Vec::new(), test: Vec::new() };
        for (subject, own) in client.subjects.iter().zip(folds) {
            let of_subject = |trial: &&usize| about.origins[**trial].subject == *subject;
            let trials: Vec<usize> = client.trials.iter().filter(of_subject).copied().collect();
            let (part, all) = match own {
                own if own == fold.test => (Part::Test, &mut shard.test),
                own if own == fold.validation() => (Part::Validation, &mut shard.validation),
                _ => {
                    shard.train.extend(trials);
                    continue;
                }
            };
            check_calibration(config, subject, trials.len())?;
            let first = config.calibration();
            let scored = trials[first.unwrap_or(0)..].to_vec();
            let fit = trials[..first.unwrap_or(trials.len())].to_vec();
            all.extend(&scored);
            newcomers.push(Newcomer { client: number, subject: subject.clone(), part, fit, scored });
        }
        for trials in [&mut shard.train, &mut shard.validation, &mut shard.test] {
            trials.sort_unstable();
        }
        shards.push(shard);
    }
    Ok((shards, newcomers))
}

/// Checks that calibration leaves some trials of a held-out subject to score.
fn check_calibration(config: &Config, subject: &str, trials: usize) -> Result<(), SharingError> {
    match config.calibration() {
        Some(first) if trials <= first => {
            Err(SharingError::Calibration { first, subject: subject.to_owned(), trials })
        }
        _ => Ok(()),
    }
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
