//! Subjects go to clients.

use std::collections::HashMap;

use fedspd_eeg::{About, natural_order};
use fedspd_nn::{Purpose, Seed, shuffle};

use super::error::SharingError;

/// Which subjects make a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assignment {
    /// Consecutive subjects in the order of their numbers, whatever the seed. The last client may have fewer.
    Fixed {
        /// How many make a client.
        subjects_per_client: usize,
    },
    /// Subjects in an order that the seed decides. The last client may have fewer.
    Shuffled {
        /// How many make a client.
        subjects_per_client: usize,
    },
    /// Clients by name, with the subjects of each.
    Map(Vec<(String, Vec<String>)>),
}

/// Who has which trials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The clients.
    pub clients: Vec<Client>,
    /// The subjects that are kept away from training, in natural order.
    pub held_out: Vec<HeldOut>,
    /// The subjects that a map does not name, in natural order: nobody has their trials.
    pub unused: Vec<String>,
}

/// A client and its trials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Its name.
    pub name: String,
    /// Its subjects: in natural order, or as the map has them.
    pub subjects: Vec<String>,
    /// The places of their trials, ascending.
    pub trials: Vec<usize>,
}

/// A subject that is kept away from training.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldOut {
    /// Who.
    pub subject: String,
    /// The places of the trials, ascending.
    pub trials: Vec<usize>,
}

/// Clients that results are reported under beside the real ones.
const RESERVED: [&str; 4] = ["", "pooled", "mean", "worst"];

/// Shares the subjects out. No subject has two clients; one that is held out has none.
///
/// # Errors
/// When there are no trials, no clients or nobody to train on, a subject is unknown or named twice, or a client's name cannot be used.
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

/// Names that results can be reported under.
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

/// Numbered clients of consecutive subjects.
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

/// The subjects with their trials, and who has taken them.
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

    /// Gives a subject's trials to whoever asks first.
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
