//! The paper's experiments and ours on a dataset.

use fedspd_eeg::dataset;

use crate::Error;
use crate::config::{Config, Override, PRESETS, Preset, SplitKind};

/// Seeds of a run with folds. One is enough, because the scores of all folds are pooled.
const FOLD_SEEDS: &str = "0";

/// One run of a reproduction.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Its name and that of its folder.
    pub name: String,
    /// Its configuration.
    pub config: Config,
}

/// The datasets of the paper.
pub const DATASETS: [&str; 2] = ["physionet-mi", "weibo2014"];

/// Returns all runs of a dataset: its presets in their order, then the preset `best` with held-out
/// runs, subjects and clients.
///
/// # Errors
/// The first fault of a change, or an unknown dataset.
pub fn cells(dataset: &str, changes: &[Override]) -> Result<Vec<Cell>, Error> {
    let mut cells = Vec::new();
    for preset in PRESETS.iter().filter(|preset| preset.name.starts_with(&format!("{dataset}-"))) {
        cells.push(Cell { name: preset.name.to_owned(), config: preset.config(changes)? });
    }
    let Some(best) = Preset::find(&format!("{dataset}-best")) else { return Ok(cells) };
    // A dataset with a single run has no run to hold out.
    let has_runs = dataset::definition(dataset)?.runs.is_some();
    let kinds = [SplitKind::LeaveRunOut, SplitKind::LeaveSubjectOut, SplitKind::LeaveClientOut];
    for kind in kinds.into_iter().filter(|kind| has_runs || *kind != SplitKind::LeaveRunOut) {
        let mut all: Vec<Override> = vec![format!("run.seeds={FOLD_SEEDS}").parse()?];
        all.extend_from_slice(changes);
        all.push(format!("split.kind={}", kind.name()).parse()?);
        all.push("split.refit=true".parse()?);
        cells.push(Cell { name: format!("{dataset}-best-{}", kind.name()), config: best.config(&all)? });
    }
    Ok(cells)
}
