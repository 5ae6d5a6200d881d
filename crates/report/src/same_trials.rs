//! Runs that were tested on the same trials.

use std::collections::BTreeSet;

use toml::{Table, Value};

use crate::LoadedRun;

/// Returns the reason why runs are not ranked: two of them were tested on different trials.
pub(crate) fn unranked<'a>(runs: impl IntoIterator<Item = &'a LoadedRun>) -> Option<String> {
    let mut others = runs.into_iter();
    let first = others.next()?;
    let seeds = first.finished();
    let (other, difference) = others.find_map(|other| {
        let theirs = other.finished();
        let difference = if seeds == theirs {
            difference(first, other, &seeds)
        } else {
            Some(format!("their finished seeds are {} and {}", listed(&seeds), listed(&theirs)))
        };
        Some((other, difference?))
    })?;
    Some(format!("“{}” and “{}” were not tested on the same trials: {difference}", first.label, other.label))
}

/// Returns how the test trials of two runs differ, if they do. Runs of older versions and over
/// Flower do not record their test trials; their configurations and counts must then agree.
pub(crate) fn difference(first: &LoadedRun, second: &LoadedRun, seeds: &BTreeSet<u64>) -> Option<String> {
    let (mine, theirs) = (&first.manifest, &second.manifest);
    if mine.dataset != theirs.dataset {
        return Some(format!("the datasets are `{}` and `{}`", mine.dataset, theirs.dataset));
    }
    if mine.classes != theirs.classes {
        let (mine, theirs) = (mine.classes.join(", "), theirs.classes.join(", "));
        return Some(format!("the classes are {mine} and {theirs}"));
    }
    if let Some(difference) = data(first, second) {
        return Some(difference);
    }
    let [mine, theirs] = [first, second].map(|run| run.word("split.kind"));
    if mine != theirs {
        return Some(format!("the splits are `{mine}` and `{theirs}`"));
    }
    let hashes = |seed: u64| test_hash(first, seed).zip(test_hash(second, seed));
    if let Some(hashes) = seeds.iter().map(|&seed| Some((seed, hashes(seed)?))).collect::<Option<Vec<_>>>() {
        let different = hashes.into_iter().find(|(_, (mine, theirs))| mine != theirs);
        return different.map(|(seed, _)| format!("with seed {seed} their test trials differ"));
    }
    if first.config.get("split") != second.config.get("split") {
        return Some("the trials are split in different ways (`[split]` in config.toml)".into());
    }
    let counts = |run: &LoadedRun, seed: u64| {
        let shards =
            run.shards.seeds.iter().filter(|shards| shards.seed == seed).flat_map(|seed| &seed.clients);
        shards.map(|client| (client.subjects.clone(), client.test.clone())).collect::<Vec<_>>()
    };
    let seed = seeds.iter().find(|&&seed| counts(first, seed) != counts(second, seed))?;
    Some(format!("with seed {seed} their clients have different subjects or test trials"))
}

/// Returns whether the runs used data with the same SHA-256.
pub(crate) fn same_hash(first: &LoadedRun, second: &LoadedRun) -> bool {
    first.manifest.data_sha256 == second.manifest.data_sha256
}

/// Returns how the data of two runs differ, if they do. The same trials may be prepared in
/// different ways.
fn data(first: &LoadedRun, second: &LoadedRun) -> Option<String> {
    if same_hash(first, second) {
        return None;
    }
    let ((source, preparation), (other_source, other_preparation)) = (origin(first), origin(second));
    // Synthetic data have no recordings that could be prepared in another way.
    let generated = source.get("name").and_then(Value::as_str) == Some("generated");
    if generated || source != other_source {
        return Some("the data differ (SHA-256, and `[data]` in config.toml)".into());
    }
    let same = preparation == other_preparation;
    same.then(|| "the data differ in SHA-256, although they were prepared in the same way".into())
}

/// Returns the source of the trials, which is `[data]` without `root`, and their preparation: band,
/// window and resampling, covariances, kind of network.
fn origin(run: &LoadedRun) -> (Table, Vec<Option<Value>>) {
    let mut source = run.config.get("data").and_then(Value::as_table).cloned().unwrap_or_default();
    // The same recordings may be in another folder.
    source.remove("root");
    let mut preparation: Vec<_> = ["band", "window", "resample"].map(|key| source.remove(key)).into();
    preparation.push(run.config.get("covariance").cloned());
    preparation.push(run.setting("model.kind").cloned());
    (source, preparation)
}

/// Returns the hash of all test trials of a seed. That of several folds is the exclusive or of
/// theirs.
fn test_hash(run: &LoadedRun, seed: u64) -> Option<Vec<u8>> {
    let folds = run.shards.seeds.iter().filter(|shards| shards.seed == seed);
    let hashes = folds.map(|fold| bytes(fold.test_sha256.as_ref()?)).collect::<Option<Vec<_>>>()?;
    hashes.into_iter().reduce(|sum, more| sum.iter().zip(more).map(|(a, b)| a ^ b).collect())
}

/// Reads hexadecimal digits.
fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

fn listed(seeds: &BTreeSet<u64>) -> String {
    seeds.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
