//! The paper's own numbers beside ours: Pautrel, Bouchard, Mian and Ginolhac, "FedSPDnet", Table I and the two figures of convergence.

mod beyond;
mod claims;
mod convergence;
mod published;
mod table;

use std::path::PathBuf;

use crate::sections::{Part, Section, network, setup};
use crate::words::list;
use crate::{Error, Report, Run, label};

/// A run of a reproduction: where it is, or why it is not there.
#[derive(Clone, Debug)]
pub struct CellRun {
    /// Its name, which says what it is: that of a preset, such as `physionet-mi-spdnet-half`.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Why it was not run.
    pub missing: Option<String>,
}

/// The runs of a dataset by what they are.
struct Grid {
    dataset: String,
    runs: Vec<(String, Run)>,
    missing: Vec<(String, String)>,
    changed: Vec<String>,
}

/// The runs of one experiment with another part held out in each.
struct Folds<'a> {
    runs: Vec<&'a Run>,
    /// How many there are when all are run.
    expected: usize,
}

impl Grid {
    /// The run with a name after that of the dataset, such as `spdnet-half`.
    fn get(&self, name: &str) -> Option<&Run> {
        let name = format!("{}-{name}", self.dataset);
        self.runs.iter().find(|(own, _)| *own == name).map(|(_, run)| run)
    }

    /// The runs whose names begin so, with those that are not there counted.
    fn folds(&self, prefix: &str) -> Folds<'_> {
        let prefix = format!("{}-{prefix}", self.dataset);
        let runs: Vec<&Run> =
            self.runs.iter().filter(|(name, _)| name.starts_with(&prefix)).map(|(_, run)| run).collect();
        let missing = self.missing.iter().filter(|(name, _)| name.starts_with(&prefix)).count();
        Folds { expected: runs.len() + missing, runs }
    }
}

impl Report {
    /// On the paper's experiments with a dataset: its table and figure with our numbers beside the published ones, each of its claims, and ours. `changed` are
    /// the keys that have other values than the presets, if any.
    ///
    /// # Errors
    /// When a run that should be there cannot be read.
    pub fn reproduction(dataset: &str, cells: &[CellRun], changed: &[String]) -> Result<Self, Error> {
        let changed = changed.to_vec();
        let mut grid = Grid { dataset: dataset.to_owned(), runs: Vec::new(), missing: Vec::new(), changed };
        for CellRun { name, folder, missing } in cells {
            match missing {
                Some(why) => grid.missing.push((name.clone(), why.clone())),
                None => grid.runs.push((name.clone(), Run::read(folder)?)),
            }
        }
        let mut runs: Vec<Run> = grid.runs.iter().map(|(_, run)| run.clone()).collect();
        label::tell_apart(&mut runs);
        for ((name, own), run) in grid.runs.iter_mut().zip(&mut runs) {
            name.strip_prefix(&format!("{dataset}-")).unwrap_or(name).clone_into(&mut run.label);
            own.label.clone_from(&run.label);
        }
        let mut sections = vec![
            table::section(&grid),
            convergence::section(&grid),
            claims::section(&grid),
            beyond::section(&grid),
        ];
        // One network in the paper's setting; the best one has a report of its own.
        let portrayed: Vec<Run> = grid.get("spdnet").cloned().into_iter().collect();
        if !portrayed.is_empty() {
            sections.push(network::section(&portrayed));
        }
        if !runs.is_empty() {
            sections.push(setup::section(&runs, false));
        }
        sections.retain(|section: &Section| !section.parts.is_empty());
        Ok(Self::made_of(
            format!("FedSPDnet on {dataset}, reproduced"),
            "The paper’s experiments run again, its published numbers beside ours.".into(),
            sections,
        ))
    }
}

/// What is not as in the paper: settings that were changed, and runs that are not there, with their reasons.
fn cautions(grid: &Grid) -> Option<Part> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for (name, why) in &grid.missing {
        match reasons.iter_mut().find(|(reason, _)| reason == why) {
            Some((_, names)) => names.push(format!("`{name}`")),
            None => reasons.push((why, vec![format!("`{name}`")])),
        }
    }
    let mut lines = Vec::new();
    if !grid.changed.is_empty() {
        let keys: Vec<String> = grid.changed.iter().map(|key| format!("`{key}`")).collect();
        lines.push(format!("These are not the paper’s experiments: {} had other values.", list(&keys)));
    }
    lines.extend(reasons.into_iter().map(|(why, names)| format!("Not run ({why}): {}.", list(&names))));
    (!lines.is_empty()).then_some(Part::Cautions(lines))
}
