//! Scores of a run, and the conditions for pairing two runs.

use std::collections::BTreeMap;

use fedspd_run::{Manifest, SeedShards};
use toml::{Table, Value};

use super::Error;
use crate::LoadedRun;

/// The compared rows: final models of the seeds, on test trials.
const METRIC: &str = "final_macro_f1";
const SPLIT: &str = "test";
const POOLED: &str = "pooled";

/// The part of a run that a comparison needs.
pub(super) struct Scores {
    pub(super) name: String,
    manifest: Manifest,
    shards: BTreeMap<u64, SeedShards>,
    /// Macro-F1 by seed and client.
    values: BTreeMap<(u64, String), f64>,
    /// The trials: `[data]` without `root` and the keys of `preparation`.
    source: Table,
    /// The preparation of the trials: band, window and resampling, covariances, kind of network.
    preparation: Vec<Option<Value>>,
    split: Option<Value>,
}

impl Scores {
    pub(super) fn new(run: LoadedRun, name: String) -> Self {
        let rows = run.results.rows.into_iter();
        let rows = rows.filter(|row| {
            row.fold.is_none() && row.metric == METRIC && row.split == SPLIT && row.value.is_finite()
        });
        let values = rows.map(|row| ((row.seed, row.client), row.value)).collect();
        let config = run.config;
        let part = |key: &str| config.get(key).cloned();
        let mut source = config.get("data").and_then(Value::as_table).cloned().unwrap_or_default();
        // The same recordings may be in another folder.
        source.remove("root");
        let mut preparation: Vec<_> = ["band", "window", "resample"].map(|key| source.remove(key)).into();
        preparation.push(part("covariance"));
        preparation.push(config.get("model").and_then(|model| model.get("kind")).cloned());
        Self {
            name,
            shards: by_seed(run.shards.seeds),
            values,
            source,
            preparation,
            split: part("split"),
            manifest: run.manifest,
        }
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
        value.ok_or_else(|| Error::Score { run: self.name.clone(), client: client.to_owned(), seed })
    }

    /// The clients with test trials; none if they hold different subjects with every seed, because
    /// their names then mean nothing.
    pub(super) fn clients(&self, seeds: &[u64]) -> Option<Vec<String>> {
        let subjects = |seed: &u64| {
            let clients = &self.shards[seed].clients;
            clients.iter().map(|client| (&client.name, &client.subjects)).collect::<Vec<_>>()
        };
        let (first, others) = seeds.split_first()?;
        let tested = |client: &str| {
            seeds.iter().all(|seed| {
                let mut clients = self.shards[seed].clients.iter();
                clients.any(|shard| shard.name == client && shard.test.iter().sum::<usize>() > 0)
            })
        };
        let same = others.iter().all(|seed| subjects(seed) == subjects(first));
        let names = self.shards[first].clients.iter().map(|client| client.name.clone());
        same.then(|| names.filter(|name| tested(name)).collect())
    }

    /// Returns the difference that prevents pairing with another run, if there is one.
    pub(super) fn differs_from(&self, other: &Self, seeds: &[u64]) -> Option<String> {
        let (mine, theirs) = (&self.manifest, &other.manifest);
        if mine.dataset != theirs.dataset {
            return Some(format!("the datasets are `{}` and `{}`", mine.dataset, theirs.dataset));
        }
        if mine.classes != theirs.classes {
            let (mine, theirs) = (mine.classes.join(", "), theirs.classes.join(", "));
            return Some(format!("the classes are {mine} and {theirs}"));
        }
        if !self.same_hash(other) {
            // Synthetic data have no recordings that could be prepared in another way.
            let generated = self.source.get("name").and_then(Value::as_str) == Some("generated");
            if generated || self.source != other.source {
                return Some("the data differ (SHA-256, and `[data]` in config.toml)".into());
            }
            if self.preparation == other.preparation {
                return Some(
                    "the data differ in SHA-256, although they were prepared in the same way".into(),
                );
            }
        }
        if self.split != other.split {
            return Some("the trials are split in different ways (`[split]` in config.toml)".into());
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
        self.manifest.data_sha256 == other.manifest.data_sha256
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
