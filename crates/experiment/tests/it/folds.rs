//! Leave-out splits: all folds of a run, their pooled scores, and the splits that are refused.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use fedspd_experiment::config::Config;
use fedspd_experiment::{Ended, Error, Experiment, Observer, Resumable, RoundProgress, headline, run};
use fedspd_run::{Event, EventLog, ResultRow, ResultTable, Round, Shards};

use crate::runs::experiment;
use crate::support::Warnings;

/// Six people with six runs each: three with two classes, three with the other two.
const PEOPLE: &str = r#"
    [data]
    name = "sample"
    subjects = "1-6"
    [align]
    kind = "riemannian"
    [model]
    dims = [4]
    epsilon = 1e-3
    [train]
    lr = 1e-2
    epochs = 2
    early_stop = 0
    [federated]
    rounds = 2
    epochs_local = 1
"#;

/// A run in a folder of its own.
struct Finished {
    folder: tempfile::TempDir,
    table: ResultTable,
    rounds: Vec<Round>,
    shards: Shards,
}

fn finished(overrides: &[&str]) -> Finished {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let (table, ended) = run(&experiment(PEOPLE, overrides), "test", &path, &mut ()).unwrap();
    assert_eq!(ended, Ended::Finished);
    let events = EventLog::read(&path.join("events.jsonl")).unwrap().into_iter();
    let rounds = events.filter_map(|event| if let Event::Round(round) = event { Some(round) } else { None });
    let shards = Shards::read(&path.join("shards.json")).unwrap();
    Finished { table, rounds: rounds.collect(), shards, folder }
}

fn of<'a>(
    table: &'a ResultTable,
    fold: Option<usize>,
    metric: &'a str,
) -> impl Iterator<Item = &'a ResultRow> {
    table.rows.iter().filter(move |row| row.fold == fold && row.split == "test" && row.metric == metric)
}

fn value(table: &ResultTable, fold: Option<usize>, client: &str, metric: &str) -> f64 {
    let mut rows = of(table, fold, metric).filter(|row| row.client == client).map(|row| row.value);
    let value = rows.next().unwrap_or_else(|| panic!("{client} has no {metric}"));
    assert_eq!(rows.next(), None);
    value
}

/// All files of a folder with the same bytes after an interruption.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for part in ["models", "checkpoints", "."] {
        for entry in fs::read_dir(folder.join(part)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let same = ["manifest.json", "events.jsonl", ".lock"].iter().all(|other| name != *other);
            if path.is_file() && same {
                files.insert(format!("{part}/{name}"), fs::read(&path).unwrap());
            }
        }
    }
    files
}

struct After(usize);

impl Observer for After {
    fn round(&mut self, _: &RoundProgress) {
        self.0 = self.0.saturating_sub(1);
    }

    fn warning(&mut self, _: &str) {}

    fn interrupted(&self) -> bool {
        self.0 == 0
    }
}

/// Three folds are the most that keep every class in training, validation and test of every client.
/// The pooled scores count every trial once.
#[test]
fn a_run_tests_every_trial_once_and_pools_its_folds() {
    let Finished { table, rounds, shards, folder } =
        finished(&["split.kind=leave-run-out", "run.seeds=[0, 5]"]);
    let units: Vec<_> = shards.seeds.iter().map(|shards| (shards.seed, shards.fold.unwrap())).collect();
    assert_eq!(units, [(0, 0), (0, 1), (0, 2), (5, 0), (5, 1), (5, 2)]);
    for shards in &shards.seeds {
        let counts = shards.clients.iter().flat_map(|client| [&client.train, &client.val, &client.test]);
        assert!(counts.flatten().all(|&count| count > 0));
    }
    assert_eq!(rounds.len(), 6 * 2);
    let seed: Vec<ResultRow> = table.rows.iter().filter(|row| row.seed == 0).cloned().collect();
    let seed = ResultTable { rows: seed };
    let trials = |fold| of(&seed, fold, "final_trials").map(|row| row.value).sum::<f64>();
    let whole = (0..3).map(|fold| trials(Some(fold))).sum::<f64>();
    assert_eq!((trials(None), trials(None)), (whole, 540.0));
    let accuracy = |fold| value(&seed, fold, "pooled", "final_accuracy");
    let pooled = (0..3).map(|fold| accuracy(Some(fold)) * trials(Some(fold))).sum::<f64>() / whole;
    assert!((accuracy(None) - pooled).abs() < 1e-12);
    let own = |fold, metric| value(&seed, fold, "client 2", metric);
    let right = (0..3).map(|fold| own(Some(fold), "final_accuracy") * own(Some(fold), "final_trials"));
    assert!((own(None, "final_accuracy") - right.sum::<f64>() / own(None, "final_trials")).abs() < 1e-12);
    let loss = |fold| value(&seed, fold, "pooled", "final_loss");
    let mean = (0..3).map(|fold| loss(Some(fold)) * trials(Some(fold))).sum::<f64>() / whole;
    assert!((loss(None) - mean).abs() < 1e-12);
    let found = headline(&table);
    assert_eq!((found.macro_f1.count, found.single_folds.unwrap().count), (2, 6));
    assert!(found.feasibility_error.unwrap() < 1e-12);
    assert!(folder.path().join("run/models/seed-5-fold-2.safetensors").is_file());
}

/// A single fold trains the same model as that fold among all.
#[test]
fn a_single_fold_is_that_fold_of_all() {
    let all = finished(&["split.kind=leave-run-out"]);
    let one = finished(&["split.kind=leave-run-out", "split.fold=1"]);
    let model =
        |run: &Finished, name: &str| fs::read(run.folder.path().join("run/models").join(name)).unwrap();
    assert_eq!(model(&one, "seed-0.safetensors"), model(&all, "seed-0-fold-1.safetensors"));
    assert!(one.table.rows.iter().all(|row| row.fold.is_none()));
    let f1 = value(&all.table, Some(1), "pooled", "final_macro_f1");
    assert_eq!(value(&one.table, None, "pooled", "final_macro_f1"), f1);
}

#[test]
fn folds_resume_with_the_same_bytes() {
    for overrides in [
        &["split.kind=leave-run-out"][..],
        &["split.kind=leave-subject-out", "split.folds=3", "mode=local"],
        &["split.kind=leave-client-out", "mode=centralised"],
    ] {
        let straight = finished(overrides);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let (_, mut ended) = run(&experiment(PEOPLE, overrides), "test", &path, &mut After(1)).unwrap();
        let mut pieces = 0;
        while let Ended::Interrupted { .. } = ended {
            pieces += 1;
            let rest = Resumable::open(&path, |_| (), &()).unwrap();
            assert!(rest.rounds_left().unwrap() > 0);
            ended = rest.go_on(&mut After(3)).unwrap().1;
        }
        assert!(pieces > 1);
        let (pieces, straight) = (files(&path), files(&straight.folder.path().join("run")));
        assert_eq!(pieces.keys().collect::<Vec<_>>(), straight.keys().collect::<Vec<_>>());
        assert!(pieces == straight, "{overrides:?}");
    }
}

/// Everybody is new once. Nobody who is new in a fold trains in it.
#[test]
fn held_out_people_are_tested_once_and_never_train() {
    for (overrides, folds) in [
        (&["split.kind=leave-subject-out", "federated.subjects_per_client=2"][..], 5),
        (&["split.kind=leave-client-out", "federated.subjects_per_client=1"], 5),
        (&["split.kind=leave-subject-out", "mode=centralised", "align.calibration=15"], 5),
        (&["split.kind=leave-subject-out", "mode=local", "federated.subjects_per_client=3"], 5),
    ] {
        let Finished { table, rounds, shards, .. } = finished(overrides);
        assert_eq!(shards.seeds.len(), folds);
        let calibrated = overrides.contains(&"align.calibration=15");
        let tested: usize =
            shards.seeds.iter().flat_map(|fold| &fold.clients).flat_map(|client| &client.test).sum();
        assert_eq!(tested, if calibrated { 6 * 75 } else { 540 }, "{overrides:?}");
        let trials: f64 = of(&table, None, "final_trials").map(|row| row.value).sum();
        assert_eq!(trials as usize, tested, "{overrides:?}");
        for fold in &shards.seeds {
            let idle = fold.clients.iter().filter(|client| client.train.iter().sum::<usize>() == 0);
            let idle: BTreeSet<&str> = idle.map(|client| &*client.name).collect();
            let of_fold = rounds.iter().filter(|round| round.unit.fold == fold.fold);
            for round in of_fold {
                assert!(round.participants.iter().all(|name| !idle.contains(&**name)), "{overrides:?}");
                assert!(round.validation_f1.is_some_and(f64::is_finite), "{overrides:?}");
            }
            if overrides.contains(&"split.kind=leave-client-out") {
                assert!(!idle.is_empty());
            }
        }
    }
}

/// Someone new is aligned on own trials without labels, whatever the others do.
#[test]
fn networks_with_statistics_are_calibrated_for_new_people() {
    let text = "[data]\nname = 'generated'\n[data.generated]\nsubjects = 6\ntrials = 12\nchannels = 4\nclasses = 2\nsamples = 64\nsfreq = 32.0\n[model]\nkind = 'eegnet'\n[federated]\nrounds = 2";
    let folder = tempfile::tempdir().unwrap();
    let experiment = experiment(text, &["split.kind=leave-subject-out", "split.folds=3"]);
    assert_eq!(
        experiment.held_out_note().unwrap(),
        "batch-normalisation statistics fitted on all trials of each subject, without labels"
    );
    let (table, _) = run(&experiment, "test", &folder.path().join("run"), &mut ()).unwrap();
    assert_eq!(of(&table, None, "final_trials").map(|row| row.value).sum::<f64>(), 72.0);
    assert!(headline(&table).macro_f1.mean.is_finite());
}

fn refusal(overrides: &[&str]) -> Error {
    experiment(PEOPLE, overrides)
        .units()
        .and_then(|units| {
            let experiment = experiment(PEOPLE, overrides);
            units.into_iter().try_for_each(|unit| experiment.design(unit).map(|_| ()))
        })
        .unwrap_err()
}

#[test]
fn splits_that_cannot_hold_are_refused_with_the_counts() {
    let lost = refusal(&["split.kind=leave-run-out", "split.folds=5"]);
    let text = lost.to_string();
    assert!(text.starts_with("fold 0 of 5 (counted from 0) leaves `client "), "{text}");
    assert!(text.contains(" trials of `"), "{text}");
    assert!(text.contains(": of feet, hands, left_hand, right_hand, there are "), "{text}");
    assert!(text.contains(" for training, ") && text.ends_with(" for test"), "{text}");
    let hint = "use `split.folds = 3`, the largest number that keeps every class";
    assert_eq!(lost.hint().unwrap(), hint);
    let sessions = refusal(&["split.kind=leave-session-out"]);
    assert_eq!(sessions.to_string(), "subject `1` has 1 session; leave-session-out needs at least 2");
    assert!(sessions.hint().unwrap().contains("leave-run-out"));
    let few = refusal(&["split.kind=leave-client-out", "federated.subjects_per_client=3"]);
    assert_eq!(few.to_string(), "there are 2 clients; leave-client-out needs at least 3");
    assert!(few.hint().is_some());
    let calibration = refusal(&["split.kind=leave-subject-out", "align.calibration=90"]);
    assert!(calibration.to_string().starts_with("`align.calibration` is 90, but held-out subject `"));
    let fold = refusal(&["split.kind=leave-run-out", "split.fold=3"]);
    assert_eq!(fold.to_string(), "`split.fold` is 3; it must be less than the number of folds, 3");
}

/// A client whose people are all held out has no model of its own.
#[test]
fn clients_without_a_model_of_their_own_are_named() {
    let mut warnings = Warnings::default();
    let folder = tempfile::tempdir().unwrap();
    let settings = ["split.kind=leave-subject-out", "mode=local", "split.folds=3", "split.fold=0"];
    let clients = "federated.clients={ a = [1, 2, 3], b = [4] , c = [5], d = [6]}";
    let alone = experiment(PEOPLE, &[&settings[..], &[clients]].concat());
    run(&alone, "test", &folder.path().join("run"), &mut warnings).unwrap();
    let text = "without training trials in this fold, these clients are not scored: ";
    assert!(warnings.0.iter().any(|warning| warning.starts_with(text)), "{:?}", warnings.0);
}

/// The hashes of stratified configurations are those of the former version, which wrote `fold` and
/// `folds` always.
#[test]
fn hashes_of_former_stratified_configurations_stay() {
    let hash = |text: &str| Config::parse(text, "test.toml", &[]).unwrap().hash();
    for (text, former) in [
        ("federated.rounds = 1", "f592bf8159b9f6470e082961f739b54eb677b9162432ea66673d085c03dd2cd9"),
        (
            "mode='centralised'\ntrain.epochs = 1",
            "a6700c1a84163e7d09d03846290675481b516f531706653abad29c44707dfa47",
        ),
    ] {
        assert_eq!(hash(&format!("data.name = 'sample'\n{text}")), former);
        let both = format!("data.name = 'sample'\n{text}\nsplit.fold = 0\nsplit.folds = 5");
        assert_eq!(hash(&both), former);
    }
}

/// An experiment of one fold is not an experiment of all.
#[test]
fn several_folds_give_no_single_model() {
    let all: Experiment = experiment(PEOPLE, &["split.kind=leave-run-out"]);
    let error = fedspd_experiment::fit(&all, &mut ()).unwrap_err();
    assert!(error.to_string().contains("several folds give several models"), "{error}");
}
