//! Published numbers next to ours: Pautrel, Bouchard, Mian and Ginolhac, "FedSPDnet", Table I and
//! the two convergence figures.

mod beyond;
mod claims;
mod convergence;
mod published;
mod table;

use std::path::PathBuf;

use crate::sections::{Block, Section, network, setup};
use crate::words::list;
use crate::{Error, LoadedRun, Report, label};

/// A run of a reproduction, or the reason why it is missing.
#[derive(Clone, Debug)]
pub struct CellRun {
    /// The name of its preset, such as `physionet-mi-spdnet-half`.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// The reason why it was not run.
    pub missing: Option<String>,
}

/// The runs of a dataset by name.
struct Grid {
    dataset: String,
    runs: Vec<(String, LoadedRun)>,
    missing: Vec<(String, String)>,
    changed: Vec<String>,
}

impl Grid {
    /// Returns a run by its name without the dataset, such as `spdnet-half`.
    fn get(&self, name: &str) -> Option<&LoadedRun> {
        let name = format!("{}-{name}", self.dataset);
        self.runs.iter().find(|(own, _)| *own == name).map(|(_, run)| run)
    }

    /// Whether the dataset has a run of this name, even if it was not run.
    fn knows(&self, name: &str) -> bool {
        let name = format!("{}-{name}", self.dataset);
        let names = self.runs.iter().map(|(own, _)| own).chain(self.missing.iter().map(|(own, _)| own));
        names.into_iter().any(|own| *own == name)
    }
}

impl Report {
    /// Builds a report on the paper's experiments with a dataset. It shows the paper's table,
    /// figure and claims with our numbers next to the published ones, and our own models. `changed`
    /// lists the keys whose values differ from the presets.
    ///
    /// # Errors
    /// When a run that is not marked as missing cannot be read.
    pub fn reproduction(dataset: &str, cells: &[CellRun], changed: &[String]) -> Result<Self, Error> {
        let changed = changed.to_vec();
        let mut grid = Grid { dataset: dataset.to_owned(), runs: Vec::new(), missing: Vec::new(), changed };
        for CellRun { name, folder, missing } in cells {
            match missing {
                Some(why) => grid.missing.push((name.clone(), why.clone())),
                None => grid.runs.push((name.clone(), LoadedRun::read(folder)?)),
            }
        }
        let mut runs: Vec<LoadedRun> = grid.runs.iter().map(|(_, run)| run.clone()).collect();
        label::assign_labels(&mut runs);
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
        // The network in the paper's setting; our best model has a report of its own.
        let interpreted: Vec<LoadedRun> = grid.get("spdnet").cloned().into_iter().collect();
        if !interpreted.is_empty() {
            sections.push(network::section(&interpreted));
        }
        if !runs.is_empty() {
            sections.push(setup::section(&runs, false));
        }
        sections.retain(|section: &Section| !section.parts.is_empty());
        Ok(Self::made_of(
            format!("FedSPDnet on {dataset}, reproduced"),
            "The paper’s experiments, repeated. Published numbers next to ours.".into(),
            sections,
        ))
    }
}

/// Lists deviations from the paper: changed settings, and missing runs with their reasons.
fn cautions(grid: &Grid) -> Option<Block> {
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
    (!lines.is_empty()).then_some(Block::Cautions(lines))
}
