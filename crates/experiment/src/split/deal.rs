//! Dealing of whole runs, sessions, subjects and clients to folds.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use fedspd_eeg::{About, natural_order};
use fedspd_nn::{Purpose, Seed, Stream, shuffle};

use super::error::SharingError;
use super::partition::Client;
use super::trials::{Members, item};

/// Part of a subject's recordings that is held out as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recordings {
    /// A run.
    Run,
    /// A session with all its runs.
    Session,
}

impl Recordings {
    /// Its name, in the singular.
    pub fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Session => "session",
        }
    }
}

/// The first stream item for the assignment of recordings; smaller items are labels.
pub(super) const DEALING: usize = 1 << 31;
/// The first stream item for the inner assignment, to training and validation.
pub(super) const INNER_DEALING: usize = DEALING + (1 << 30);

/// The trials of one run or session, and its classes.
#[derive(Default)]
struct Dealt {
    trials: Vec<usize>,
    classes: BTreeSet<usize>,
}

/// Returns the fold of each trial. It does not depend on the test fold.
///
/// The recordings of a subject with the same classes go to the folds in turn. Each fold thus has
/// every class if there are enough recordings. The seed decides the fold of each recording.
pub(super) fn deal_recordings(
    about: &About,
    client: &Client,
    trials: &[usize],
    unit: Recordings,
    folds: usize,
    (stream, first_item): (Stream, usize),
) -> Result<HashMap<usize, usize>, SharingError> {
    let members = Members::of(client);
    let mut subjects: Vec<HashMap<(&str, &str), Dealt>> =
        client.subjects.iter().map(|_| HashMap::new()).collect();
    for &trial in trials {
        let subject = members.place(about, trial)?;
        let origin = &about.origins[trial];
        let run = if unit == Recordings::Run { &*origin.run } else { "" };
        let recording = subjects[subject].entry((&origin.session, run)).or_default();
        recording.trials.push(trial);
        recording.classes.insert(origin.label);
    }
    let mut fold_of = HashMap::with_capacity(trials.len());
    for (subject, recordings) in subjects.into_iter().enumerate() {
        if recordings.len() == 1 && first_item == DEALING {
            return Err(SharingError::OneRecording { subject: client.subjects[subject].clone(), unit });
        }
        let mut recordings: Vec<_> = recordings.into_iter().collect();
        recordings.sort_by(|((session, run), _), ((other_session, other_run), _)| {
            natural_order(session, other_session).then_with(|| natural_order(run, other_run))
        });
        let mut kinds: BTreeMap<BTreeSet<usize>, Vec<Vec<usize>>> = BTreeMap::new();
        for (_, recording) in recordings {
            kinds.entry(recording.classes).or_default().push(recording.trials);
        }
        // The order of the folds is shuffled. Otherwise the extra recordings of all subjects would
        // be in the first folds. Each kind continues at the fold after the previous kind, so that
        // the folds of a subject differ by at most one recording.
        let mut order: Vec<usize> = (0..folds).collect();
        shuffle(&mut stream.item(item(subject, first_item)), &mut order);
        let mut turn = order.into_iter().cycle();
        for (kind, mut recordings) in kinds.into_values().enumerate() {
            shuffle(&mut stream.item(item(subject, first_item + 1 + kind)), &mut recordings);
            for (trials, fold) in recordings.into_iter().zip(&mut turn) {
                fold_of.extend(trials.into_iter().map(|trial| (trial, fold)));
            }
        }
    }
    Ok(fold_of)
}

/// Returns an upper bound of the number of folds that keep every class of a client: for the class in
/// the fewest recordings, their number.
pub(super) fn most_folds(about: &About, trials: &[usize], unit: Recordings) -> usize {
    let mut recordings: BTreeMap<usize, BTreeSet<(&str, &str, &str)>> = BTreeMap::new();
    for &trial in trials {
        let origin = &about.origins[trial];
        let run = if unit == Recordings::Run { &*origin.run } else { "" };
        recordings.entry(origin.label).or_default().insert((&origin.subject, &origin.session, run));
    }
    recordings.values().map(BTreeSet::len).min().unwrap_or(0)
}

/// Returns the fold of each subject of a client. The seed shuffles the subjects of each client. They
/// then go to folds in turn, after the subjects of the clients before. Folds thus differ by at most
/// one subject, and a client's subjects are in different folds if it has few.
pub(super) fn deal_subjects(
    subjects: usize,
    (number, before): (u32, usize),
    folds: usize,
    seed: Seed,
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..subjects).collect();
    shuffle(&mut seed.stream(Purpose::Split).client(number).item(item(0, DEALING)), &mut order);
    let start = rotation(folds, seed) + before;
    let mut fold_of = vec![0; subjects];
    for (turn, subject) in order.into_iter().enumerate() {
        fold_of[subject] = (start + turn) % folds;
    }
    fold_of
}

/// Returns the fold of each client. The seed shuffles the clients, which go to folds in turn.
pub(super) fn deal_clients(clients: usize, folds: usize, seed: Seed) -> Vec<usize> {
    let mut order: Vec<usize> = (0..clients).collect();
    shuffle(&mut seed.stream(Purpose::Partition).item(CLIENTS), &mut order);
    let mut fold_of = vec![0; clients];
    for (turn, client) in order.into_iter().enumerate() {
        fold_of[client] = turn % folds;
    }
    fold_of
}

/// Returns the fold of the first subject of the first client.
fn rotation(folds: usize, seed: Seed) -> usize {
    let mut order: Vec<usize> = (0..folds).collect();
    shuffle(&mut seed.stream(Purpose::Partition).item(ROTATION), &mut order);
    order[0]
}

/// Stream items of the partition. Item 0 shuffles subjects into clients.
const ROTATION: u64 = 1;
const CLIENTS: u64 = 2;
