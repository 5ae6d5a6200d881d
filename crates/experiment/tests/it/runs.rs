//! Runs: the same bytes for any number of threads, with and without interruptions; and the content
//! of a folder.

use std::fs;
use std::path::Path;

use fedspd_experiment::config::Config;
use fedspd_experiment::{Ended, Error, Experiment, Observer, Resumable, RoundProgress, headline, run};
use fedspd_run::{Event, EventLog, Headline, Manifest, ResultTable, RunFolder, Shards, Status};

pub(crate) const SMALL: &str = r#"
    [data]
    name = "generated"
    [data.generated]
    subjects = 6
    trials = 24
    channels = 6
    classes = 3
    shift = 0.3
    strength = 0.6
    [model]
    dims = [4]
    epsilon = 1e-4
    [train]
    lr = 1e-2
    batch = 16
    [federated]
    rounds = 6
    [run]
    seeds = [0, 3]
"#;

pub(crate) fn experiment(text: &str, overrides: &[&str]) -> Experiment {
    let overrides: Vec<_> = overrides.iter().map(|text| text.parse().unwrap()).collect();
    Experiment::new(Config::parse(text, "test.toml", &overrides).unwrap(), &()).unwrap()
}

/// Returns the files that must have the same bytes: results, models and checkpoints.
fn bytes(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let names = [
        "results.csv",
        "summary.json",
        "shards.json",
        "models/seed-0.safetensors",
        "models/seed-3.safetensors",
        "checkpoints/seed-0.ckpt",
        "checkpoints/seed-3.ckpt",
    ];
    names.iter().filter_map(|name| Some(((*name).to_owned(), fs::read(folder.join(name)).ok()?))).collect()
}

/// Interrupts a run after some rounds.
pub(crate) struct After(pub(crate) u32);

impl Observer for After {
    fn round(&mut self, _: &RoundProgress) {
        self.0 = self.0.saturating_sub(1);
    }

    fn warning(&mut self, _: &str) {}

    fn interrupted(&self) -> bool {
        self.0 == 0
    }
}

#[test]
fn threads_and_interruptions_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (case, overrides) in [
        &["federated.participation=0.5", "federated.aggregation=rl-avg", "federated.server_momentum=0.5"][..],
        &["federated.carry_state=true", "align.kind=riemannian", "run.checkpoint_every=2"],
        &["mode=centralised", "train.epochs=8", "train.early_stop=3"],
        &["mode=local", "train.epochs=5", "train.early_stop=2"],
        &[
            "model.kind=eegnet",
            "data.generated.samples=64",
            "data.generated.sfreq=32.0",
            "federated.rounds=3",
            "data.generated.trials=12",
        ],
    ]
    .into_iter()
    .enumerate()
    {
        let at = |name: &str| folder.path().join(format!("{case}-{name}"));
        let with_threads = |threads: &'static str| {
            let overrides: Vec<&str> = overrides.iter().copied().chain([threads]).collect();
            experiment(SMALL, &overrides)
        };
        let (one, two) = (with_threads("run.threads=1"), with_threads("run.threads=2"));
        assert_eq!(one.config_hash(), two.config_hash());
        let (_, ended) = run(&one, "straight", &at("straight"), &mut ()).unwrap();
        assert_eq!(ended, Ended::Finished);
        let expected = bytes(&at("straight"));
        assert!(expected.len() >= 4 && expected[0].1.len() > 500);
        run(&two, "threads", &at("threads"), &mut ()).unwrap();
        assert!(bytes(&at("threads")) == expected, "threads, {overrides:?}");

        // One round at a time.
        let (_, mut ended) = run(&two, "pieces", &at("pieces"), &mut After(1)).unwrap();
        let mut interruptions = 0;
        while let Ended::Interrupted { .. } = ended {
            interruptions += 1;
            assert!(Resumable::open(&at("pieces"), |_| (), &()).unwrap().rounds_left().unwrap() > 0);
            assert_eq!(status(&at("pieces")), Status::Interrupted);
            ended = resume(&at("pieces"), &mut After(2)).unwrap();
        }
        assert!(interruptions > 2);
        assert_eq!(status(&at("pieces")), Status::Done);
        assert!(bytes(&at("pieces")) == expected, "pieces, {overrides:?}");
        assert_eq!(uninterrupted(&at("pieces")), uninterrupted(&at("straight")));
        // Resuming a completed run changes nothing.
        resume(&at("pieces"), &mut ()).unwrap();
        assert!(bytes(&at("pieces")) == expected, "again, {overrides:?}");
        assert_eq!(uninterrupted(&at("pieces")), uninterrupted(&at("straight")));
    }
}

/// Returns the events of a run, except those about interruptions.
pub(crate) fn uninterrupted(folder: &Path) -> Vec<Event> {
    let mut events = EventLog::read(&RunFolder::open(folder).unwrap().events()).unwrap();
    events.retain(|event| !matches!(event, Event::Resumed { .. } | Event::Interrupted { .. }));
    events
}

pub(crate) fn resume(folder: &Path, observer: &mut (dyn Observer + Send)) -> Result<Ended, Error> {
    Ok(Resumable::open(folder, |_| (), &())?.go_on(observer)?.1)
}

/// Tries to resume and to begin the same run after every round, like another process.
struct Intruder<'a>(&'a Path, Vec<String>);

impl Observer for Intruder<'_> {
    fn round(&mut self, _: &RoundProgress) {
        let resumed = resume(self.0, &mut ()).err().unwrap().to_string();
        let begun = run(&experiment(SMALL, &[]), "again", self.0, &mut ()).err().unwrap().to_string();
        self.1.extend([resumed, begun]);
    }

    fn warning(&mut self, _: &str) {}

    fn interrupted(&self) -> bool {
        !self.1.is_empty()
    }
}

/// Two processes would corrupt the log and the checkpoints. The second is refused while the first
/// runs or resumes.
#[test]
fn nobody_else_writes_to_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("run");
    let in_use = format!("{}: in use by process {}", at.display(), std::process::id());
    let mut first = Intruder(&at, Vec::new());
    run(&experiment(SMALL, &[]), "first", &at, &mut first).unwrap();
    let mut second = Intruder(&at, Vec::new());
    resume(&at, &mut second).unwrap();
    for refused in [first.1, second.1] {
        assert!(refused.len() == 2 && refused.iter().all(|fault| fault.starts_with(&in_use)), "{refused:?}");
    }
    assert_eq!(resume(&at, &mut ()).unwrap(), Ended::Finished);
}

fn status(folder: &Path) -> Status {
    Manifest::read(&RunFolder::open(folder).unwrap().manifest()).unwrap().status
}

/// Splits, batches and samples do not depend on the aggregation.
#[test]
fn the_aggregation_changes_no_split_and_no_sample() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut seen = Vec::new();
    for aggregation in ["proj-avg", "rl-avg", "qr-avg", "karcher", "euclidean"] {
        let set = format!("federated.aggregation={aggregation}");
        let experiment = experiment(SMALL, &[&set, "federated.participation=0.4", "run.seeds=0"]);
        run(&experiment, aggregation, &at(aggregation), &mut ()).unwrap();
        let shards = Shards::read(&at(aggregation).join("shards.json")).unwrap();
        let events = EventLog::read(&at(aggregation).join("events.jsonl")).unwrap();
        let rounds = events.into_iter().filter_map(|event| match event {
            Event::Round(round) => Some(round),
            _ => None,
        });
        let rounds: Vec<_> = rounds.collect();
        let asked: Vec<_> = rounds.iter().map(|round| round.participants.clone()).collect();
        seen.push((shards, asked, rounds[0].train_loss.to_bits()));
    }
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(seen[0].1.len(), 6);
}

/// With a seed of its own, the split does not depend on the run's seed. Everything else still does.
#[test]
fn a_split_may_have_a_seed_of_its_own() {
    let shuffled = "federated.clients=shuffled";
    let own = experiment(SMALL, &[shuffled]);
    let fixed = experiment(SMALL, &[shuffled, "split.seed=3"]);
    let shards = |experiment: &Experiment, seed| experiment.design(seed).unwrap().shards;
    assert_ne!(shards(&own, 0), shards(&own, 3));
    assert_eq!(shards(&fixed, 0), shards(&fixed, 3));
    assert_eq!(shards(&fixed, 0), shards(&own, 3));
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("run");
    run(&fixed, "fixed", &at, &mut ()).unwrap();
    let model = |seed: u64| fs::read(at.join(format!("models/seed-{seed}.safetensors"))).unwrap();
    assert_ne!(model(0), model(3));
}

#[test]
fn rounds_without_validation_train_the_same_model() {
    let folder = tempfile::tempdir().unwrap();
    let trained = |name: &str, settings: &[&str]| {
        let at = folder.path().join(name);
        let settings = [&["train.scheduler=cosine"], settings].concat();
        let (table, _) = run(&experiment(SMALL, &settings), name, &at, &mut ()).unwrap();
        let validated = table.rows.into_iter().filter(|row| row.seed == 0 && row.split == "validation");
        let loss: Vec<_> =
            validated.filter(|row| row.metric == "loss").map(|row| (row.round, row.value)).collect();
        let events = EventLog::read(&at.join("events.jsonl")).unwrap();
        let rounds = events.into_iter().filter_map(|event| match event {
            Event::Round(round) if round.unit.seed == 0 => round.validation_f1.map(|_| round.round),
            _ => None,
        });
        (fs::read(at.join("models/seed-0.safetensors")).unwrap(), loss, rounds.collect::<Vec<_>>())
    };
    let (every, rarely) = (trained("every", &[]), trained("rarely", &["run.validate_every=4"]));
    assert_eq!(every.0, rarely.0);
    assert_eq!(every.2, [1, 2, 3, 4, 5, 6]);
    // The first, every fourth and the last.
    assert_eq!(rarely.2, [1, 4, 6]);
    let same: Vec<_> = every.1.into_iter().filter(|(round, _)| [1, 4, 6].contains(round)).collect();
    assert_eq!(rarely.1, same);
}

#[test]
fn a_folder_holds_what_a_report_needs() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("run");
    let experiment = experiment(
        SMALL,
        &["split.held_out_subjects='6'", "federated.subjects_per_client=1", "run.eval_every=3"],
    );
    let (table, _) = run(&experiment, "whole", &at, &mut ()).unwrap();
    let manifest = Manifest::read(&at.join("manifest.json")).unwrap();
    assert_eq!(
        (manifest.name.as_str(), manifest.status, manifest.subjects.len()),
        ("whole", Status::Done, 6)
    );
    assert_eq!(manifest.parameters, 6 * 4 + 3 * 17);
    assert!(manifest.wall_seconds.unwrap() > 0.0 && !manifest.transductive);
    assert_eq!(ResultTable::read(&at.join("results.csv")).unwrap(), table);
    let config =
        Config::parse(&fs::read_to_string(at.join("config.toml")).unwrap(), "config.toml", &[]).unwrap();
    assert_eq!(config, experiment.config);
    let rows = |seed, split: &str, client: &str, metric: &str| -> Vec<(u32, f64)> {
        let wanted = |row: &&fedspd_run::ResultRow| {
            row.seed == seed && row.split == split && row.client == client && row.metric == metric
        };
        table.rows.iter().filter(wanted).map(|row| (row.round, row.value)).collect()
    };
    let written = Headline::read(&at.join("summary.json")).unwrap();
    assert_eq!((written.macro_f1.count, written.held_out.count), (2, 2));
    assert_eq!(written, headline(&table));
    let rounds = |rows: Vec<(u32, f64)>| rows.into_iter().map(|(round, _)| round).collect::<Vec<_>>();
    for seed in [0, 3] {
        assert_eq!(rounds(rows(seed, "test", "pooled", "macro_f1")), [1, 3, 6]);
        assert_eq!(rounds(rows(seed, "validation", "pooled", "loss")), [1, 2, 3, 4, 5, 6]);
        for client in ["client 1", "client 5", "mean", "worst", "pooled"] {
            assert_eq!(rounds(rows(seed, "test", client, "final_macro_f1")), [6], "{client}");
        }
        assert_eq!(rows(seed, "held-out", "6", "final_trials"), [(6, 24.0)]);
        let last = rows(seed, "test", "pooled", "macro_f1")[2].1;
        assert_eq!(rows(seed, "test", "pooled", "final_macro_f1"), [(6, last)]);
        // The confusion matrix counts every test trial once, in every round that is tested and at
        // the end.
        let confusion = table.rows.iter().filter(|row| {
            row.seed == seed && row.split == "test" && row.metric.starts_with("final_confusion:")
        });
        let total: f64 = confusion.map(|row| row.value).sum();
        let tested: f64 =
            (1..=5).map(|client| rows(seed, "test", &format!("client {client}"), "final_trials")[0].1).sum();
        assert_eq!(total, tested);
        let in_round = |round| {
            let confusion = table
                .rows
                .iter()
                .filter(|row| row.seed == seed && row.round == round && row.metric.starts_with("confusion:"));
            confusion.map(|row| (row.client.as_str(), row.split.as_str(), row.value)).collect::<Vec<_>>()
        };
        for round in 1..=6 {
            let found = in_round(round);
            assert_eq!(found.len(), if [1, 3, 6].contains(&round) { 9 } else { 0 });
            assert!(found.iter().all(|&(client, split, _)| (client, split) == ("pooled", "test")));
            assert!(found.is_empty() || found.iter().map(|row| row.2).sum::<f64>() == tested);
        }
        let feasible = rows(seed, "model", "pooled", "final_feasibility_error")[0].1;
        assert!(feasible < 1e-12);
        let (manifest, parameters) =
            fedspd_nn::file::load::<f64>(&at.join(format!("models/seed-{seed}.safetensors"))).unwrap();
        assert_eq!((manifest.classes.len(), parameters.values().len()), (3, 75));
    }
}

#[test]
fn a_folder_is_not_run_twice_and_not_gone_on_with_by_mistake() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("run");
    let experiment = experiment(SMALL, &["federated.rounds=2"]);
    run(&experiment, "first", &at, &mut After(1)).unwrap();
    let again = run(&experiment, "first", &at, &mut ()).err().unwrap();
    assert!(
        matches!(again, Error::Exists { .. }) && again.hint().unwrap().contains("fedspd resume"),
        "{again}"
    );

    let config = fs::read_to_string(at.join("config.toml")).unwrap();
    fs::write(at.join("config.toml"), config.replace("rounds = 2", "rounds = 3")).unwrap();
    assert!(matches!(resume(&at, &mut ()).err().unwrap(), Error::ConfigChanged { .. }));
    fs::write(at.join("config.toml"), &config).unwrap();

    let mut manifest = Manifest::read(&at.join("manifest.json")).unwrap();
    let sha256 = manifest.data_sha256.replace("0".repeat(64));
    manifest.write(&at.join("manifest.json")).unwrap();
    assert!(matches!(resume(&at, &mut ()).err().unwrap(), Error::DataChanged { .. }));
    manifest.data_sha256 = sha256;
    manifest.write(&at.join("manifest.json")).unwrap();

    let checkpoint = at.join("checkpoints/seed-0.ckpt");
    let good = fs::read(&checkpoint).unwrap();
    let cases: [(&str, Vec<u8>); 4] = [
        ("not a checkpoint of this version", b"something else".to_vec()),
        ("cut off", good[..20].to_vec()),
        ("damaged: its checksum does not match", good[..good.len() - 1].to_vec()),
        ("damaged: its checksum does not match", [&good[..60], &[good[60] ^ 1], &good[61..]].concat()),
    ];
    for (fault, content) in cases {
        fs::write(&checkpoint, content).unwrap();
        let error = resume(&at, &mut ()).err().unwrap();
        assert_eq!(error.to_string(), format!("{}: {fault}", checkpoint.display()));
    }
    fs::write(&checkpoint, good).unwrap();
    assert_eq!(resume(&at, &mut ()).unwrap(), Ended::Finished);
    let nowhere = resume(&folder.path().join("nowhere"), &mut ()).err().unwrap();
    assert!(matches!(nowhere, Error::Run(_)), "{nowhere}");
}
