//! The split of a client's trials into training, validation and test.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use fedspd_eeg::{About, natural_order};
use fedspd_nn::{Purpose, Stream, shuffle};

use super::apportion::{SPLITS, Shares};
use super::error::SharingError;
use super::partition::Client;

/// Rule that splits trials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SplitRule {
    /// Random split within each subject and class, with shares that add up to one.
    Stratified {
        /// The share of training.
        train: f64,
        /// The share of validation.
        val: f64,
        /// The share of the test.
        test: f64,
    },
    /// Whole runs for the test. With a random split, a model can recognise the run and thereby its
    /// classes.
    LeaveRunOut {
        /// The number of folds.
        folds: usize,
        /// The test fold, counted from 0.
        fold: usize,
        /// The share of validation in the other folds, at random within each subject and class.
        val: f64,
    },
}

/// The indices of trials, ascending. Each trial of the client is in exactly one split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Training trials.
    pub train: Vec<usize>,
    /// Validation trials.
    pub val: Vec<usize>,
    /// Test trials.
    pub test: Vec<usize>,
}

/// Splits a client's trials. The stream is the client's; this function sets its purpose.
///
/// **Stratified.** The counts of the client, of each class, and of each class of a subject are
/// their shares rounded up or down. At 75/10/15%, 22 trials become 16 or 17, 2 or 3, and 3 or 4.
/// Rounding errors of groups cancel. A class of three trials or more may then be missing in a
/// split. This split gets a trial from the split with the largest surplus of the class. A total may
/// then be off by more than one.
///
/// **Leave-run-out.** The runs of a subject with the same classes go to the folds in turn. Each
/// fold thus has every class if there are enough runs. The seed decides the fold of each run. The
/// test trials of all folds together are all trials, each once.
///
/// # Errors
/// - shares or folds out of range;
/// - a trial that belongs to none of the client's subjects;
/// - a subject with only one run, for leave-run-out;
/// - no trial left for training.
pub fn split(
    about: &About,
    client: &Client,
    rule: &SplitRule,
    stream: Stream,
) -> Result<Split, SharingError> {
    let stream = stream.purpose(Purpose::Split);
    let mut split = match *rule {
        SplitRule::Stratified { train, val, test } => {
            let shares = Shares::new([train, val, test]).ok_or(SharingError::Shares { train, val, test })?;
            stratified(&groups(about, client, &client.trials)?, shares, stream)
        }
        SplitRule::LeaveRunOut { folds, fold, val } => {
            check_folds(folds, fold)?;
            let shares = Shares::new([1.0 - val, val, 0.0]).filter(|_| val < 1.0).ok_or_else(|| {
                SharingError::Setting {
                    name: "val",
                    value: val.to_string(),
                    expected: "at least 0 and less than 1".into(),
                }
            })?;
            let fold_of = deal_runs(about, client, folds, stream)?;
            let (test, rest): (Vec<usize>, Vec<usize>) =
                client.trials.iter().partition(|trial| fold_of.get(trial) == Some(&fold));
            Split { test, ..stratified(&groups(about, client, &rest)?, shares, stream) }
        }
    };
    if split.train.is_empty() {
        return Err(SharingError::NothingToTrain {
            client: client.name.clone(),
            trials: client.trials.len(),
        });
    }
    for trials in [&mut split.train, &mut split.val, &mut split.test] {
        trials.sort_unstable();
    }
    Ok(split)
}

fn check_folds(folds: usize, fold: usize) -> Result<(), SharingError> {
    if folds < 2 {
        return Err(SharingError::Setting {
            name: "folds",
            value: folds.to_string(),
            expected: "2 or more".into(),
        });
    }
    if fold >= folds {
        let expected = format!("less than the number of folds, {folds}");
        return Err(SharingError::Setting { name: "fold", value: fold.to_string(), expected });
    }
    Ok(())
}

/// The trials of one subject with one label, by label and index of the subject in the client.
type Groups = BTreeMap<(usize, usize), Vec<usize>>;

fn groups(about: &About, client: &Client, trials: &[usize]) -> Result<Groups, SharingError> {
    let mut groups = Groups::new();
    let subjects = Members::of(client);
    for &trial in trials {
        let subject = subjects.place(about, trial)?;
        groups.entry((about.origins[trial].label, subject)).or_default().push(trial);
    }
    Ok(groups)
}

/// The indices of a client's subjects.
struct Members<'c> {
    client: &'c Client,
    places: HashMap<&'c str, usize>,
}

impl<'c> Members<'c> {
    fn of(client: &'c Client) -> Self {
        let places = client.subjects.iter().enumerate().map(|(place, subject)| (&**subject, place)).collect();
        Self { client, places }
    }

    fn place(&self, about: &About, trial: usize) -> Result<usize, SharingError> {
        let subject = about.origins.get(trial).and_then(|origin| self.places.get(&*origin.subject));
        subject.copied().ok_or_else(|| SharingError::ForeignTrial { client: self.client.name.clone(), trial })
    }
}

/// Returns the item of the client's stream for a subject and one of its labels or kinds of run.
fn item(subject: usize, within: usize) -> u64 {
    (subject as u64) << 32 | within as u64
}

fn stratified(groups: &Groups, shares: Shares, stream: Stream) -> Split {
    let mut by_class: BTreeMap<usize, Vec<(usize, &[usize])>> = BTreeMap::new();
    for (&(label, subject), trials) in groups {
        by_class.entry(label).or_default().push((subject, trials));
    }
    let size = |class: &[(usize, &[usize])]| class.iter().map(|(_, trials)| trials.len()).sum();
    let sizes: Vec<usize> = by_class.values().map(|class| size(class)).collect();
    let totals = shares.rows(&sizes, shares.totals(sizes.iter().sum()));

    let mut split = Split { train: Vec::new(), val: Vec::new(), test: Vec::new() };
    for ((label, class), totals) in by_class.into_iter().zip(totals) {
        let sizes: Vec<usize> = class.iter().map(|(_, trials)| trials.len()).collect();
        let mut counts = shares.rows(&sizes, totals);
        leave_no_split_empty(&mut counts, &sizes, shares);
        for ((subject, trials), [train, val, _]) in class.into_iter().zip(counts) {
            let mut trials = trials.to_vec();
            shuffle(&mut stream.item(item(subject, label)), &mut trials);
            let (first, rest) = trials.split_at(train);
            let (second, third) = rest.split_at(val);
            split.train.extend_from_slice(first);
            split.val.extend_from_slice(second);
            split.test.extend_from_slice(third);
        }
    }
    split
}

/// Gives every split a trial of a class that has enough trials. `counts` are those of the class, by
/// subject.
fn leave_no_split_empty(counts: &mut [[usize; SPLITS]], sizes: &[usize], shares: Shares) {
    let needed = (0..SPLITS).filter(|&split| !shares.is_none(split)).count();
    if sizes.iter().sum::<usize>() < needed {
        return;
    }
    for empty in (0..SPLITS).filter(|&split| !shares.is_none(split)) {
        let total = |split: usize| counts.iter().map(|row| row[split]).sum::<usize>();
        if total(empty) > 0 {
            continue;
        }
        // The split and subject furthest above their share after the change; the first of equals.
        let mut best: Option<(f64, usize, usize)> = None;
        for giver in (0..SPLITS).filter(|&split| total(split) > 1) {
            for (row, &size) in sizes.iter().enumerate().filter(|&(row, _)| counts[row][giver] > 0) {
                let surplus =
                    counts[row][giver] as f64 - shares.target(size, giver) + shares.target(size, empty);
                if best.is_none_or(|(most, ..)| surplus > most) {
                    best = Some((surplus, row, giver));
                }
            }
        }
        if let Some((_, row, giver)) = best {
            counts[row][giver] -= 1;
            counts[row][empty] += 1;
        }
    }
}

/// The trials of one run, and its classes.
#[derive(Default)]
struct RunTrials {
    trials: Vec<usize>,
    classes: BTreeSet<usize>,
}

/// Returns the fold of each trial. It does not depend on the test fold.
fn deal_runs(
    about: &About,
    client: &Client,
    folds: usize,
    stream: Stream,
) -> Result<HashMap<usize, usize>, SharingError> {
    let members = Members::of(client);
    let mut runs: Vec<HashMap<(&str, &str), RunTrials>> =
        client.subjects.iter().map(|_| HashMap::new()).collect();
    for &trial in &client.trials {
        let subject = members.place(about, trial)?;
        let origin = &about.origins[trial];
        let run = runs[subject].entry((&origin.session, &origin.run)).or_default();
        run.trials.push(trial);
        run.classes.insert(origin.label);
    }
    let mut fold_of = HashMap::with_capacity(client.trials.len());
    for (subject, runs) in runs.into_iter().enumerate() {
        if runs.len() == 1 {
            return Err(SharingError::TooFewRuns { subject: client.subjects[subject].clone(), runs: 1 });
        }
        let mut runs: Vec<_> = runs.into_iter().collect();
        runs.sort_by(|((session, run), _), ((other_session, other_run), _)| {
            natural_order(session, other_session).then_with(|| natural_order(run, other_run))
        });
        let mut kinds: BTreeMap<BTreeSet<usize>, Vec<Vec<usize>>> = BTreeMap::new();
        for (_, run) in runs {
            kinds.entry(run.classes).or_default().push(run.trials);
        }
        // The order of the folds is shuffled. Otherwise the extra runs of all subjects would be in
        // the first folds. Each kind continues at the fold after the previous kind, so that the
        // folds of a subject differ by at most one run.
        let mut order: Vec<usize> = (0..folds).collect();
        shuffle(&mut stream.item(item(subject, DEALING)), &mut order);
        let mut turn = order.into_iter().cycle();
        for (kind, mut runs) in kinds.into_values().enumerate() {
            shuffle(&mut stream.item(item(subject, DEALING + 1 + kind)), &mut runs);
            for (trials, fold) in runs.into_iter().zip(&mut turn) {
                fold_of.extend(trials.into_iter().map(|trial| (trial, fold)));
            }
        }
    }
    Ok(fold_of)
}

/// The first stream item for the assignment of runs; smaller items are labels.
const DEALING: usize = 1 << 31;
