//! Helpers: designs (trials by subject, class and run), and runs in temporary folders.

use fedspd_eeg::{About, Origin};
use fedspd_experiment::{Experiment, Observer, RoundProgress, run};
use fedspd_run::{Event, EventLog, ResultTable, Round};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

/// Property tests with a fixed seed: the same cases everywhere. `PROPTEST_RNG_SEED` explores
/// others.
pub(crate) fn cases(cases: u32) -> Config {
    let default = Config::default();
    let rng_seed = if default.rng_seed == RngSeed::Random { RngSeed::Fixed(0) } else { default.rng_seed };
    Config { cases, rng_seed, failure_persistence: None, ..default }
}

pub(crate) fn about(classes: usize, origins: Vec<Origin>) -> About {
    About {
        classes: (0..classes).map(|class| format!("class {class}")).collect(),
        channels: vec!["Cz".into()],
        sfreq: 160.0,
        unit: fedspd_eeg::SQUARE_MICROVOLTS.into(),
        making: fedspd_eeg::Making::default(),
        origins,
    }
}

pub(crate) fn origin(subject: usize, run: usize, label: usize) -> Origin {
    Origin { label, subject: subject.to_string(), session: "0".into(), run: run.to_string() }
}

/// Returns a design like `PhysionetMI`, with 15 trials per run. Runs 4, 8 and 12 have the left and
/// the right hand, runs 6, 10 and 14 both hands and the feet.
pub(crate) fn physionet(subjects: usize) -> About {
    let runs = [(4, 0), (6, 2), (8, 0), (10, 2), (12, 0), (14, 2)];
    let trials = (1..=subjects).flat_map(|subject| {
        let of_run = move |(run, class): (usize, usize)| {
            (0..15).map(move |trial| origin(subject, run, class + (trial + run / 4) % 2))
        };
        runs.into_iter().flat_map(of_run)
    });
    about(4, trials.collect())
}

/// Draws designs of 1 to 6 subjects, 2 to 7 classes and 2 to 6 runs. Groups of trials are unequal,
/// many of them tiny or empty. Trials are in any order.
pub(crate) fn design() -> impl Strategy<Value = About> {
    (1_usize..=6, 2_usize..=7, 2_usize..=6)
        .prop_flat_map(|(subjects, classes, runs)| {
            let size = prop_oneof![Just(0_usize), 0_usize..4, 4_usize..30];
            let sizes = prop::collection::vec(size, subjects * classes);
            (Just((subjects, classes, runs)), sizes, any::<u64>())
        })
        .prop_flat_map(|((_, classes, runs), sizes, salt)| {
            let mut origins = Vec::new();
            for (group, &size) in sizes.iter().enumerate() {
                let (subject, label) = (1 + group / classes, group % classes);
                for trial in 0..size {
                    // Some classes share runs, some have their own.
                    let run =
                        if salt.is_multiple_of(2) { trial % runs } else { (trial % runs) * 2 + label % 2 };
                    origins.push(origin(subject, run, label));
                }
            }
            (Just(classes), Just(origins).prop_shuffle())
        })
        .prop_filter("no trials", |(_, origins)| !origins.is_empty())
        .prop_map(|(classes, origins)| about(classes, origins))
}

/// Collects warnings.
#[derive(Default)]
pub(crate) struct Warnings(pub(crate) Vec<String>);

impl Observer for Warnings {
    fn round(&mut self, _: &RoundProgress) {}

    fn warning(&mut self, text: &str) {
        self.0.push(text.to_owned());
    }

    fn interrupted(&self) -> bool {
        false
    }
}

/// Runs an experiment. Returns its results and the rounds of its log.
pub(crate) fn in_folder(
    experiment: &Experiment,
    observer: &mut (dyn Observer + Send),
) -> (ResultTable, Vec<Round>) {
    let folder = tempfile::tempdir().unwrap();
    let (table, _) = run(experiment, "test", &folder.path().join("run"), observer).unwrap();
    let events = EventLog::read(&folder.path().join("run/events.jsonl")).unwrap();
    let rounds = events.into_iter().filter_map(|event| match event {
        Event::Round(round) => Some(round),
        _ => None,
    });
    (table, rounds.collect())
}
