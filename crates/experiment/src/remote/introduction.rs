//! The introduction of a site before the first round. It holds no trial and no subject's name.

use fedspd_eeg::{Difference, Preparation};
use fedspd_nn::InputShape;
use fedspd_run::Confusion;
use serde::{Deserialize, Serialize};

use super::one_line::one_line;
use crate::Error;
use crate::split::partition::check_names;

/// The introduction of a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Introduction {
    /// Its name in messages and results.
    pub name: String,
    /// The client's index, from 0, as in a single-process run. Random streams depend on it.
    pub number: u32,
    /// The version of its software.
    pub fedspd: String,
    /// The seed of its split.
    pub seed: u64,
    /// Facts that must be equal at all sites.
    pub facts: Facts,
    /// Its numbers of trials.
    pub trials: Counts,
    /// A warning about its data.
    pub warning: Option<String>,
}

/// Facts that must be equal at all sites, so that one network can read all trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// How trials became the input of the network.
    pub preparation: Preparation,
    /// The number of matrices per trial.
    pub inputs: usize,
    /// The number of samples per trial; none if the network reads covariances.
    pub samples: Option<usize>,
    /// The unit of the data, before alignment.
    pub unit: String,
    /// The name of the alignment in results.
    pub alignment: String,
    /// Whether alignment uses unlabelled test trials.
    pub transductive: bool,
}

/// Numbers of trials of each class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Training trials.
    pub train: Vec<usize>,
    /// Validation trials.
    pub validation: Vec<usize>,
    /// Test trials.
    pub test: Vec<usize>,
}

impl Facts {
    /// Returns the shape of the trials, for which networks are built.
    pub(super) fn shape(&self) -> InputShape {
        InputShape {
            channels: self.preparation.channels.len(),
            inputs: self.inputs,
            samples: self.samples.unwrap_or(0),
            sfreq: self.preparation.sfreq.unwrap_or(f64::NAN),
            classes: self.preparation.classes.len(),
        }
    }
}

impl Counts {
    /// Returns the number of training trials.
    pub fn training(&self) -> usize {
        self.train.iter().sum()
    }
}

/// The limit of trials of a class. Smaller counts add up without overflow.
const TOO_MANY: usize = 1 << 32;

impl Introduction {
    /// Reads and checks an introduction.
    ///
    /// # Errors
    /// [`Error::Introduction`] with the fault.
    pub fn read(text: &str) -> Result<Self, Error> {
        let unfit = |fault: String| Error::Introduction { fault };
        let mut read: Self =
            serde_json::from_str(text).map_err(|error| unfit(one_line(&error.to_string())))?;
        if read.name.is_empty() || read.name != one_line(&read.name) {
            return Err(unfit(format!(
                "its name is {:?}; it must be one line of text",
                one_line(&read.name)
            )));
        }
        let Facts { unit, alignment, preparation, .. } = &read.facts;
        let named = [("version", &read.fedspd), ("unit", unit), ("alignment", alignment)];
        let listed = preparation.classes.iter().map(|name| ("class", name));
        let listed = listed.chain(preparation.channels.iter().map(|name| ("channel", name)));
        for (what, text) in named.into_iter().chain(listed) {
            if *text != one_line(text) {
                return Err(unfit(format!(
                    "its {what} is {:?}; it must be one line of text",
                    one_line(text)
                )));
            }
        }
        let classes = read.facts.preparation.classes.len();
        let Counts { train, validation, test } = &read.trials;
        for counts in [train, validation, test] {
            if counts.len() != classes {
                return Err(unfit(format!("it has trial counts for {} of {classes} classes", counts.len())));
            }
            if let Some(many) = counts.iter().find(|&&count| count >= TOO_MANY) {
                return Err(unfit(format!("it reports {many} trials of a class; the limit is {TOO_MANY}")));
            }
        }
        read.warning = read.warning.as_deref().map(one_line);
        Ok(read)
    }
}

/// Whether a confusion matrix has as many trials of each class as the site announced.
pub(super) fn fits(confusion: &Confusion, announced: &[usize]) -> bool {
    // Check first that no count exceeds the total, so that sums cannot overflow.
    let total: usize = announced.iter().sum();
    confusion.counts().iter().all(|&count| count <= total as u64)
        && confusion.support().iter().map(|&count| count as usize).eq(announced.iter().copied())
}

/// Returns the facts of all sites. They have rules for recordings only if all sites have the same.
pub(super) fn common_facts(sites: &[Introduction]) -> Option<Facts> {
    let mut facts = sites.first()?.facts.clone();
    let recipe = &mut facts.preparation.making.recipe;
    if sites.iter().any(|site| site.facts.preparation.making.recipe != *recipe) {
        *recipe = None;
    }
    Some(facts)
}

/// Sorts sites by number and checks that they can train one network together.
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
    let unlike = |site: &Introduction, what: &str, expected: String, found: String| {
        let (what, first, site) = (what.to_owned(), first.name.clone(), site.name.clone());
        Err(Error::SitesDiffer { what, first, expected, site, found })
    };
    for site in &sites {
        if site.fedspd != env!("CARGO_PKG_VERSION") {
            let (site, found) = (site.name.clone(), site.fedspd.clone());
            return Err(Error::SiteVersion { site, found, expected: env!("CARGO_PKG_VERSION") });
        }
        if site.seed != seed {
            return unlike(site, "seed", seed.to_string(), site.seed.to_string());
        }
        let differences = first.facts.preparation.differences(&site.facts.preparation);
        if let Some(Difference { field, expected, found }) = differences.into_iter().next() {
            return unlike(site, &field, expected, found);
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

/// Returns the facts that a preparation may leave out.
fn shown(facts: &Facts) -> [(&'static str, String); 5] {
    let Facts { inputs, samples, unit, alignment, transductive, .. } = facts;
    [
        ("matrices per trial", inputs.to_string()),
        ("samples per trial", samples.unwrap_or(0).to_string()),
        ("unit", unit.clone()),
        ("alignment", alignment.clone()),
        ("transductive alignment", transductive.to_string()),
    ]
}
