//! Runs that are killed, their cost on the disk, and folders of former versions.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use fedspd_experiment::{Ended, Observer, RoundProgress, run};
use fedspd_run::{Event, EventLog, Manifest, Status};

use crate::runs::{After, SMALL, experiment, resume, uninterrupted};

/// Panics after some rounds, as a process that is killed there.
struct Killed(u32);

impl Observer for Killed {
    fn round(&mut self, _: &RoundProgress) {
        self.0 -= 1;
        assert!(self.0 > 0, "killed by the test");
    }

    fn warning(&mut self, _: &str) {}

    fn interrupted(&self) -> bool {
        false
    }
}

#[test]
fn a_resumed_run_repeats_no_event() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    // Warns of unused subjects at the start, and of client c in every round.
    let experiment = experiment(
        SMALL,
        &[
            "federated.clients={ a = [1, 2], c = [3, 4] }",
            "federated.epochs_local={ default = 1, c = 60 }",
            "federated.method=fedprox",
            "federated.prox_mu=1e5",
            "federated.on_client_failure=skip",
            "train.optimizer=riemannian-sgd",
            "federated.rounds=5",
            "run.checkpoint_every=2",
        ],
    );
    run(&experiment, "straight", &at("straight"), &mut ()).unwrap();
    let expected = uninterrupted(&at("straight"));
    let warnings = expected.iter().filter(|event| matches!(event, Event::Warning { .. }));
    assert_eq!(warnings.count(), 2 * (1 + 5), "{expected:?}");
    assert_eq!(expected.last(), Some(&Event::Finished));

    // Interrupted before the first round, then after every one.
    run(&experiment, "interrupted", &at("interrupted"), &mut After(0)).unwrap();
    while resume(&at("interrupted"), &mut After(1)).unwrap() != Ended::Finished {}
    assert_eq!(uninterrupted(&at("interrupted")), expected);

    // Killed without a checkpoint, then after three rounds, of which one has no checkpoint.
    let killed = |work: &mut dyn FnMut() -> Ended| catch_unwind(AssertUnwindSafe(work)).is_err();
    assert!(killed(&mut || run(&experiment, "killed", &at("killed"), &mut Killed(1)).unwrap().1));
    let mut kills = 1;
    while killed(&mut || resume(&at("killed"), &mut Killed(3)).unwrap()) {
        kills += 1;
    }
    assert!(kills > 3);
    assert_eq!(uninterrupted(&at("killed")), expected);
}

/// Counts the bytes that a run writes. Files that only grow count with their size at the end, the
/// checkpoint counts in every round.
struct Written {
    folder: PathBuf,
    checkpoints: u64,
    growing: Vec<u64>,
}

impl Observer for Written {
    fn round(&mut self, _: &RoundProgress) {
        self.checkpoints += fs::metadata(self.folder.join("checkpoints/seed-0.ckpt")).unwrap().len();
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            // A file that is replaced gets another number.
            let number = |name: &str| fs::metadata(self.folder.join(name)).unwrap().ino();
            let numbers = GROWING.map(number).to_vec();
            assert!(self.growing.is_empty() || self.growing == numbers, "a file was replaced");
            self.growing = numbers;
        }
    }

    fn warning(&mut self, _: &str) {}

    fn interrupted(&self) -> bool {
        false
    }
}

const GROWING: [&str; 2] = ["events.jsonl", "checkpoints/seed-0.rounds"];

#[test]
fn the_bytes_written_are_proportional_to_the_rounds() {
    let folder = tempfile::tempdir().unwrap();
    let written = |rounds: u32| {
        let at = folder.path().join(rounds.to_string());
        let settings = format!("federated.rounds={rounds}");
        let experiment = experiment(SMALL, &[&settings, "run.seeds=0", "data.generated.subjects=2"]);
        let mut written = Written { folder: at.clone(), checkpoints: 0, growing: Vec::new() };
        run(&experiment, "written", &at, &mut written).unwrap();
        let size = |name: &str| fs::metadata(at.join(name)).unwrap().len();
        written.checkpoints + GROWING.into_iter().map(size).sum::<u64>()
    };
    let (few, many) = (written(20), written(80));
    assert!(many < 4 * few + few / 10, "{few} bytes in 20 rounds, {many} in 80");
}

/// The folder of a former version, whose checkpoints hold the past rounds, is resumed.
#[test]
fn a_former_run_is_resumed_with_the_same_bytes() {
    let former = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/former-run");
    let folder = tempfile::tempdir().unwrap();
    let (at, straight) = (folder.path().join("former"), folder.path().join("straight"));
    for name in ["checkpoints", "models", "interpretation"] {
        fs::create_dir_all(at.join(name)).unwrap();
    }
    let names = ["config.toml", "manifest.json", "shards.json", "events.jsonl", "results.csv"];
    for name in names.into_iter().chain(["checkpoints/seed-0.ckpt", "checkpoints/seed-3.ckpt"]) {
        fs::copy(former.join(name), at.join(name)).unwrap();
    }
    let interrupted = |event: &Event| matches!(event, Event::Interrupted { round: 2, .. });
    assert!(EventLog::read(&at.join("events.jsonl")).unwrap().iter().any(interrupted));
    assert_eq!(resume(&at, &mut After(1)).unwrap(), Ended::Interrupted { unit: 3.into(), round: 3 });
    assert_eq!(resume(&at, &mut ()).unwrap(), Ended::Finished);
    assert_eq!(Manifest::read(&at.join("manifest.json")).unwrap().status, Status::Done);

    let config = fs::read_to_string(former.join("config.toml")).unwrap();
    run(&experiment(&config, &[]), "straight", &straight, &mut ()).unwrap();
    for name in ["models/seed-3.safetensors", "results.csv", "summary.json", "checkpoints/seed-3.ckpt"] {
        assert!(fs::read(at.join(name)).unwrap() == fs::read(straight.join(name)).unwrap(), "{name}");
    }
    assert_eq!(uninterrupted(&at), uninterrupted(&straight));
}

#[test]
fn a_damaged_file_of_past_rounds_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("run");
    run(&experiment(SMALL, &["federated.rounds=3"]), "run", &at, &mut After(2)).unwrap();
    let path = at.join("checkpoints/seed-0.rounds");
    let good = fs::read(&path).unwrap();
    let last = good.len() - 1;
    for content in [&good[..last], &[&good[..last], &[good[last] ^ 1]].concat()] {
        fs::write(&path, content).unwrap();
        let error = resume(&at, &mut ()).unwrap_err().to_string();
        assert_eq!(error, format!("{}: damaged: its checksum does not match", path.display()));
    }
    fs::remove_file(&path).unwrap();
    let error = resume(&at, &mut ()).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}: No such file", path.display())), "{error}");
    // A killed process may have written rounds that the checkpoint does not count.
    fs::write(&path, [&good[..], b"more"].concat()).unwrap();
    assert_eq!(resume(&at, &mut ()).unwrap(), Ended::Finished);
}
