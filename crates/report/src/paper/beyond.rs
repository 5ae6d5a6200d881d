//! Our own models next to the paper's, on held-out trials, runs and subjects.

use fedspd_run::{Confusion, Summary, summary};

use super::published::entry;
use super::{Folds, Grid};
use crate::LoadedRun;
use crate::sections::{Block, Section};
use crate::table::{Best, Cell, Table};

/// Caveats: low frequencies, labels blocked by run, held-out subjects.
fn cautions(grid: &Grid) -> Vec<String> {
    let mut cautions = vec![
        "Slow activity (below about 8 Hz) decodes the cue, not the imagery. On PhysionetMI, eye movements and the visual response to the target position alone score as high. All models here use 8 to 32 Hz only. A model with slower bands must \
         never be reported as motor imagery."
            .to_owned(),
    ];
    if grid.folds(RUNS).expected > 0 {
        cautions.push(
            "Labels are blocked by run: a run has left and right hand, or both hands and feet. With a random split a model can gain by recognising the run. The row “whole runs held out” excludes this."
                .to_owned(),
        );
    }
    cautions.push(format!(
        "Subjects differ more than methods do. “Held-out subjects” pools {} folds. Each fold holds out some of the subjects and aligns them on their own unlabelled trials. On PhysionetMI single folds differ by ten points.",
        grid.folds(PEOPLE).expected
    ));
    cautions
}

/// The dataset on which our best model was tuned.
const TUNED_ON: &str = "physionet-mi";

/// Prefixes of the names of folds.
const RUNS: &str = "best-runs-";
const PEOPLE: &str = "best-subjects-";

pub(super) fn section(grid: &Grid) -> Section {
    let mut parts = Vec::new();
    if grid.get("best").is_some() || grid.get("tangent").is_some() {
        parts.push(Block::Table(table(grid)));
        parts.push(Block::Cautions(cautions(grid)));
    }
    Section { slug: "beyond", title: "Beyond the paper", parts }
}

fn table(grid: &Grid) -> Table {
    let cell = |score: &Summary| Cell::Score { mean: 100.0 * score.mean, std: 100.0 * score.std };
    let one = |name: &str, run: Option<&LoadedRun>| {
        let shown = run.map_or((Cell::word("not run"), String::new()), |run| {
            (cell(&run.headline().macro_f1), run.seeds_done().to_string())
        });
        vec![Cell::word(name), shown.0, Cell::Number(shown.1)]
    };
    let pooled = |name: &str, Folds { runs, expected }: &Folds<'_>, split: &str| {
        let scores = if runs.len() == *expected { pooled_f1(runs, split) } else { Vec::new() };
        let shown = match (scores.is_empty(), runs.len()) {
            (false, _) => cell(&summary(&scores)),
            (true, 0) => Cell::word("not run"),
            (true, some) => Cell::Word(format!("incomplete: {some} of {expected} folds")),
        };
        vec![Cell::word(name), shown, Cell::Number(scores.len().to_string())]
    };
    let paper =
        entry(&grid.dataset, "eegnet", "centralised").zip(entry(&grid.dataset, "spdnet", "centralised"));
    let paper = paper.map(|(a, b)| if a.mean > b.mean { a } else { b });
    let mut rows = Vec::new();
    if let Some(best) = paper {
        let number = Cell::Number(format!("{:.1} ± {:.1}", best.mean, best.std));
        rows.push(vec![
            Cell::word("best number of the paper’s table, all data in one place"),
            number,
            Cell::Number("10".into()),
        ]);
    }
    rows.push(one("recentred tangent space, no BiMap, federated", grid.get("tangent")));
    rows.push(one("our best model, federated, the paper’s split", grid.get("best")));
    let (by_run, by_person) = (grid.folds(RUNS), grid.folds(PEOPLE));
    // A dataset with one run cannot hold out runs.
    if by_run.expected > 0 {
        rows.push(pooled("our best model, whole runs held out, folds pooled", &by_run, "test"));
    }
    rows.push(pooled("our best model, held-out subjects, folds pooled", &by_person, "held-out"));
    Table {
        slug: "beyond".into(),
        caption: format!(
            "Macro-F1 in percent, mean ± standard deviation over seeds. {} Alignment is fitted on training trials without labels.",
            if grid.dataset == TUNED_ON {
                "Size and learning rate of our best model have the highest validation F1 of those tried; test trials were never used."
            } else {
                "Our best model is that of PhysionetMI: nothing was tuned on this dataset."
            }
        ),
        head: ["model and test", "macro-F1", "seeds"].map(String::from).into(),
        rows,
        best: Best::Nowhere,
    }
}

/// Returns the macro-F1 of the pooled trials of all folds, for each seed that all folds have.
fn pooled_f1(runs: &[&LoadedRun], split: &str) -> Vec<f64> {
    let Some(first) = runs.first() else { return Vec::new() };
    let classes = &first.manifest.classes;
    let count = |run: &LoadedRun, seed: u64, truth: &str, predicted: &str| {
        let metric = format!("final_confusion:{truth}:{predicted}");
        let row = run.results.rows.iter().find(|row| {
            row.seed == seed && row.client == "pooled" && row.split == split && row.metric == metric
        });
        row.map(|row| row.value as u64)
    };
    let score = |seed: u64| -> Option<f64> {
        let mut counts = vec![0; classes.len() * classes.len()];
        for run in runs {
            let pairs =
                classes.iter().flat_map(|truth| classes.iter().map(move |predicted| (truth, predicted)));
            for (sum, (truth, predicted)) in counts.iter_mut().zip(pairs) {
                *sum += count(run, seed, truth, predicted)?;
            }
        }
        Confusion::of(classes.len(), &counts).ok().map(|confusion| confusion.macro_f1())
    };
    first.manifest.seeds.iter().filter_map(|&seed| score(seed)).collect()
}
