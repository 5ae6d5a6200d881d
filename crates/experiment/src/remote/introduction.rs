//! What a site says of itself before the first round. No trial and nobody's name is in it.

use fedspd_run::Confusion;
use serde::{Deserialize, Serialize};

use super::words::one_line;
use crate::Error;
use crate::partition::check_names;

/// A site as it introduces itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Introduction {
    /// What it is called in messages and results.
    pub name: String,
    /// Its number among the clients, which names it in random streams.
    pub number: u32,
    /// The version of its software.
    pub fedspd: String,
    /// The seed that its trials are split with.
    pub seed: u64,
    /// What all sites must agree in.
    pub facts: Facts,
    /// Its trials.
    pub trials: Counts,
    /// What a person should know of its data.
    pub warning: Option<String>,
}

/// What all sites must agree in, for one network to read the trials of all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The names of the classes, in their order.
    pub classes: Vec<String>,
    /// The names of the channels, in their order.
    pub channels: Vec<String>,
    /// How many matrices a trial has.
    pub inputs: usize,
    /// How many samples a trial has; none where the network reads covariances.
    pub samples: Option<usize>,
    /// The sampling rate in Hz.
    pub sfreq: f64,
    /// The unit of the data.
    pub unit: String,
    /// The unit of what the network reads.
    pub unit_read: String,
    /// What is done to trials before the network gets them.
    pub treatment: Vec<String>,
    /// How subjects are aligned, in words.
    pub alignment: String,
    /// Whether alignment sees unlabelled test trials.
    pub transductive: bool,
}

/// Trials of each class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// To train on.
    pub train: Vec<usize>,
    /// For validation.
    pub validation: Vec<usize>,
    /// For the test.
    pub test: Vec<usize>,
}

impl Counts {
    /// How many there are to train on.
    pub fn training(&self) -> usize {
        self.train.iter().sum()
    }
}

/// As many trials of a class as nobody has: what is below it can be added up.
const TOO_MANY: usize = 1 << 32;

impl Introduction {
    /// Reads what a site says of itself, and whether it can be.
    ///
    /// # Errors
    /// [`Error::Introduction`], with what is wrong with it.
    pub fn read(text: &str) -> Result<Self, Error> {
        let unfit = |fault: String| Error::Introduction { fault };
        let mut read: Self =
            serde_json::from_str(text).map_err(|error| unfit(one_line(&error.to_string())))?;
        if read.name.is_empty() || read.name != one_line(&read.name) {
            return Err(unfit(format!("its name is {:?}", one_line(&read.name))));
        }
        let classes = read.facts.classes.len();
        let Counts { train, validation, test } = &read.trials;
        for counts in [train, validation, test] {
            if counts.len() != classes {
                return Err(unfit(format!(
                    "it counts the trials of {} classes and names {classes}",
                    counts.len()
                )));
            }
            if let Some(many) = counts.iter().find(|&&count| count >= TOO_MANY) {
                return Err(unfit(format!("it says that it has {many} trials of a class")));
            }
        }
        read.warning = read.warning.as_deref().map(one_line);
        Ok(read)
    }
}

/// Whether a confusion is of as many trials of each class as were announced.
pub(super) fn fits(confusion: &Confusion, announced: &[usize]) -> bool {
    // Before they are added up: numbers that are all within what was announced cannot overflow.
    let total: usize = announced.iter().sum();
    confusion.counts().iter().all(|&count| count <= total as u64)
        && confusion.support().iter().map(|&count| count as usize).eq(announced.iter().copied())
}

/// Sorts sites by their numbers, and checks that they can train one network together.
pub(super) fn agree(mut sites: Vec<Introduction>, seed: u64) -> Result<Vec<Introduction>, Error> {
    sites.sort_by_key(|site| site.number);
    for (place, site) in sites.iter().enumerate() {
        let expected = place as u32;
        if site.number != expected {
            let number = expected.min(site.number);
            let count = sites.iter().filter(|site| site.number == number).count();
            return Err(Error::SiteNumber { number, count, sites: sites.len() });
        }
    }
    check_names(sites.iter().map(|site| &*site.name))?;
    let Some(first) = sites.first() else { return Err(Error::Nothing) };
    let unlike = |site: &Introduction, what, expected: String, found: String| {
        let (first, site) = (first.name.clone(), site.name.clone());
        Err(Error::SitesDiffer { what, first, expected, site, found })
    };
    for site in &sites {
        if site.fedspd != env!("CARGO_PKG_VERSION") {
            let (site, found) = (site.name.clone(), site.fedspd.clone());
            return Err(Error::SiteVersion { site, found, expected: env!("CARGO_PKG_VERSION") });
        }
        if site.seed != seed {
            return unlike(site, "the seed", seed.to_string(), site.seed.to_string());
        }
        let (facts, others) = (shown(&first.facts), shown(&site.facts));
        for ((what, expected), (_, found)) in facts.into_iter().zip(others) {
            if found != expected {
                return unlike(site, what, expected, found);
            }
        }
    }
    Ok(sites)
}

fn shown(facts: &Facts) -> [(&'static str, String); 10] {
    let Facts { classes, channels, inputs, samples, sfreq, .. } = facts;
    let Facts { unit, unit_read, treatment, alignment, transductive, .. } = facts;
    [
        ("the classes", format!("{classes:?}")),
        ("the channels", format!("{channels:?}")),
        ("so many matrices a trial:", inputs.to_string()),
        ("so many samples a trial:", samples.unwrap_or(0).to_string()),
        ("the sampling rate in Hz", sfreq.to_string()),
        ("the unit", unit.clone()),
        ("after treatment the unit", unit_read.clone()),
        ("the treatment", format!("{treatment:?}")),
        ("the alignment", alignment.clone()),
        ("alignment that sees test trials:", transductive.to_string()),
    ]
}
