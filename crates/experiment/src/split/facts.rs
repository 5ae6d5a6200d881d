//! Facts about trials and their split, for the caveats of a report.

use std::collections::{BTreeMap, BTreeSet};

use fedspd_eeg::{About, Origin};
use fedspd_run::TrialFacts;
use sha2::{Digest, Sha256};

use super::Design;
use crate::error::hexadecimal;

/// A run: subject, session and name.
type Run<'a> = (&'a str, &'a str, &'a str);

fn run(origin: &Origin) -> Run<'_> {
    (&origin.subject, &origin.session, &origin.run)
}

/// Counts the runs, and those that lack a class of their subject.
pub(crate) fn of_trials(about: &About) -> TrialFacts {
    let mut of_subjects: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    let mut of_runs: BTreeMap<Run<'_>, BTreeSet<usize>> = BTreeMap::new();
    for origin in &about.origins {
        of_subjects.entry(&origin.subject).or_default().insert(origin.label);
        of_runs.entry(run(origin)).or_default().insert(origin.label);
    }
    let lacks = |((subject, ..), classes): &(&Run<'_>, &BTreeSet<usize>)| {
        classes.len() < of_subjects.get(subject).map_or(0, BTreeSet::len)
    };
    TrialFacts {
        runs: of_runs.len(),
        partial_runs: of_runs.iter().filter(lacks).count(),
        ..TrialFacts::default()
    }
}

/// Adds a split: the subjects and the runs with training and test trials.
pub(crate) fn with_split(facts: TrialFacts, about: &About, design: &Design) -> TrialFacts {
    let pooled = design.pooled();
    let shared = |key: fn(&Origin) -> Run<'_>| {
        let of = |trials: &[usize]| -> BTreeSet<Run<'_>> {
            trials.iter().map(|&trial| key(&about.origins[trial])).collect()
        };
        of(&pooled.train).intersection(&of(&pooled.test)).count()
    };
    let subjects = shared(|origin| (&origin.subject, "", ""));
    TrialFacts {
        shared_subjects: facts.shared_subjects.max(subjects),
        shared_runs: facts.shared_runs.max(shared(run)),
        ..facts
    }
}

/// Returns a hash of the test trials, in hexadecimal digits: the exclusive or of the SHA-256 of
/// subject, session, run, place in the run and class of each trial.
///
/// Hashes of folds thus combine to that of all trials. The numbers of a trial do not matter, so
/// that two ways of preparing the same trials agree.
pub(crate) fn test_sha256(about: &About, test: &[usize]) -> String {
    let mut counts: BTreeMap<Run<'_>, u64> = BTreeMap::new();
    let places: Vec<u64> = about
        .origins
        .iter()
        .map(|origin| {
            let count = counts.entry(run(origin)).or_default();
            *count += 1;
            *count
        })
        .collect();
    let mut all = [0_u8; 32];
    for &trial in test {
        let origin = &about.origins[trial];
        let (subject, session, run) = run(origin);
        let mut hash = Sha256::new();
        for text in [subject, session, run, &*about.classes[origin.label]] {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        hash.update(places[trial].to_le_bytes());
        all.iter_mut().zip(hash.finalize()).for_each(|(all, own)| *all ^= own);
    }
    hexadecimal(&all)
}

#[cfg(test)]
mod tests {
    use fedspd_eeg::{Making, SQUARE_MICROVOLTS};

    use super::*;
    use crate::config::{Config, SplitKind};

    /// Returns three subjects with four runs of eight trials. A run has these classes in turn.
    fn trials(classes_of_run: fn(usize) -> [usize; 2]) -> About {
        let origin = |subject: usize, run: usize, trial: usize| Origin {
            label: classes_of_run(run)[trial % 2],
            subject: subject.to_string(),
            session: "1".into(),
            run: run.to_string(),
        };
        let runs = (0..3).flat_map(|subject| (0..4).map(move |run| (subject, run)));
        About {
            classes: ["a", "b", "c", "d"].map(String::from).into(),
            channels: vec!["Cz".into()],
            sfreq: 1.0,
            unit: SQUARE_MICROVOLTS.into(),
            making: Making::default(),
            origins: runs
                .flat_map(|(subject, run)| (0..8).map(move |trial| origin(subject, run, trial)))
                .collect(),
        }
    }

    fn blocked() -> About {
        trials(|run| if run % 2 == 0 { [0, 1] } else { [2, 3] })
    }

    #[test]
    fn runs_without_a_class_of_their_subject_are_counted() {
        assert_eq!((of_trials(&blocked()).runs, of_trials(&blocked()).partial_runs), (12, 12));
        let mixed = of_trials(&trials(|_| [0, 1]));
        assert_eq!((mixed.runs, mixed.partial_runs), (12, 0));
    }

    #[test]
    fn a_split_tells_what_training_and_test_share() {
        let about = trials(|_| [0, 1]);
        let mut config = Config::new("made");
        let facts = |config: &Config| {
            let design = Design::new(config, &about, 0, None).unwrap();
            let facts = with_split(TrialFacts::default(), &about, &design);
            (facts.shared_subjects, facts.shared_runs > 0)
        };
        assert_eq!(facts(&config), (3, true));
        config.split.kind = SplitKind::LeaveRunOut;
        assert_eq!(facts(&config), (3, false));
        config.split.kind = SplitKind::LeaveSubjectOut;
        assert_eq!(facts(&config), (0, false));
    }

    #[test]
    fn a_hash_stands_for_the_test_trials() {
        let about = blocked();
        let hash = test_sha256(&about, &[3, 40, 7]);
        assert_eq!(hash, test_sha256(&about, &[7, 3, 40]));
        assert_ne!(hash, test_sha256(&about, &[7, 3, 41]));
        assert_ne!(hash, test_sha256(&about, &[7, 3]));
        let mut renamed = about.clone();
        renamed.origins[7].run = "another".into();
        assert_ne!(hash, test_sha256(&renamed, &[3, 40, 7]));
    }
}
