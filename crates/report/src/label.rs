//! Labels that distinguish runs.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use fedspd_run::RunFolder;
use toml::{Table, Value};

use crate::privacy;
use crate::run::saved_config;
use crate::words::share;
use crate::{Error, LoadedRun};

/// A label that the user gives to a run: `NAME=RUN`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The name of the run in figures and tables.
    pub name: String,
    /// The run folder.
    pub run: PathBuf,
}

impl FromStr for Label {
    type Err = String;

    /// Reads `NAME=RUN`. The first `=` ends the name, because folders of sweeps have one.
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=').map(|(name, run)| (name.trim(), run)) {
            Some((name, run)) if !name.is_empty() && !run.is_empty() => {
                Ok(Self { name: name.to_owned(), run: run.into() })
            }
            _ => Err("expected NAME=RUN, such as ours=runs/mine".into()),
        }
    }
}

/// Reads runs and labels them: by the labels given, otherwise by the settings that differ.
///
/// # Errors
/// When a run cannot be read, a label is for a folder that is not given, or two labels clash.
pub fn read_runs(folders: &[impl AsRef<Path>], labels: &[Label]) -> Result<Vec<LoadedRun>, Error> {
    let mut given = given(folders, labels)?;
    let mut runs =
        folders.iter().map(|folder| LoadedRun::read(folder.as_ref())).collect::<Result<Vec<_>, _>>()?;
    assign_labels(&mut runs);
    for (place, run) in runs.iter_mut().enumerate() {
        if let Some(label) = given.remove(&place) {
            run.label = label;
        }
    }
    Ok(runs)
}

/// Returns the given labels by the index of their run.
fn given(folders: &[impl AsRef<Path>], labels: &[Label]) -> Result<HashMap<usize, String>, Error> {
    let same = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let places: HashMap<PathBuf, usize> =
        folders.iter().enumerate().map(|(place, folder)| (same(folder.as_ref()), place)).collect();
    let (mut given, mut names) = (HashMap::new(), BTreeSet::new());
    for Label { name, run } in labels {
        let Some(&place) = places.get(&same(run)) else {
            return Err(Error::UnknownLabel { name: name.clone(), path: run.clone() });
        };
        if !names.insert(name) {
            return Err(Error::LabelTwice { name: name.clone() });
        }
        if let Some(first) = given.insert(place, name.clone()) {
            return Err(Error::TwoLabels { path: run.clone(), labels: [first, name.clone()] });
        }
    }
    Ok(given)
}

/// Labels each run by its method and the settings that differ between the runs. Also assigns
/// styles: federated runs first, because they are drawn as curves.
pub(crate) fn assign_labels(runs: &mut [LoadedRun]) {
    let parts: [fn(&LoadedRun) -> String; 5] = [
        |run| run.manifest.dataset.clone(),
        LoadedRun::network,
        LoadedRun::method,
        |run| if run.is_federated() { share(run.participation()) } else { String::new() },
        |run| if run.manifest.alignment == "none" { String::new() } else { "aligned".into() },
    ];
    // The label always names the method. Other parts appear only if they differ among the runs that
    // have them.
    let differs = |part: fn(&LoadedRun) -> String| runs.iter().map(part).collect::<BTreeSet<_>>().len() > 1;
    let shares = runs.iter().filter(|run| run.is_federated()).map(|run| share(run.participation()));
    let several_shares = shares.collect::<BTreeSet<_>>().len() > 1;
    let told = [differs(parts[0]), differs(parts[1]), true, several_shares, differs(parts[4])];
    let words = |run: &LoadedRun| {
        let words = parts.iter().zip(told).filter(|(_, told)| *told).map(|(part, _)| part(run));
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ")
    };
    let configs: Vec<&Table> = runs.iter().map(|run| &run.config).collect();
    let labels = distinct(runs.iter().map(words).collect(), &configs);
    let (mut next, mut later) = (0, runs.iter().filter(|run| run.is_federated()).count());
    for (run, label) in runs.iter_mut().zip(labels) {
        run.label = label;
        let place = if run.is_federated() { &mut next } else { &mut later };
        run.style = *place;
        *place += 1;
    }
}

/// Keys that never distinguish runs: they change no result, or repeat an experiment.
const IGNORED: [&str; 5] = ["version", "data.root", "run.seeds", "run.threads", "run.checkpoint_every"];

/// Keys that the words of a label stand for. They appear only where the words are equal.
const IN_WORDS: [&str; 7] = [
    "mode",
    "data.name",
    "model.kind",
    "align.kind",
    "align.fit",
    "federated.aggregation",
    "federated.participation",
];

/// The most keys in a label that are not needed to distinguish the runs.
const FEW: usize = 2;

/// Makes the names of runs distinct by the settings in which they differ, such as
/// `ProjAvg, model.dims 18`. Runs that differ in no setting get a number.
///
/// # Errors
/// When a folder is not a run, or its configuration cannot be read.
pub fn distinct_names(names: Vec<String>, folders: &[impl AsRef<Path>]) -> Result<Vec<String>, Error> {
    let config = |folder: &Path| saved_config(&RunFolder::open(folder)?);
    let configs = folders.iter().map(|folder| config(folder.as_ref())).collect::<Result<Vec<_>, _>>()?;
    Ok(distinct(names, &configs.iter().collect::<Vec<_>>()))
}

/// Makes names distinct by the settings in which their configurations differ, such as
/// `ProjAvg, model.dims 18`. A few differing keys are all named. Of many, only those appear that
/// distinguish runs with equal names. Runs that differ in no setting get a number.
fn distinct(names: Vec<String>, configs: &[&Table]) -> Vec<String> {
    let settings: Vec<BTreeMap<String, &Value>> = configs.iter().map(|config| settings(config)).collect();
    let keys: BTreeSet<&String> = settings.iter().flat_map(BTreeMap::keys).collect();
    let differing = keys.into_iter().filter(|key| !IGNORED.contains(&key.as_str()));
    let differing = differing.filter(|key| settings.iter().any(|own| own.get(*key) != settings[0].get(*key)));
    let (in_words, others): (Vec<&String>, Vec<&String>) =
        differing.partition(|key| IN_WORDS.contains(&key.as_str()));
    let mut names = names;
    let (named, mut needed) =
        if others.len() <= FEW { (others, in_words) } else { (Vec::new(), [in_words, others].concat()) };
    // A kind decides which other keys have an effect.
    needed.sort_by_key(|key| !key.ends_with("kind"));
    for key in named {
        for (name, value) in names.iter_mut().zip(values(key, &settings)) {
            *name = format!("{name}, {key} {value}");
        }
    }
    for key in needed {
        let mut groups: HashMap<String, Vec<usize>> = HashMap::new();
        for (place, name) in names.iter().enumerate() {
            groups.entry(name.clone()).or_default().push(place);
        }
        let shown = values(key, &settings);
        for group in groups.values().filter(|group| group.iter().any(|&run| shown[run] != shown[group[0]])) {
            for &run in group {
                names[run] = format!("{}, {key} {}", names[run], shown[run]);
            }
        }
    }
    let mut counts: HashMap<String, usize> = HashMap::new();
    for name in &names {
        *counts.entry(name.clone()).or_default() += 1;
    }
    let numbered = names
        .into_iter()
        .enumerate()
        .map(|(place, name)| if counts[&name] > 1 { format!("{name} ({})", place + 1) } else { name });
    numbered.collect()
}

/// Returns the settings of a configuration by key, such as `model.dims`.
fn settings(config: &Table) -> BTreeMap<String, &Value> {
    fn add<'a>(prefix: &str, table: &'a Table, settings: &mut BTreeMap<String, &'a Value>) {
        for (key, value) in table {
            let key = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
            match value {
                Value::Table(table) if !privacy::NAMING.contains(&key.as_str()) => add(&key, table, settings),
                value => {
                    settings.insert(key, value);
                }
            }
        }
    }
    let mut settings = BTreeMap::new();
    add("", config, &mut settings);
    settings
}

/// Formats the value of a key for each run. Values that may name someone become numbers.
fn values(key: &str, settings: &[BTreeMap<String, &Value>]) -> Vec<String> {
    let mut variants: Vec<&Value> = Vec::new();
    let shown = settings.iter().map(|settings| match settings.get(key) {
        None => "not set".to_owned(),
        Some(value) if privacy::may_name(key, value) => {
            let place = variants.iter().position(|known| known == value).unwrap_or_else(|| {
                variants.push(value);
                variants.len() - 1
            });
            format!("variant {}", place + 1)
        }
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) if items.len() == 1 => items[0].to_string(),
        Some(value) => value.to_string(),
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str], configs: &[&str]) -> Vec<String> {
        let configs: Vec<Table> = configs.iter().map(|text| text.parse().unwrap()).collect();
        let configs: Vec<&Table> = configs.iter().collect();
        distinct(names.iter().map(ToString::to_string).collect(), &configs)
    }

    #[test]
    fn runs_are_named_by_the_keys_that_differ() {
        let dims =
            ["[model]\ndims = [18]\n[run]\nseeds = [0]", "[model]\ndims = [24, 12]\n[run]\nseeds = [1]"];
        assert_eq!(names(&["a", "a"], &dims), ["a, model.dims 18", "a, model.dims [24, 12]"]);
        assert_eq!(names(&["a", "b"], &dims), ["a, model.dims 18", "b, model.dims [24, 12]"]);
        let set = ["[split]\nseed = 3", "[data.generated]\ntrials = 5"];
        assert_eq!(
            names(&["a", "a"], &set),
            [
                "a, data.generated.trials not set, split.seed 3",
                "a, data.generated.trials 5, split.seed not set"
            ]
        );
    }

    #[test]
    fn of_many_keys_those_appear_that_are_needed() {
        let configs = ["a = 1\nb = 1\nc = 1", "a = 1\nb = 2\nc = 2", "a = 2\nb = 1\nc = 1"];
        assert_eq!(names(&["x", "x", "y"], &configs), ["x, b 1", "x, b 2", "y"]);
        assert_eq!(names(&["x", "y", "z"], &configs), ["x", "y", "z"]);
        let splits =
            ["[split]\nfolds = 5\nkind = \"a\"\n[x]\ny = 1", "[split]\nfolds = 3\nkind = \"b\"\n[x]\ny = 2"];
        assert_eq!(names(&["x", "x"], &splits), ["x, split.kind a", "x, split.kind b"]);
        // A word of the label may stand for two values of a key.
        let kinds = ["[align]\nkind = \"riemannian\"", "[align]\nkind = \"log-euclidean\""];
        let aligned = ["aligned, align.kind riemannian", "aligned, align.kind log-euclidean"];
        assert_eq!(names(&["aligned", "aligned"], &kinds), aligned);
        assert_eq!(names(&["x", "y"], &kinds), ["x", "y"]);
    }

    #[test]
    fn runs_that_differ_in_nothing_have_numbers() {
        let seeds = ["[run]\nseeds = [0]\nthreads = 1", "[run]\nseeds = [1]\nthreads = 2"];
        assert_eq!(names(&["a", "a"], &seeds), ["a (1)", "a (2)"]);
    }

    #[test]
    fn values_that_may_name_someone_are_numbered() {
        let subjects =
            ["[data]\nsubjects = \"anna\"", "[data]\nsubjects = \"bert\"", "[data]\nsubjects = \"anna\""];
        let found = names(&["a", "a", "b"], &subjects);
        assert_eq!(
            found,
            ["a, data.subjects variant 1", "a, data.subjects variant 2", "b, data.subjects variant 1"]
        );
        let files = ["[data]\nname = \"/x/a.npz\"", "[data]\nname = \"/y/a.npz\""];
        assert_eq!(names(&["a", "a"], &files), ["a, data.name variant 1", "a, data.name variant 2"]);
    }

    #[test]
    fn a_label_is_a_name_and_a_folder() {
        let label: Label = " ours =runs/sweep/model.dims=18".parse().unwrap();
        assert_eq!((&*label.name, label.run), ("ours", "runs/sweep/model.dims=18".into()));
        for bad in ["ours", "=runs/a", "ours="] {
            assert!(bad.parse::<Label>().unwrap_err().contains("NAME=RUN"), "{bad}");
        }
    }
}
