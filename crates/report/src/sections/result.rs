//! Main scores and caveats.

use fedspd_run::Summary;

use super::cautions::cautions;
use super::{Block, Section};
use crate::LoadedRun;
use crate::same_trials::unranked;
use crate::table::{Best, Cell, Table};
use crate::words::{count, list, percent, share};

pub(super) fn section(runs: &[LoadedRun]) -> Section {
    let mut parts = vec![Block::Text(sentence(runs)), Block::Table(headline(runs))];
    parts.extend([Block::File(methods(runs)), Block::File(transposed(runs))]);
    parts.push(Block::Cautions(cautions(runs)));
    Section { slug: "result", title: "Result", parts }
}

fn sentence(runs: &[LoadedRun]) -> String {
    let chance = |run: &LoadedRun| 100.0 / run.manifest.classes.len().max(1) as f64;
    if let [run] = runs {
        return format!(
            "{} {} reaches a macro-F1 of {} percent on the test trials of all {} together ({}). Guessing among the {} classes gives {:.0} percent.",
            run.network(),
            if run.is_federated() { format!("with {}", run.label) } else { format!("({})", run.label) },
            percent(&run.headline().macro_f1),
            count(run.clients(), "client"),
            seeds_and_folds(run),
            run.manifest.classes.len(),
            chance(run)
        );
    }
    if let Some(reason) = unranked(runs) {
        return format!(
            "The {} runs are not ranked. {reason}. Their scores are shown side by side only.",
            runs.len()
        );
    }
    let best = runs.iter().max_by(|a, b| a.headline().macro_f1.mean.total_cmp(&b.headline().macro_f1.mean));
    best.map_or(String::new(), |best| {
        format!(
            "Of {} runs, “{}” has the highest macro-F1 on the test trials of all clients together: {} percent. Guessing gives {:.0} percent. `fedspd compare` tests \
             whether a difference is more than chance.",
            runs.len(),
            best.label,
            percent(&best.headline().macro_f1),
            chance(best)
        )
    })
}

/// The scores of a run, by name.
fn scores(run: &LoadedRun) -> Vec<(&'static str, Summary)> {
    let headline = run.headline();
    let mut scores = vec![
        ("macro-F1", headline.macro_f1),
        ("mean client", headline.mean_client),
        ("worst client", headline.worst_client),
        ("accuracy", headline.accuracy),
        ("kappa", headline.kappa),
    ];
    scores.extend(headline.single_folds.map(|folds| ("single folds", folds)));
    if headline.held_out.count > 0 {
        scores.push(("unseen people", headline.held_out));
    }
    scores
}

/// Formats the numbers of seeds and of pooled folds.
fn seeds_and_folds(run: &LoadedRun) -> String {
    let seeds = count(run.seeds_done(), "seed");
    if run.folds() > 1 { format!("{seeds}, {} folds pooled", run.folds()) } else { seeds }
}

/// Says which round's model is scored.
fn selection(runs: &[LoadedRun]) -> String {
    let mut rules: Vec<(&str, Vec<String>)> = Vec::new();
    for run in runs {
        let name = format!("“{}”", run.label);
        match rules.iter_mut().find(|(rule, _)| *rule == run.selection()) {
            Some((_, names)) => names.push(name),
            None => rules.push((run.selection(), vec![name])),
        }
    }
    match &rules[..] {
        [(rule, _)] => format!("The scored model is that of {rule}."),
        rules => {
            let each = rules.iter().map(|(rule, names)| format!("that of {rule} for {}", list(names)));
            format!("The scored model is {}.", list(&each.collect::<Vec<_>>()))
        }
    }
}

/// Explains the column of single folds, if there is one.
fn folds(runs: &[LoadedRun]) -> &'static str {
    if runs.iter().all(|run| run.headline().single_folds.is_none()) {
        return "";
    }
    " The test trials of all folds are pooled first; “single folds” is the macro-F1 of single folds, with its deviation over folds and seeds."
}

fn cell(summary: &Summary) -> Cell {
    Cell::Score { mean: 100.0 * summary.mean, std: 100.0 * summary.std }
}

/// The names of all scores that any run has.
fn names(runs: &[LoadedRun]) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for (name, _) in runs.iter().flat_map(scores) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn score(run: &LoadedRun, name: &str) -> Cell {
    let found = scores(run).into_iter().find(|(other, _)| *other == name);
    found.map_or(Cell::word(""), |(_, summary)| cell(&summary))
}

fn headline(runs: &[LoadedRun]) -> Table {
    let names = names(runs);
    let mut head = vec!["run".to_owned()];
    head.extend(names.iter().map(ToString::to_string));
    head.extend(["parameters", "seeds"].map(String::from));
    let row = |run: &LoadedRun| {
        let mut cells = vec![Cell::word(&run.label)];
        cells.extend(names.iter().map(|name| score(run, name)));
        cells.push(Cell::Number(run.manifest.parameters.to_string()));
        cells.push(Cell::Number(run.seeds_done().to_string()));
        cells
    };
    let ranked = runs.len() > 1 && unranked(runs).is_none();
    let best = if ranked { " The best of each column is bold." } else { "" };
    Table {
        slug: "headline".into(),
        caption: format!(
            "Scores on test trials in percent, mean ± standard deviation over seeds. Macro-F1 and accuracy pool the trials of all clients and count all classes; the macro-F1 of a client counts the classes that it has. {}{}{best}",
            selection(runs),
            folds(runs)
        ),
        head,
        rows: runs.iter().map(row).collect(),
        best: if ranked { Best::InColumn } else { Best::Nowhere },
    }
}

/// Scores in rows, runs in columns.
fn transposed(runs: &[LoadedRun]) -> Table {
    let row = |name: &&str| {
        let mut cells = vec![Cell::word(*name)];
        cells.extend(runs.iter().map(|run| score(run, name)));
        cells
    };
    Table {
        slug: "scores".into(),
        caption: "Scores on test trials in percent, mean ± standard deviation over seeds.".into(),
        head: std::iter::once("score".to_owned()).chain(runs.iter().map(|run| run.label.clone())).collect(),
        rows: names(runs).iter().map(row).collect(),
        best: if unranked(runs).is_none() { Best::InRow } else { Best::Nowhere },
    }
}

/// Makes a table in the paper's layout: a row for each dataset, network and alignment, a column for
/// each training method.
fn methods(runs: &[LoadedRun]) -> Table {
    let way = |run: &LoadedRun| {
        if run.is_federated() {
            format!("{}, {}", run.method(), share(run.participation()))
        } else {
            run.method()
        }
    };
    let kind = |run: &LoadedRun| {
        [
            run.manifest.dataset.clone(),
            run.network(),
            run.manifest.alignment.clone(),
            run.manifest.parameters.to_string(),
        ]
    };
    let mut ways: Vec<String> = Vec::new();
    let mut kinds: Vec<[String; 4]> = Vec::new();
    for run in runs {
        if !ways.contains(&way(run)) {
            ways.push(way(run));
        }
        if !kinds.contains(&kind(run)) {
            kinds.push(kind(run));
        }
    }
    let row = |own: &[String; 4]| {
        let mut cells: Vec<Cell> = own[..3].iter().map(Cell::word).collect();
        cells.push(Cell::Number(own[3].clone()));
        cells.extend(ways.iter().map(|column| {
            let same: Vec<&LoadedRun> =
                runs.iter().filter(|run| kind(run) == *own && way(run) == *column).collect();
            match same[..] {
                [] => Cell::word("–"),
                [run] => cell(&run.headline().macro_f1),
                // They differ in a setting that this table does not show; the headline has a row
                // for each.
                _ => Cell::Word(format!("{} runs", same.len())),
            }
        }));
        cells
    };
    // Rows may be of different datasets: only the runs of a row are compared.
    let ranked = kinds.iter().all(|own| unranked(runs.iter().filter(|run| kind(run) == *own)).is_none());
    Table {
        slug: "methods".into(),
        caption:
            "Macro-F1 on all clients' test trials together in percent, mean ± standard deviation over seeds."
                .into(),
        head: ["dataset", "network", "alignment", "parameters"]
            .map(String::from)
            .into_iter()
            .chain(ways.clone())
            .collect(),
        rows: kinds.iter().map(row).collect(),
        best: if ranked { Best::InRow } else { Best::Nowhere },
    }
}
