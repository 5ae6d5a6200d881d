//! Scores of a run, and the conditions for pairing two runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fedspd_run::SeedShards;

use super::Error;
use crate::{LoadedRun, same_trials};

/// The compared rows: final models of the seeds, on test trials.
const METRIC: &str = "final_macro_f1";
const SPLIT: &str = "test";
const POOLED: &str = "pooled";

/// The part of a run that a comparison needs.
pub(super) struct Scores {
    /// The run folder, as given.
    pub(super) folder: String,
    run: LoadedRun,
    shards: BTreeMap<u64, SeedShards>,
    /// Macro-F1 by seed and client.
    values: BTreeMap<(u64, String), f64>,
}

impl Scores {
    pub(super) fn new(run: LoadedRun, folder: &Path) -> Self {
        let rows = run.results.rows.iter().filter(|row| {
            row.fold.is_none() && row.metric == METRIC && row.split == SPLIT && row.value.is_finite()
        });
        let values = rows.map(|row| ((row.seed, row.client.clone()), row.value)).collect();
        let shards = by_seed(run.shards.seeds.clone());
        Self { folder: folder.display().to_string(), run, shards, values }
    }

    /// The label of the run.
    pub(super) fn name(&self) -> &str {
        &self.run.label
    }

    /// The finished seeds.
    pub(super) fn seeds(&self) -> impl Iterator<Item = u64> {
        self.shards.keys().copied().filter(|&seed| self.values.contains_key(&(seed, POOLED.to_owned())))
    }

    /// The macro-F1 of all test trials together.
    pub(super) fn pooled(&self, seed: u64) -> Result<f64, Error> {
        self.of(POOLED, seed)
    }

    /// The mean over seeds of a client's macro-F1.
    pub(super) fn client(&self, client: &str, seeds: &[u64]) -> Result<f64, Error> {
        let sum = seeds.iter().try_fold(0.0, |sum, &seed| Ok::<_, Error>(sum + self.of(client, seed)?))?;
        Ok(sum / seeds.len() as f64)
    }

    fn of(&self, client: &str, seed: u64) -> Result<f64, Error> {
        let value = self.values.get(&(seed, client.to_owned())).copied();
        value.ok_or_else(|| Error::Score { run: self.folder.clone(), client: client.to_owned(), seed })
    }

    /// The clients with test trials; none if they hold different subjects with every seed, because
    /// their names then mean nothing.
    pub(super) fn clients(&self, seeds: &[u64]) -> Option<Vec<String>> {
        let subjects = |seed: &u64| {
            let clients = &self.shards[seed].clients;
            clients.iter().map(|client| (&client.name, &client.subjects)).collect::<Vec<_>>()
        };
        let (first, others) = seeds.split_first()?;
        let mut tested: BTreeMap<&str, usize> = BTreeMap::new();
        for client in seeds.iter().flat_map(|seed| &self.shards[seed].clients) {
            *tested.entry(&client.name).or_default() +=
                usize::from(client.test.iter().any(|&count| count > 0));
        }
        let same = others.iter().all(|seed| subjects(seed) == subjects(first));
        let names = self.shards[first].clients.iter().map(|client| client.name.clone());
        same.then(|| names.filter(|name| tested[&**name] == seeds.len()).collect())
    }

    /// Returns the difference that prevents pairing with another run, if there is one.
    pub(super) fn differs_from(&self, other: &Self, seeds: &BTreeSet<u64>) -> Option<String> {
        if let Some(difference) = same_trials::difference(&self.run, &other.run, seeds) {
            return Some(difference);
        }
        let test = |run: &Self, seed: u64| {
            let clients = run.shards[&seed].clients.iter();
            clients.map(|c| (c.name.clone(), c.subjects.clone(), c.test.clone())).collect::<Vec<_>>()
        };
        let seed = seeds.iter().find(|&&seed| test(self, seed) != test(other, seed))?;
        Some(format!("with seed {seed} their clients have different subjects or test trials"))
    }

    /// Returns whether both runs used data with the same SHA-256.
    pub(super) fn same_hash(&self, other: &Self) -> bool {
        same_trials::same_hash(&self.run, &other.run)
    }
}

/// Returns the shards of each seed. A client's test trials of all folds are counted together,
/// because its score pools them.
fn by_seed(folds: Vec<SeedShards>) -> BTreeMap<u64, SeedShards> {
    let mut seeds: BTreeMap<u64, SeedShards> = BTreeMap::new();
    for fold in folds {
        let Some(seed) = seeds.get_mut(&fold.seed) else {
            seeds.insert(fold.seed, fold);
            continue;
        };
        for (client, more) in seed.clients.iter_mut().zip(fold.clients) {
            client.test.iter_mut().zip(more.test).for_each(|(count, more)| *count += more);
        }
    }
    seeds
}
