//! Leave-out splits: all folds of a run, their pooled scores, and the splits that are refused.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use fedspd_experiment::config::Config;
use fedspd_experiment::{
    Content, Ended, Error, Experiment, Observer, Resumable, RoundProgress, headline, run,
};
use fedspd_run::{Event, EventLog, ResultRow, ResultTable, Round, Shards, Stage};

use crate::runs::experiment;
use crate::support::Warnings;

/// Settings for six people with six runs each.
const PEOPLE: &str = r#"
    [data]
    name = "people.npz"
    [align]
    kind = "riemannian"
    [model]
    dims = [3]
    epsilon = 1e-3
    [train]
    lr = 1e-2
    batch = 16
    epochs = 4
    early_stop = 0
    [federated]
    rounds = 4
    epochs_local = 1
"#;

/// Trials of one person.
const TRIALS: usize = 36;

/// Writes covariances of six people. Each has three runs of two classes and three of the other two.
fn people(folder: &Path) -> String {
    let text = format!(
        "model.dims = [3]\n[data]\nname = 'generated'\ngenerated = {{ subjects = 6, trials = {TRIALS}, channels = 4, classes = 4, strength = 0.6 }}"
    );
    let Content::Covariances(mut made) = experiment(&text, &[]).dataset.content else {
        panic!("covariances")
    };
    let mut counts = BTreeMap::new();
    for origin in &mut made.about.origins {
        let kind = origin.label / 2;
        let count: &mut usize = counts.entry((origin.subject.clone(), kind)).or_default();
        origin.run = (2 * (*count % 3) + kind).to_string();
        *count += 1;
    }
    let path = folder.join("people.npz");
    made.save(&path).unwrap();
    format!("data.name='{}'", path.display())
}

/// Returns the experiment with these changes, on data in this folder.
fn on_people(folder: &Path, overrides: &[&str]) -> Experiment {
    let data = people(folder);
    experiment(PEOPLE, &[&[&*data], overrides].concat())
}

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
    let experiment = on_people(folder.path(), overrides);
    let (table, ended) = run(&experiment, "test", &path, &mut ()).unwrap();
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
    assert_eq!(rounds.len(), 6 * 4);
    let seed: Vec<ResultRow> = table.rows.iter().filter(|row| row.seed == 0).cloned().collect();
    let seed = ResultTable { rows: seed };
    let trials = |fold| of(&seed, fold, "final_trials").map(|row| row.value).sum::<f64>();
    let whole = (0..3).map(|fold| trials(Some(fold))).sum::<f64>();
    assert_eq!((trials(None), trials(None)), (whole, 6.0 * TRIALS as f64));
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
        &["split.kind=leave-run-out", "split.refit=true", "run.select=best-validation"],
        &[
            "split.kind=leave-subject-out",
            "split.folds=3",
            "split.refit=true",
            "mode=local",
            "federated.subjects_per_client=3",
            "train.early_stop=1",
        ],
        &["run.select=best-validation"],
    ] {
        let straight = finished(overrides);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let experiment = on_people(straight.folder.path(), overrides);
        let (_, mut ended) = run(&experiment, "test", &path, &mut After(1)).unwrap();
        let mut pieces = 0;
        while let Ended::Interrupted { .. } = ended {
            pieces += 1;
            let mut rest = Resumable::open(&path, |_| (), &()).unwrap();
            assert!(rest.rounds_left().unwrap() > 0);
            ended = rest.go_on(&mut After(3)).unwrap().1;
        }
        assert!(pieces > 0);
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
        assert_eq!(tested, 6 * if calibrated { TRIALS - 15 } else { TRIALS }, "{overrides:?}");
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
    let folder = tempfile::tempdir().unwrap();
    let experiment = on_people(folder.path(), overrides);
    let units = experiment.units();
    units
        .and_then(|units| units.into_iter().try_for_each(|unit| experiment.design(unit).map(|_| ())))
        .unwrap_err()
}

#[test]
fn splits_that_cannot_hold_are_refused_with_the_counts() {
    let lost = refusal(&["split.kind=leave-run-out", "split.folds=5", "run.seeds=0..3"]);
    let text = lost.to_string();
    assert!(text.starts_with("fold 0 of 5 (counted from 0) leaves `client "), "{text}");
    assert!(text.contains(" trials of `"), "{text}");
    assert!(text.contains(": of class 1, class 2, class 3, class 4, there are "), "{text}");
    assert!(text.contains(" for training, ") && text.ends_with(" for test"), "{text}");
    let hint = "use `split.folds = 3`, the largest number that keeps every class";
    assert_eq!(lost.hint().unwrap(), hint);
    let sessions = refusal(&["split.kind=leave-session-out"]);
    assert_eq!(sessions.to_string(), "subject `1` has 1 session; leave-session-out needs at least 2");
    assert!(sessions.hint().unwrap().contains("leave-run-out"));
    let few = refusal(&["split.kind=leave-client-out", "federated.subjects_per_client=3"]);
    assert_eq!(few.to_string(), "there are 2 clients; leave-client-out needs at least 3");
    assert!(few.hint().is_some());
    let calibration = refusal(&["split.kind=leave-subject-out", "align.calibration=36"]);
    assert!(calibration.to_string().starts_with("`align.calibration` is 36, but held-out subject `"));
    let fold = refusal(&["split.kind=leave-run-out", "split.fold=3", "run.seeds=0..3"]);
    assert_eq!(fold.to_string(), "`split.fold` is 3; it must be less than the number of folds, 3");
}

/// A client whose people are all held out has no model of its own.
#[test]
fn clients_without_a_model_of_their_own_are_named() {
    let mut warnings = Warnings::default();
    let folder = tempfile::tempdir().unwrap();
    let settings = ["split.kind=leave-subject-out", "mode=local", "split.folds=3", "split.fold=0"];
    let clients = "federated.clients={ a = [1, 2, 3], b = [4], c = [5], d = [6] }";
    let alone = on_people(folder.path(), &[&settings[..], &[clients]].concat());
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
    let folder = tempfile::tempdir().unwrap();
    let all = on_people(folder.path(), &["split.kind=leave-run-out"]);
    let error = fedspd_experiment::fit(&all, &mut ()).unwrap_err();
    assert!(error.to_string().contains("several folds give several models"), "{error}");
}

fn rows<'a>(table: &'a ResultTable, split: &'a str, metric: &'a str) -> Vec<&'a ResultRow> {
    table.rows.iter().filter(|row| row.split == split && row.metric == metric).collect()
}

/// Federated training keeps the round with the best validation score, if asked to.
#[test]
fn the_best_round_counts_if_asked_to() {
    let rate = ["train.lr=0.3", "federated.rounds=12", "run.seeds=[3]"];
    let best = finished(&[&rate[..], &["run.select=best-validation"]].concat());
    let last = finished(&rate);
    let scores = rows(&best.table, "validation", "macro_f1");
    let first_best =
        scores.iter().fold(scores[0], |best, row| if row.value > best.value { row } else { best });
    assert!(first_best.round < 12, "choose settings whose best round is not the last");
    assert_eq!(rows(&best.table, "model", "final_round")[0].value, f64::from(first_best.round));
    let test = |run: &Finished, round| {
        let row = rows(&run.table, "test", "macro_f1").into_iter().find(|row| row.round == round);
        row.unwrap().value
    };
    let f1 = |run: &Finished| {
        rows(&run.table, "test", "final_macro_f1")
            .into_iter()
            .find(|row| row.client == "pooled")
            .unwrap()
            .value
    };
    assert_eq!(f1(&best), test(&best, first_best.round));
    assert_eq!(f1(&last), test(&last, 12));
    assert!(rows(&last.table, "model", "final_round").is_empty());
    assert_eq!(fedspd_run::validation_f1(&best.table).mean, first_best.value);
}

/// The second stage trains on training and validation trials for the chosen number of rounds, with
/// the learning rates of the first. Test trials choose nothing.
#[test]
fn a_refit_repeats_the_chosen_rounds_on_more_trials() {
    let settings = ["split.kind=leave-run-out", "split.fold=0", "split.folds=3", "train.scheduler=cosine"];
    let once = finished(&settings);
    let twice = finished(&[&settings[..], &["split.refit=true"]].concat());
    let of_stage = |stage| {
        let rounds = twice.rounds.iter().filter(move |round| round.unit.stage == Some(stage));
        rounds.cloned().collect::<Vec<_>>()
    };
    let (choose, fit) = (of_stage(Stage::Choose), of_stage(Stage::Fit));
    let rates = |rounds: &[Round]| rounds.iter().map(|round| round.learning_rate).collect::<Vec<_>>();
    assert_eq!(rates(&choose), rates(&once.rounds));
    assert_eq!(rates(&fit), rates(&choose));
    assert!(choose.iter().all(|round| round.test_f1.is_none() && round.validation_f1.is_some()));
    assert!(fit.iter().all(|round| round.test_f1.is_some() && round.validation_f1.is_none()));
    // The first stage is the run without refit.
    let losses = |rounds: &[Round]| rounds.iter().map(|round| round.train_loss).collect::<Vec<_>>();
    assert_eq!(losses(&choose), losses(&once.rounds));
    assert_ne!(losses(&fit), losses(&choose));
    assert_eq!(once.shards, twice.shards);
    let trials = |run: &Finished| of(&run.table, None, "final_trials").map(|row| row.value).sum::<f64>();
    assert_eq!(trials(&once), trials(&twice));
    let settings =
        ["split.kind=leave-run-out", "split.folds=3", "split.refit=true", "run.select=best-validation"];
    let best = finished(&[&settings[..], &["train.lr=0.3", "federated.rounds=8"]].concat());
    for fold in 0..3 {
        let of_fold = |row: &&&ResultRow| row.fold == Some(fold);
        let chosen = rows(&best.table, "model", "chosen_rounds").iter().find(of_fold).unwrap().value;
        let fits = best
            .rounds
            .iter()
            .filter(|round| round.unit.fold == Some(fold) && round.unit.stage == Some(Stage::Fit));
        assert_eq!(fits.count(), chosen as usize);
    }
    assert_eq!(headline(&best.table).macro_f1.count, 1);
}

/// A leave-run-out run of a former version cannot go on, because its validation trials were others.
#[test]
fn a_former_leave_run_out_run_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let text =
        "data.name = 'sample'\nfederated.rounds = 1\nsplit = { kind = 'leave-run-out', fold = 0, folds = 3 }";
    let own = experiment(text, &[]);
    run(&own, "test", &path, &mut After(0)).unwrap();
    // The hash that the former version wrote.
    let former = "6a67a6d6e66c12b3b456bc019cd48ffb9bfcca51b6252e913ef25983464e033e";
    assert_ne!(own.config_hash(), former);
    let manifest = fs::read_to_string(path.join("manifest.json")).unwrap();
    fs::write(path.join("manifest.json"), manifest.replace(&own.config_hash(), former)).unwrap();
    let error = Resumable::open(&path, |_| (), &()).map(|_| ()).unwrap_err();
    let message = "the run began with a fedspd that validated on random trials; leave-run-out now validates on whole runs";
    assert!(error.to_string().ends_with(message), "{error}");
    assert_eq!(error.hint().unwrap(), "begin a new run");
}

/// A client of two people that trains alone has one for training and one for the test. Nobody is left
/// to choose its model.
#[test]
fn nobody_chooses_without_validation() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |changes: &[&str]| {
        let settings = [&["split.kind=leave-subject-out", "split.folds=3", "mode=local"], changes].concat();
        let experiment = on_people(folder.path(), &settings);
        run(&experiment, "test", &folder.path().join("run"), &mut ()).err().map(|error| error.to_string())
    };
    let expected =
        "client `client 1` has 2 subjects: fold 0 leaves nobody for validation, which chooses its model";
    for changes in [&["run.select=best-validation"][..], &["train.early_stop=2"], &["split.refit=true"]] {
        assert_eq!(refused(changes).as_deref(), Some(expected), "{changes:?}");
    }
    assert_eq!(refused(&[]), None);
}

/// A client that trains alone without people to train on is not scored, and its trials are not among
/// those that two runs are compared by.
#[test]
fn only_scored_trials_are_compared() {
    let hash = |mode: &str| {
        let clients = "federated.clients={ a = [1], b = [2, 3, 4], c = [5, 6] }";
        let settings = ["split.kind=leave-subject-out", "split.folds=3", clients, mode];
        finished(&settings).shards.seeds.iter().map(|fold| fold.test_sha256.clone()).collect::<Vec<_>>()
    };
    assert_ne!(hash("mode=federated"), hash("mode=local"));
}
