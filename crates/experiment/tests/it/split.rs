//! The split of a client's trials into training, validation and test.

use std::collections::{BTreeMap, BTreeSet};

use fedspd_eeg::About;
use fedspd_experiment::SharingError;
use fedspd_experiment::split::Fold;
use fedspd_experiment::split::deal::Recordings;
use fedspd_experiment::split::partition::{Assignment, Client, partition};
use fedspd_experiment::split::trials::{Split, SplitRule, split};
use fedspd_nn::{Purpose, Seed, Stream};
use proptest::prelude::*;

use crate::support::{about, cases, design, origin, physionet};

const PAPER: SplitRule = SplitRule::Stratified { train: 0.75, val: 0.10, test: 0.15 };

fn runs(of: usize, test: usize) -> SplitRule {
    SplitRule::LeaveOut { unit: Recordings::Run, fold: Fold::new(test, of).unwrap() }
}

fn stream(seed: u64) -> Stream {
    Seed(seed).stream(Purpose::Split)
}

/// Returns one client with all subjects.
fn everybody(about: &About) -> Client {
    let assignment = Assignment::Fixed { subjects_per_client: usize::MAX };
    partition(about, &assignment, &[], Seed(0)).unwrap().clients.remove(0)
}

fn parts(split: &Split) -> [&[usize]; 3] {
    [&split.train, &split.val, &split.test]
}

fn all_of(split: &Split) -> Vec<usize> {
    let mut trials = parts(split).concat();
    trials.sort_unstable();
    trials
}

fn in_order(split: &Split) -> bool {
    parts(split).iter().all(|trials| trials.is_sorted())
}

/// Counts the trials of each key in the three splits.
fn counts<K: Ord>(split: &Split, key: impl Fn(usize) -> K) -> BTreeMap<K, [usize; 3]> {
    let mut counts = BTreeMap::new();
    for (place, trials) in parts(split).into_iter().enumerate() {
        for &trial in trials {
            counts.entry(key(trial)).or_insert([0; 3])[place] += 1;
        }
    }
    counts
}

fn worst_deviation(counts: [usize; 3], shares: [f64; 3]) -> f64 {
    let total = counts.iter().sum::<usize>() as f64;
    counts.iter().zip(shares).map(|(&count, share)| (count as f64 - total * share).abs()).fold(0.0, f64::max)
}

/// A client of the paper has 180 trials, with 22 or 23 of each subject and class. Each class and
/// each class of a subject are within 1 of their shares.
#[test]
fn the_papers_clients_have_135_18_and_27_trials() {
    let about = physionet(2);
    let client = everybody(&about);
    for seed in 0..20 {
        let split = split(&about, &client, &PAPER, stream(seed)).unwrap();
        assert_eq!(parts(&split).map(<[usize]>::len), [135, 18, 27]);
        assert_eq!(all_of(&split), client.trials);
        for (_, class) in counts(&split, |trial| about.origins[trial].label) {
            assert!(worst_deviation(class, [0.75, 0.10, 0.15]) < 1.0, "{class:?}");
        }
        let group = |trial: usize| (about.origins[trial].subject.clone(), about.origins[trial].label);
        for (_, group) in counts(&split, group) {
            assert!(worst_deviation(group, [0.75, 0.10, 0.15]) < 1.0, "{group:?}");
        }
    }
}

#[test]
fn a_split_depends_on_seed_and_client_alone() {
    let about = physionet(2);
    let client = everybody(&about);
    for kind in [PAPER, runs(3, 1)] {
        let of = |stream: Stream| split(&about, &client, &kind, stream).unwrap();
        assert_eq!(of(stream(0)), of(stream(0)));
        assert_ne!(of(stream(0)), of(stream(1)));
        assert_ne!(of(stream(0)), of(stream(0).client(1)));
        // The caller's purpose has no effect.
        assert_eq!(of(stream(0)), of(Seed(0).stream(Purpose::Shuffle)));
    }
}

/// The trials of one subject do not affect the shuffling of another's trials.
#[test]
fn each_subject_and_class_has_its_own_stream() {
    let one = physionet(1);
    let two = physionet(2);
    let of = |about: &About| split(about, &everybody(about), &PAPER, stream(3)).unwrap();
    let (alone, together) = (of(&one), of(&two));
    // Rounding may change counts, but not the order of trials.
    for label in 0..4 {
        let first = |split: &Split, about: &About| -> BTreeSet<usize> {
            let own = |&&trial: &&usize| trial < one.origins.len() && about.origins[trial].label == label;
            split.train.iter().filter(own).copied().collect()
        };
        let (alone, together) = (first(&alone, &one), first(&together, &two));
        assert!(alone.is_subset(&together) || together.is_subset(&alone));
    }
}

#[test]
fn every_split_has_every_class_with_three_trials() {
    let origins = [(0, 3), (1, 4), (2, 2), (3, 30)];
    let origins = origins.into_iter().flat_map(|(label, count)| (0..count).map(move |_| origin(1, 0, label)));
    let about = about(4, origins.collect());
    let split = split(&about, &everybody(&about), &PAPER, stream(0)).unwrap();
    let counts = counts(&split, |trial| about.origins[trial].label);
    assert_eq!(counts[&0], [1, 1, 1]);
    assert_eq!(counts[&1], [2, 1, 1]);
    assert!(counts[&2][0] > 0, "{counts:?}");
    assert!(worst_deviation(counts[&3], [0.75, 0.10, 0.15]) < 1.0, "{counts:?}");
}

#[test]
fn a_share_of_nothing_gets_nothing() {
    let about = physionet(2);
    let kind = SplitRule::Stratified { train: 0.8, val: 0.0, test: 0.2 };
    let split = split(&about, &everybody(&about), &kind, stream(0)).unwrap();
    assert_eq!(parts(&split).map(<[usize]>::len), [144, 0, 36]);
}

/// Each fold of `PhysionetMI` tests and validates runs of both kinds. No run is in two splits.
#[test]
fn folds_of_physionet_test_every_class_on_whole_runs() {
    let about = physionet(3);
    let client = everybody(&about);
    for seed in 0..10 {
        for fold in 0..3 {
            let split = split(&about, &client, &runs(3, fold), stream(seed)).unwrap();
            let run =
                |trial: &usize| (about.origins[*trial].subject.clone(), about.origins[*trial].run.clone());
            let [trained, validated, tested] =
                parts(&split).map(|trials| trials.iter().map(run).collect::<BTreeSet<_>>());
            assert_eq!([trained.len(), validated.len(), tested.len()], [6, 6, 6]);
            assert_eq!(&(&trained | &validated) | &tested, client.trials.iter().map(run).collect());
            for subject in ["1", "2", "3"] {
                for trials in parts(&split) {
                    let own = trials.iter().filter(|&&trial| about.origins[trial].subject == subject);
                    let classes: BTreeSet<usize> = own.map(|&trial| about.origins[trial].label).collect();
                    assert_eq!(classes.len(), 4, "{classes:?}");
                }
            }
        }
    }
}

/// With two folds, validation takes whole runs of the training fold, as few as keep every class.
#[test]
fn two_folds_validate_on_whole_runs_of_the_other() {
    let origins = (0..8).flat_map(|run| (0..4).map(move |trial| origin(1, run, trial % 2)));
    let about = about(2, origins.collect());
    let client = everybody(&about);
    let split = split(&about, &client, &runs(2, 1), stream(0)).unwrap();
    assert_eq!(parts(&split).map(<[usize]>::len), [12, 4, 16]);
    let run = |trial: &usize| about.origins[*trial].run.clone();
    let [trained, validated, tested] =
        parts(&split).map(|trials| trials.iter().map(run).collect::<BTreeSet<_>>());
    assert_eq!([trained.len(), validated.len(), tested.len()], [3, 1, 4]);
}

#[test]
fn every_fault_is_named() {
    let about = physionet(2);
    let client = everybody(&about);
    let shares = |train: f64, val: f64, test: f64| SplitRule::Stratified { train, val, test };
    let sum = "the shares of training, validation and test are 0.75, 0.25 and 0.5, together 1.5";
    let cases = [
        (shares(0.75, 0.25, 0.5), sum),
        (
            shares(1.5, -0.5, 0.0),
            "the shares of training, validation and test are 1.5, -0.5 and 0, together 1",
        ),
        (
            shares(f64::NAN, 0.5, 0.5),
            "the shares of training, validation and test are NaN, 0.5 and 0.5, together NaN",
        ),
        (shares(0.0, 0.5, 0.5), "client `client 1` has 180 trials, but none is left for training"),
    ];
    for (kind, message) in cases {
        let error = split(&about, &client, &kind, stream(0)).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(error.hint().is_some(), "{error}");
    }

    for trial in [0, 180] {
        let stranger = Client { subjects: vec!["2".into()], trials: vec![trial], ..client.clone() };
        for kind in [PAPER, runs(2, 0)] {
            let error = split(&about, &stranger, &kind, stream(0)).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("trial {trial} of client `client 1` belongs to none of its subjects")
            );
        }
    }

    let single = crate::support::about(2, (0..8).map(|trial| origin(7, 1, trial % 2)).collect());
    let error = split(&single, &everybody(&single), &runs(2, 0), stream(0)).unwrap_err();
    assert_eq!(error.to_string(), "subject `7` has 1 run; leave-run-out needs at least 2");
    assert!(error.hint().unwrap().contains("stratified"));
    let sessions = SplitRule::LeaveOut { unit: Recordings::Session, fold: Fold::new(0, 2).unwrap() };
    let error = split(&about, &client, &sessions, stream(0)).unwrap_err();
    assert_eq!(error.to_string(), "subject `1` has 1 session; leave-session-out needs at least 2");
    assert!(error.hint().unwrap().contains("leave-run-out"));
    for (test, of, message) in [
        (0, 1, "`split.folds` is 1; it must be 2 or more"),
        (3, 3, "`split.fold` is 3; it must be less than the number of folds, 3"),
    ] {
        assert_eq!(Fold::new(test, of).unwrap_err().to_string(), message);
    }
}

proptest! {
    #![proptest_config(cases(512))]

    /// Splits are disjoint and exhaustive. The total, each class, and each class of a
    /// subject are within 1 of their shares, unless a class received an extra trial.
    #[test]
    fn stratified_splits_are_exact(
        about in design(),
        parts_of_a_whole in (1_u32..20, 0_u32..10, 0_u32..10),
        seed: u64,
    ) {
        let (a, b, c) = parts_of_a_whole;
        let whole = f64::from(a + b + c);
        let shares = [f64::from(a) / whole, f64::from(b) / whole, f64::from(c) / whole];
        let [train, val, test] = shares;
        let client = everybody(&about);
        let result = split(&about, &client, &SplitRule::Stratified { train, val, test }, stream(seed));
        let split = match result {
            // Few trials and a small share of training.
            Err(SharingError::NothingToTrain { trials, .. }) => {
                prop_assert!(trials as f64 * train < 1.0);
                return Ok(());
            }
            result => result.unwrap(),
        };
        prop_assert!(in_order(&split));
        prop_assert_eq!(all_of(&split), client.trials);

        let used = shares.iter().filter(|&&share| share > 0.0).count();
        let by_class = counts(&split, |trial| about.origins[trial].label);
        let mut helped = BTreeSet::new();
        for (&class, &counts) in &by_class {
            let size = counts.iter().sum::<usize>();
            let everywhere = counts.iter().zip(shares).all(|(&count, share)| (count > 0) == (share > 0.0));
            prop_assert!(size < used || everywhere, "{counts:?}");
            // A class receives an extra trial only if rounding alone may leave a split without it.
            if shares.iter().any(|&share| share > 0.0 && size as f64 * share < 1.0 - 1e-9) && size >= used {
                helped.insert(class);
                prop_assert!(worst_deviation(counts, shares) < 2.0 + 1e-9, "{counts:?}");
            } else {
                prop_assert!(worst_deviation(counts, shares) < 1.0 + 1e-9, "{counts:?}");
            }
        }
        let group = |trial: usize| (about.origins[trial].label, about.origins[trial].subject.clone());
        for ((class, _), counts) in counts(&split, group) {
            prop_assert!(helped.contains(&class) || worst_deviation(counts, shares) < 1.0 + 1e-9, "{counts:?}");
        }
        if helped.is_empty() {
            prop_assert!(worst_deviation(parts(&split).map(<[usize]>::len), shares) < 1.0 + 1e-9);
        }
    }

    /// The tests of all folds have every trial once, in whole runs, and so has the validation of
    /// three folds or more. The rest is training.
    #[test]
    fn folds_are_exact(about in design(), folds in 2_usize..5, seed: u64) {
        let client = everybody(&about);
        let run = |trial: usize| (about.origins[trial].subject.clone(), about.origins[trial].run.clone());
        let (mut tested, mut validated) = (Vec::new(), Vec::new());
        let mut tests_of_subject: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for fold in 0..folds {
            let split = match split(&about, &client, &runs(folds, fold), stream(seed)) {
                Err(SharingError::OneRecording { subject, .. }) => {
                    let there: BTreeSet<_> = about.trials_of(&subject).into_iter().map(run).collect();
                    prop_assert_eq!(there.len(), 1);
                    return Ok(());
                }
                Err(SharingError::NothingToTrain { .. }) => return Ok(()),
                result => result.unwrap(),
            };
            prop_assert!(in_order(&split));
            prop_assert_eq!(all_of(&split), &client.trials[..]);
            let [trained, held_out, runs] =
                parts(&split).map(|trials| trials.iter().map(|&trial| run(trial)).collect::<BTreeSet<_>>());
            prop_assert!(trained.is_disjoint(&runs) && held_out.is_disjoint(&runs));
            prop_assert!(trained.is_disjoint(&held_out));
            for subject in &client.subjects {
                let count = runs.iter().filter(|(who, _)| who == subject).count();
                tests_of_subject.entry(subject.clone()).or_default().push(count);
            }
            tested.extend(split.test);
            validated.extend(split.val);
        }
        for all in [&mut tested, &mut validated] {
            all.sort_unstable();
        }
        prop_assert_eq!(tested, &client.trials[..]);
        prop_assert!(folds == 2 || validated == client.trials);
        // Folds of a subject differ by at most one run.
        for (_, counts) in tests_of_subject {
            prop_assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
        }
    }
}
