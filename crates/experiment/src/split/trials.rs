//! The split of a client's trials into training, validation and test.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use fedspd_eeg::About;
use fedspd_nn::{Purpose, Stream, shuffle};

use super::apportion::{SPLITS, Shares};
use super::deal::{DEALING, INNER_DEALING, Recordings, deal_recordings, most_folds};
use super::error::SharingError;
use super::folds::Fold;
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
    /// Whole runs or sessions for the test, and others for the validation. With a random split, a
    /// model can recognise the run and thereby its classes.
    LeaveOut {
        /// The recordings that stay together.
        unit: Recordings,
        /// The folds.
        fold: Fold,
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
/// **Leave-out.** Runs or sessions go to folds as `deal_recordings` says. The test trials of all
/// folds together are all trials, each once. Validation is the fold opposite the test. With two
/// folds, the other fold is divided again by whole runs. Validation then gets the smallest share
/// that keeps every class.
///
/// # Errors
/// - shares out of range;
/// - a trial that belongs to none of the client's subjects;
/// - a subject with only one run or session, for leave-out splits;
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
        SplitRule::LeaveOut { unit, fold } => leave_out(about, client, unit, fold, stream)?,
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

/// Splits the trials of a client by whole runs or sessions.
fn leave_out(
    about: &About,
    client: &Client,
    unit: Recordings,
    fold: Fold,
    stream: Stream,
) -> Result<Split, SharingError> {
    let dealt = deal_recordings(about, client, &client.trials, unit, fold.of, (stream, DEALING))?;
    let (test, rest): (Vec<usize>, Vec<usize>) =
        client.trials.iter().partition(|trial| dealt.get(trial) == Some(&fold.test));
    if fold.of > 2 {
        let (val, train) = rest.iter().partition(|trial| dealt.get(trial) == Some(&fold.validation()));
        return Ok(Split { train, val, test });
    }
    let classes = |trials: &[usize]| -> BTreeSet<usize> {
        trials.iter().map(|&trial| about.origins[trial].label).collect()
    };
    // The training fold has too few recordings for a third fold, so that runs are dealt again.
    let mut split = Split { train: rest.clone(), val: Vec::new(), test };
    for folds in (2..=most_folds(about, &rest, Recordings::Run)).rev() {
        let dealt = deal_recordings(about, client, &rest, Recordings::Run, folds, (stream, INNER_DEALING))?;
        let (val, train): (Vec<usize>, Vec<usize>) =
            rest.iter().partition(|trial| dealt.get(trial) == Some(&0));
        split = Split { train, val, ..split };
        if classes(&split.val) == classes(&rest) && classes(&split.train) == classes(&rest) {
            break;
        }
    }
    Ok(split)
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
pub(super) struct Members<'c> {
    client: &'c Client,
    places: HashMap<&'c str, usize>,
}

impl<'c> Members<'c> {
    pub(super) fn of(client: &'c Client) -> Self {
        let places = client.subjects.iter().enumerate().map(|(place, subject)| (&**subject, place)).collect();
        Self { client, places }
    }

    pub(super) fn place(&self, about: &About, trial: usize) -> Result<usize, SharingError> {
        let subject = about.origins.get(trial).and_then(|origin| self.places.get(&*origin.subject));
        subject.copied().ok_or_else(|| SharingError::ForeignTrial { client: self.client.name.clone(), trial })
    }
}

/// Returns the item of the client's stream for a subject and one of its labels or kinds of run.
pub(super) fn item(subject: usize, within: usize) -> u64 {
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
