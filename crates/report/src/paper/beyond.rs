//! Our own models next to the paper's, on held-out trials, runs, subjects and clients.

use fedspd_run::Summary;

use super::Grid;
use super::published::entry;
use crate::LoadedRun;
use crate::sections::{Block, Section};
use crate::table::{Best, Cell, Table};
use crate::words::count;

/// Caveats: low frequencies, labels blocked by run, held-out subjects.
fn cautions(grid: &Grid) -> Vec<String> {
    let mut cautions = vec![
        "Slow activity (below about 8 Hz) decodes the cue, not the imagery. On PhysionetMI, eye movements and the visual response to the target position alone score as high. All models here use 8 to 32 Hz only. A model with slower bands must \
         never be reported as motor imagery."
            .to_owned(),
    ];
    let facts = grid.runs.iter().find_map(|(_, run)| run.manifest.facts);
    if let Some(facts) = facts.filter(|facts| facts.partial_runs > 0) {
        let excluded =
            if grid.knows(RUNS) { " The row “whole runs held out” excludes this." } else { "" };
        cautions.push(format!(
            "Labels are blocked by run: {} of {} have only some of the classes of their subject. With a random split a model can gain by recognising the run.{excluded}",
            facts.partial_runs,
            count(facts.runs, "recording run")
        ));
    }
    cautions.push(
        "Subjects differ more than methods do. The rows with held-out subjects and clients pool all folds. Each fold holds out some of the people and aligns them on their own unlabelled trials."
            .to_owned(),
    );
    cautions
}

/// The dataset on which our best model was tuned.
const TUNED_ON: &str = "physionet-mi";

/// The runs of our best model with whole parts held out, and their rows. All folds are pooled.
const RUNS: &str = "best-leave-run-out";
const HELD_OUT: [(&str, &str); 3] = [
    (RUNS, "our best model, whole runs held out, folds pooled"),
    ("best-leave-subject-out", "our best model, held-out subjects, folds pooled"),
    ("best-leave-client-out", "our best model, held-out clients, folds pooled"),
];

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
    // A dataset with one run cannot hold out runs.
    let known = HELD_OUT.iter().filter(|(name, _)| grid.knows(name));
    rows.extend(known.map(|(name, row)| one(row, grid.get(name))));
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
