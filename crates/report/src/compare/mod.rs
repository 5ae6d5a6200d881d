//! Statistical comparison of runs.
//!
//! Runs are paired by seed (macro-F1 of all test trials together) and by client (its macro-F1,
//! averaged over the seeds). Every pair of runs gets a signed-rank test with Holm's correction over
//! all pairs, effect sizes, and a bootstrap interval of the mean difference.

mod bootstrap;
mod error;
mod holm;
mod paired;
mod scores;
mod shown;
mod wilcoxon;

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Serialize;

use crate::words::count;
use crate::{Label, read_runs};

pub use bootstrap::{DRAWS, LEVEL, bootstrap};
pub use error::Error;
pub use holm::holm;
pub use paired::Paired;
use scores::Scores;
pub use shown::Over;
pub use wilcoxon::{EXACT, Wilcoxon};

/// The smallest number of pairs with which a two-sided signed-rank test can reach 0.05.
const ENOUGH: usize = 6;

/// A comparison of runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The runs, in the order given.
    pub runs: Vec<Compared>,
    /// The seeds that all runs have finished.
    pub seeds: Vec<u64>,
    /// The number of compared clients; none without test trials, or if clients hold different
    /// subjects with every seed.
    pub clients: Option<usize>,
    /// Every pair of runs, the earlier first.
    pub pairs: Vec<Pair>,
    /// Caveats.
    pub cautions: Vec<String>,
}

/// A compared run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// Its label: the one given, or its method and the settings that differ.
    pub name: String,
    /// Its folder, as given.
    pub folder: String,
    /// Macro-F1 by seed.
    pub by_seed: Vec<f64>,
    /// Macro-F1 by client, averaged over the seeds.
    pub by_client: Vec<f64>,
}

/// Two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// The index of the first run.
    pub first: usize,
    /// The index of the second run.
    pub second: usize,
    /// Differences paired by seed.
    pub over_seeds: Paired,
    /// Differences paired by client.
    pub over_clients: Option<Paired>,
}

/// Compares runs, named by the labels given or by the settings that differ.
///
/// # Errors
/// When there are fewer than two, one cannot be read, or their scores cannot be paired.
pub fn compare(folders: &[PathBuf], labels: &[Label]) -> Result<Comparison, Error> {
    let paths: BTreeSet<PathBuf> =
        folders.iter().map(|path| path.canonicalize().unwrap_or_else(|_| path.clone())).collect();
    if paths.len() < 2 || paths.len() < folders.len() {
        return Err(Error::Few { found: paths.len(), given: folders.len() });
    }
    let runs = read_runs(folders, labels)?.into_iter().zip(folders);
    let runs: Vec<Scores> = runs.map(|(run, folder)| Scores::new(run, folder)).collect();
    let seeds = common_seeds(&runs)?;
    let paired = seeds.iter().copied().collect();
    for (index, run) in runs.iter().enumerate() {
        if let Some((other, difference)) =
            runs[..index].iter().find_map(|other| Some((other, other.differs_from(run, &paired)?)))
        {
            return Err(Error::Different {
                first: other.folder.clone(),
                second: run.folder.clone(),
                difference,
            });
        }
    }
    let clients = runs[0].clients(&seeds);
    let compared = runs.iter().map(|run| {
        let by_seed = seeds.iter().map(|&seed| run.pooled(seed)).collect::<Result<_, _>>()?;
        let by_client = clients.iter().flatten().map(|client| run.client(client, &seeds));
        Ok(Compared {
            name: run.name().to_owned(),
            folder: run.folder.clone(),
            by_seed,
            by_client: by_client.collect::<Result<_, _>>()?,
        })
    });
    let compared = compared.collect::<Result<Vec<_>, Error>>()?;
    let cautions = cautions(&runs, &seeds, clients.as_deref());
    let clients = clients.map(|clients| clients.len()).filter(|&count| count > 0);
    Ok(Comparison { pairs: pairs(&compared), runs: compared, seeds, clients, cautions })
}

fn common_seeds(runs: &[Scores]) -> Result<Vec<u64>, Error> {
    let all: Vec<BTreeSet<u64>> = runs.iter().map(|run| run.seeds().collect()).collect();
    let common: Vec<u64> =
        all[0].iter().copied().filter(|seed| all.iter().all(|seeds| seeds.contains(seed))).collect();
    if common.is_empty() {
        let listed =
            all.iter().map(|seeds| seeds.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
        let listed = listed.map(|seeds| if seeds.is_empty() { "none".into() } else { seeds });
        let seeds = listed.collect::<Vec<_>>().join("; ");
        return Err(Error::NoSeed { runs: runs.len(), seeds });
    }
    Ok(common)
}

/// Tests every pair of runs, with Holm's correction over all.
fn pairs(runs: &[Compared]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (second, b) in runs.iter().enumerate() {
        for (first, a) in runs[..second].iter().enumerate() {
            let over_clients = (!a.by_client.is_empty()).then(|| Paired::new(&a.by_client, &b.by_client));
            pairs.push(Pair { first, second, over_seeds: Paired::new(&a.by_seed, &b.by_seed), over_clients });
        }
    }
    pairs.sort_by_key(|pair| (pair.first, pair.second));
    correct(pairs.iter_mut().map(|pair| &mut pair.over_seeds).collect());
    correct(pairs.iter_mut().filter_map(|pair| pair.over_clients.as_mut()).collect());
    pairs
}

fn correct(mut tests: Vec<&mut Paired>) {
    let probabilities: Vec<f64> = tests.iter().map(|test| test.wilcoxon.p).collect();
    for (test, p) in tests.iter_mut().zip(holm(&probabilities)) {
        test.p_holm = p;
    }
}

fn cautions(runs: &[Scores], seeds: &[u64], clients: Option<&[String]>) -> Vec<String> {
    let mut cautions = vec![
        "seeds share the same recordings: a p-value over seeds covers the randomness of splitting and training, not other people".to_owned(),
    ];
    let clients_there = clients.map_or(ENOUGH, <[String]>::len);
    for (number, what) in [(seeds.len(), "seed"), (clients_there, "client")] {
        if (1..ENOUGH).contains(&number) {
            cautions.push(format!(
                "with {} the smallest two-sided p is {:.2}: {ENOUGH} or more are needed to reach 0.05",
                count(number, what),
                2.0 / (1_u64 << number) as f64
            ));
        }
    }
    for run in runs {
        let left_out = run.seeds().filter(|seed| !seeds.contains(seed)).count();
        if left_out > 0 {
            let seeds = count(left_out, "seed");
            cautions.push(format!("left out, since not all runs have them: {seeds} of {}", run.name()));
        }
    }
    if runs.iter().any(|run| !run.same_hash(&runs[0])) {
        cautions.push("the runs see the same trials, prepared in different ways".into());
    }
    cautions.push(match clients {
        None => "clients hold different subjects with every seed, so they are not compared".into(),
        Some(_) => "clients train together, so a p-value over clients overstates their independence".into(),
    });
    cautions
}
