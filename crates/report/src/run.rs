//! A run, read from its folder.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use fedspd_run::{
    Event, EventLog, Headline, Interpretation, Manifest, ResultRow, ResultTable, Round, RunFolder,
    SeedShards, Shards, Stage, Summary, Unit, headline, summary,
};

use crate::Error;

/// A run, read from its folder.
#[derive(Clone, Debug)]
pub struct LoadedRun {
    /// Its name in figures and tables, made of the settings that distinguish it.
    pub label: String,
    /// Its colour, dash and marker in every figure, by number.
    pub style: usize,
    /// The identity of the run.
    pub manifest: Manifest,
    /// The resolved configuration.
    pub config: toml::Table,
    /// Its rounds, in chronological order.
    pub rounds: Vec<Round>,
    /// The warnings shown to the user.
    pub warnings: Vec<String>,
    /// The scores.
    pub results: ResultTable,
    /// The trials of each client.
    pub shards: Shards,
    /// The interpretation of the network, from the first seed and fold that has one.
    pub interpretation: Option<(Unit, Interpretation)>,
    headline: Headline,
    /// The scores of the final models, without those of single folds, by client, split and metric.
    finals: HashMap<(String, String, String), Vec<f64>>,
    /// The index of each client, by seed and name.
    places: HashMap<u64, HashMap<String, usize>>,
}

/// A quantity by round: mean and standard deviation over seeds.
pub type Curve = Vec<(f64, Summary)>;

impl LoadedRun {
    /// Reads a run folder with at least one finished seed.
    ///
    /// # Errors
    /// When a file is missing, damaged, or contradicts the others.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let folder = RunFolder::open(path)?;
        let manifest = Manifest::read(&folder.manifest())?;
        if !folder.results().is_file() {
            return Err(Error::NothingDone { path: path.to_owned() });
        }
        let results = ResultTable::read(&folder.results())?;
        if results.values("pooled", "test", "final_macro_f1").is_empty() {
            return Err(Error::NothingDone { path: path.to_owned() });
        }
        let shards = Shards::read(&folder.shards())?;
        let seeds: BTreeSet<u64> = shards.seeds.iter().map(|shards| shards.seed).collect();
        agree(&folder.shards(), "seeds", seeds.len(), manifest.seeds.len())?;
        let config = saved_config(&folder)?;
        let (mut rounds, mut warnings) = (Vec::new(), Vec::new());
        for event in EventLog::read(&folder.events())? {
            match event {
                Event::Round(round) => rounds.push(round),
                Event::Warning { text } => warnings.push(text),
                _ => {}
            }
        }
        // Curves leave out unfinished seeds and folds, because these have no final score yet.
        let done: BTreeSet<Unit> =
            results.rows.iter().filter(|row| row.metric.starts_with("final_")).map(ResultRow::unit).collect();
        // The rounds that chose their number are not those of the final model.
        rounds
            .retain(|round| round.unit.stage != Some(Stage::Choose) && done.contains(&round.unit.trained()));
        let interpretation = interpretation(&folder, &manifest, &shards)?;
        let mut run = Self {
            label: String::new(),
            style: 0,
            headline: headline(&results),
            finals: finals(&results),
            places: places(&shards),
            manifest,
            config,
            rounds,
            warnings,
            results,
            shards,
            interpretation,
        };
        run.label = run.method();
        Ok(run)
    }

    /// Returns the value of a configuration key such as `federated.rounds`.
    pub(crate) fn setting(&self, key: &str) -> Option<&toml::Value> {
        let (table, key) = key.split_once('.').unwrap_or(("", key));
        if table.is_empty() { self.config.get(key) } else { self.config.get(table)?.get(key) }
    }

    /// Returns a setting that is a string; empty if there is none.
    pub(crate) fn word(&self, key: &str) -> &str {
        self.setting(key).and_then(toml::Value::as_str).unwrap_or_default()
    }

    /// `federated`, `centralised` or `local`.
    pub(crate) fn mode(&self) -> &str {
        self.results.rows.first().map_or("", |row| &row.mode)
    }

    pub(crate) fn is_federated(&self) -> bool {
        self.mode() == "federated"
    }

    /// The share of clients in a round.
    pub(crate) fn participation(&self) -> f64 {
        self.results.rows.first().map_or(1.0, |row| row.participation)
    }

    /// The training method: the name of the average, or the mode.
    pub(crate) fn method(&self) -> String {
        let aggregation = self.results.rows.first().map_or("", |row| row.aggregation.as_str());
        match (self.mode(), aggregation) {
            ("centralised", _) => "centralised",
            ("local", _) => "each client alone",
            (_, "proj-avg") => "ProjAvg",
            (_, "rl-avg") => "RLAvg",
            (_, "ret-avg") => "RetAvg",
            (_, "qr-avg") => "QRAvg",
            (_, "karcher") => "Karcher mean",
            (_, "euclidean") => "plain mean",
            (_, other) => other,
        }
        .to_owned()
    }

    /// The name of the network.
    pub(crate) fn network(&self) -> String {
        match self.manifest.model.as_str() {
            "spdnet" => "SPDnet".into(),
            "eegnet" => "EEGNet".into(),
            other => other.into(),
        }
    }

    /// The main scores.
    pub fn headline(&self) -> Headline {
        self.headline
    }

    /// A test metric of the final models, one value for each seed.
    pub(crate) fn values(&self, client: &str, metric: &str) -> &[f64] {
        let key = (client.to_owned(), "test".to_owned(), metric.to_owned());
        self.finals.get(&key).map_or(&[], Vec::as_slice)
    }

    /// A test metric over seeds.
    pub(crate) fn over_seeds(&self, client: &str, metric: &str) -> Summary {
        summary(self.values(client, metric))
    }

    /// The finished seeds.
    pub(crate) fn finished(&self) -> BTreeSet<u64> {
        let scored = |row: &&ResultRow| {
            row.metric == "final_macro_f1"
                && row.client == "pooled"
                && row.split == "test"
                && row.fold.is_none()
        };
        self.results.rows.iter().filter(scored).map(|row| row.seed).collect()
    }

    /// The number of finished seeds.
    pub(crate) fn seeds_done(&self) -> usize {
        self.headline().macro_f1.count
    }

    /// The number of test trials of a seed, in all folds together.
    pub(crate) fn test_trials(&self) -> usize {
        let first = self.shards.seeds.first().map(|shards| shards.seed);
        let folds = self.shards.seeds.iter().filter(|shards| Some(shards.seed) == first);
        folds.flat_map(|fold| &fold.clients).flat_map(|client| &client.test).sum()
    }

    /// The number of folds of a seed; 1 without folds.
    pub(crate) fn folds(&self) -> usize {
        let first = self.shards.seeds.first().map(|shards| shards.seed);
        self.shards.seeds.iter().filter(|shards| Some(shards.seed) == first).count()
    }

    /// Which round's model is scored. Runs of older versions do not say: federated ones scored the
    /// last round, others stopped early.
    pub(crate) fn selection(&self) -> &'static str {
        match (self.word("run.select"), self.is_federated()) {
            ("last", _) | ("", true) => "the last round",
            _ => "the round with the best validation score",
        }
    }

    /// The number of clients that train in a unit.
    pub(crate) fn members(&self, unit: Unit) -> usize {
        let shards = self.shards.seeds.iter().find(|shards| shards.unit() == unit.trained());
        let trains = |shard: &&fedspd_run::Shard| shard.train.iter().any(|&count| count > 0);
        shards.map_or(0, |shards| shards.clients.iter().filter(trains).count())
    }

    /// The number of clients, the same for every seed.
    pub(crate) fn clients(&self) -> usize {
        self.shards.seeds.first().map_or(0, |seed| seed.clients.len())
    }

    /// The index of a client among those of a seed. Reports show clients by number, not by name.
    pub(crate) fn client_place(&self, seed: u64, name: &str) -> Option<usize> {
        self.places.get(&seed)?.get(name).copied()
    }

    /// A final metric of each client over seeds, by client index.
    pub(crate) fn by_client(&self, metric: &str) -> Vec<Summary> {
        let mut values = vec![Vec::new(); self.clients()];
        let wanted = |row: &&ResultRow| row.fold.is_none() && row.split == "test" && row.metric == metric;
        for row in self.results.rows.iter().filter(wanted) {
            if let Some(values) =
                self.client_place(row.seed, &row.client).and_then(|place| values.get_mut(place))
            {
                values.push(row.value);
            }
        }
        values.iter().map(|values| summary(values)).collect()
    }

    /// A quantity by round, for the rounds that all seeds have (early stopping ends some seeds
    /// before others).
    pub(crate) fn curve(&self, of: impl Fn(&Round) -> Option<f64>) -> Curve {
        let mut rounds: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for round in &self.rounds {
            if let Some(value) = of(round) {
                rounds.entry(round.round).or_default().push(value);
            }
        }
        let seeds = rounds.values().map(Vec::len).max().unwrap_or(0);
        let whole = rounds.into_iter().filter(|(_, values)| values.len() == seeds);
        whole.map(|(round, values)| (f64::from(round), summary(&values))).collect()
    }
}

/// Reads the resolved configuration of a run.
pub(crate) fn saved_config(folder: &RunFolder) -> Result<toml::Table, Error> {
    let path = folder.config();
    let text = std::fs::read_to_string(&path)
        .map_err(|source| fedspd_run::Error::File { path: path.clone(), source })?;
    text.parse().map_err(|source| Error::Config { path, source: Box::new(source) })
}

fn finals(results: &ResultTable) -> HashMap<(String, String, String), Vec<f64>> {
    let mut finals: HashMap<_, Vec<f64>> = HashMap::new();
    let wanted = |row: &&ResultRow| row.fold.is_none() && row.metric.starts_with("final_");
    for row in results.rows.iter().filter(wanted) {
        let key = (row.client.clone(), row.split.clone(), row.metric.clone());
        finals.entry(key).or_default().push(row.value);
    }
    finals
}

fn places(shards: &Shards) -> HashMap<u64, HashMap<String, usize>> {
    let mut seeds: HashMap<u64, HashMap<String, usize>> = HashMap::new();
    for shards in &shards.seeds {
        let places = seeds.entry(shards.seed).or_default();
        for (place, client) in shards.clients.iter().enumerate() {
            places.entry(client.name.clone()).or_insert(place);
        }
    }
    seeds
}

fn interpretation(
    folder: &RunFolder,
    manifest: &Manifest,
    shards: &Shards,
) -> Result<Option<(Unit, Interpretation)>, Error> {
    let mut units = shards.seeds.iter().map(SeedShards::unit);
    let Some(unit) = units.find(|&unit| folder.interpretation(unit).is_file()) else { return Ok(None) };
    let path = folder.interpretation(unit);
    let interpretation = Interpretation::read(&path)?;
    for input in &interpretation.inputs {
        for pattern in input.columns.iter().chain(&input.classes) {
            agree(&path, "channels of a pattern", pattern.channels.len(), manifest.channels.len())?;
        }
        for spectrum in [&input.spectrum, &input.mapped] {
            for quantile in [&spectrum.low, &spectrum.high] {
                agree(&path, "eigenvalues of a quantile", quantile.len(), spectrum.median.len())?;
            }
        }
        if !input.classes.is_empty() {
            agree(&path, "patterns of classes", input.classes.len(), manifest.classes.len())?;
        }
    }
    agree(&path, "classes of trials", interpretation.plane.classes.len(), interpretation.plane.points.len())?;
    let largest = interpretation.plane.classes.iter().max().map_or(0, |class| class.saturating_add(1));
    agree(&path, "classes", largest.max(manifest.classes.len()), manifest.classes.len())?;
    Ok(Some((unit, interpretation)))
}

fn agree(path: &Path, what: &'static str, found: usize, expected: usize) -> Result<(), Error> {
    if found == expected {
        Ok(())
    } else {
        Err(Error::Disagree { path: path.to_owned(), what, found, expected })
    }
}
