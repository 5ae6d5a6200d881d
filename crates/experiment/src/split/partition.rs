//! Assignment of subjects to clients.

use std::collections::HashMap;

use fedspd_eeg::{About, natural_order};
use fedspd_nn::{Purpose, Seed, shuffle};

use super::error::SharingError;

/// Rule that assigns subjects to clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assignment {
    /// Consecutive subjects in natural order, for every seed. The last client may have fewer.
    Fixed {
        /// The number of subjects of a client.
        subjects_per_client: usize,
    },
    /// Subjects in an order that the seed shuffles. The last client may have fewer.
    Shuffled {
        /// The number of subjects of a client.
        subjects_per_client: usize,
    },
    /// Clients by name, with the subjects of each.
    Map(Vec<(String, Vec<String>)>),
}

/// Assignment of subjects and trials to clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The clients.
    pub clients: Vec<Client>,
    /// The held-out subjects, in natural order.
    pub held_out: Vec<HeldOut>,
    /// The subjects that a map does not name, in natural order. No client has their trials.
    pub unused: Vec<String>,
}

/// A client and its trials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Its name.
    pub name: String,
    /// Its subjects, in natural order or in the order of the map.
    pub subjects: Vec<String>,
    /// The indices of their trials, ascending.
    pub trials: Vec<usize>,
}

/// A subject that no client trains on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldOut {
    /// The subject.
    pub subject: String,
    /// The indices of its trials, ascending.
    pub trials: Vec<usize>,
}

/// Names that results use beside those of clients, and the empty name.
const RESERVED: [&str; 4] = ["", "pooled", "mean", "worst"];

/// Assigns the subjects to clients. A subject has at most one client; a held-out subject has none.
///
/// # Errors
/// - no trials, no clients, or no subjects for training;
/// - a subject that is unknown or named twice;
/// - a client with a reserved name.
pub fn partition(
    about: &About,
    assignment: &Assignment,
    held_out: &[String],
    seed: Seed,
) -> Result<Partition, SharingError> {
    let mut subjects = Subjects::of(about)?;
    let mut held_out = held_out
        .iter()
        .map(|subject| {
            Ok(HeldOut { subject: subject.clone(), trials: subjects.take(subject, "the held-out list")? })
        })
        .collect::<Result<Vec<_>, SharingError>>()?;
    held_out.sort_by(|a, b| natural_order(&a.subject, &b.subject));
    let free = subjects.free();
    if free.is_empty() {
        return Err(SharingError::AllHeldOut { subjects: held_out.len() });
    }
    let groups = match assignment {
        Assignment::Map(map) => check_map(map).map(|()| map.clone())?,
        Assignment::Fixed { subjects_per_client } => groups(&free, *subjects_per_client)?,
        Assignment::Shuffled { subjects_per_client } => {
            let mut order = free;
            shuffle(&mut seed.stream(Purpose::Partition).item(0), &mut order);
            groups(&order, *subjects_per_client)?
        }
    };
    let mut clients = Vec::with_capacity(groups.len());
    for (name, members) in groups {
        let place = format!("client `{name}`");
        let mut trials = Vec::new();
        for subject in &members {
            trials.extend(subjects.take(subject, &place)?);
        }
        if trials.is_empty() {
            return Err(SharingError::EmptyClient { client: name });
        }
        trials.sort_unstable();
        clients.push(Client { name, subjects: members, trials });
    }
    Ok(Partition { clients, held_out, unused: subjects.free() })
}

fn check_map(map: &[(String, Vec<String>)]) -> Result<(), SharingError> {
    if map.is_empty() {
        return Err(SharingError::NoClients);
    }
    check_names(map.iter().map(|(name, _)| &**name))
}

/// Checks that names of clients are distinct and not reserved.
pub(crate) fn check_names<'a>(clients: impl Iterator<Item = &'a str>) -> Result<(), SharingError> {
    let mut names = std::collections::HashSet::new();
    for name in clients {
        if RESERVED.contains(&name) {
            return Err(SharingError::ClientName { name: name.to_owned() });
        }
        if !names.insert(name) {
            return Err(SharingError::ClientTwice { name: name.to_owned() });
        }
    }
    Ok(())
}

/// Groups consecutive subjects into numbered clients.
fn groups(order: &[String], size: usize) -> Result<Vec<(String, Vec<String>)>, SharingError> {
    if size == 0 {
        return Err(SharingError::Setting {
            name: "subjects_per_client",
            value: "0".into(),
            expected: "1 or more".into(),
        });
    }
    let group = |(place, members): (usize, &[String])| {
        let mut members = members.to_vec();
        members.sort_by(|a, b| natural_order(a, b));
        (format!("client {}", place + 1), members)
    };
    Ok(order.chunks(size).enumerate().map(group).collect())
}

/// The subjects with their trials and their owners.
struct Subjects<'a> {
    /// In natural order.
    names: Vec<&'a str>,
    trials: HashMap<&'a str, Vec<usize>>,
    takers: HashMap<&'a str, String>,
}

impl<'a> Subjects<'a> {
    fn of(about: &'a About) -> Result<Self, SharingError> {
        if about.origins.is_empty() {
            return Err(SharingError::NoTrials);
        }
        let mut trials: HashMap<&str, Vec<usize>> = HashMap::new();
        for (trial, origin) in about.origins.iter().enumerate() {
            trials.entry(&origin.subject).or_default().push(trial);
        }
        let mut names: Vec<&str> = trials.keys().copied().collect();
        names.sort_by(|a, b| natural_order(a, b));
        Ok(Self { names, trials, takers: HashMap::new() })
    }

    /// Takes the trials of a subject, which can be taken once.
    fn take(&mut self, subject: &str, taker: &str) -> Result<Vec<usize>, SharingError> {
        let Some((&name, trials)) = self.trials.get_key_value(subject) else {
            return Err(SharingError::UnknownSubject {
                subject: subject.to_owned(),
                place: taker.to_owned(),
                known: self.names.iter().map(|&name| name.to_owned()).collect(),
            });
        };
        match self.takers.insert(name, taker.to_owned()) {
            None => Ok(trials.clone()),
            Some(first) => Err(SharingError::SubjectTwice {
                subject: subject.to_owned(),
                places: [first, taker.to_owned()],
            }),
        }
    }

    fn free(&self) -> Vec<String> {
        let free = self.names.iter().filter(|&name| !self.takers.contains_key(name));
        free.map(|&name| name.to_owned()).collect()
    }
}
