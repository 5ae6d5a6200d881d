//! The paper's experiments and ours on a dataset.

use fedspd_eeg::dataset;

use crate::Error;
use crate::config::{Config, Override, PRESETS, Preset};

/// Folds of leave-run-out: PhysionetMI has three runs of each kind of imagery.
const RUN_FOLDS: usize = 3;
/// Folds of held-out subjects.
const SUBJECT_FOLDS: usize = 5;
/// Seeds of a fold. Two are enough, because the scores of all folds are pooled.
const FOLD_SEEDS: &str = "0..2";

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
/// runs and with held-out subjects.
///
/// # Errors
/// The first fault of a change, or an unknown dataset.
pub fn cells(dataset: &str, changes: &[Override]) -> Result<Vec<Cell>, Error> {
    let mut cells = Vec::new();
    for preset in PRESETS.iter().filter(|preset| preset.name.starts_with(&format!("{dataset}-"))) {
        cells.push(Cell { name: preset.name.to_owned(), config: preset.config(changes)? });
    }
    let Some(best) = Preset::find(&format!("{dataset}-best")) else { return Ok(cells) };
    let definition = dataset::definition(dataset)?;
    let subjects = subjects(&definition, &best.config(changes)?);
    let mut fold = |name: String, own: Vec<String>| -> Result<(), Error> {
        let mut all = vec![format!("run.seeds={FOLD_SEEDS:?}").parse()?];
        all.extend_from_slice(changes);
        for change in own {
            all.push(change.parse()?);
        }
        cells.push(Cell { name, config: best.config(&all)? });
        Ok(())
    };
    // A dataset with a single run has no run to hold out.
    for number in 0..if definition.runs.is_some() { RUN_FOLDS } else { 0 } {
        let split = [
            "split.kind=leave-run-out".into(),
            format!("split.folds={RUN_FOLDS}"),
            format!("split.fold={number}"),
        ];
        fold(format!("{dataset}-best-runs-{number}"), split.into())?;
    }
    for number in 0..SUBJECT_FOLDS {
        let held_out: Vec<&str> =
            subjects.iter().skip(number).step_by(SUBJECT_FOLDS).map(String::as_str).collect();
        if held_out.is_empty() {
            continue;
        }
        let held_out = format!("split.held_out_subjects={:?}", held_out.join(","));
        fold(format!("{dataset}-best-subjects-{number}"), vec![held_out])?;
    }
    Ok(cells)
}

/// Returns the subjects that take part.
fn subjects(definition: &dataset::Definition, config: &Config) -> Vec<String> {
    let asked =
        config.data.subjects.as_ref().or(definition.subjects.as_ref()).map_or(&[][..], |all| all.ids());
    let left_out = |id: &String| {
        let excluded = config.data.exclude.as_ref().is_some_and(|exclude| exclude.ids().contains(id));
        let unfit =
            |one: &dataset::Excluded| one.subject == *id && !(one.unless_resampled && config.data.resample);
        excluded || definition.excluded.iter().any(unfit)
    };
    asked.iter().filter(|id| !left_out(id)).cloned().collect()
}
