//! Main scores and caveats.

use fedspd_run::{Status, Summary};

use super::{Block, Section};
use crate::LoadedRun;
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
            count(run.seeds_done(), "seed"),
            run.manifest.classes.len(),
            chance(run)
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
    if headline.held_out.count > 0 {
        scores.push(("unseen people", headline.held_out));
    }
    scores
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
    let best = if runs.len() > 1 { " The best of each column is bold." } else { "" };
    Table {
        slug: "headline".into(),
        caption: format!(
            "Scores of each seed’s final model on test trials, in percent, mean ± standard deviation over seeds. Macro-F1 and accuracy pool the trials of all clients.{best}"
        ),
        head,
        rows: runs.iter().map(row).collect(),
        best: Best::InColumn,
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
        best: Best::InRow,
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
        best: Best::InRow,
    }
}

/// Caveats for the reader.
fn cautions(runs: &[LoadedRun]) -> Vec<String> {
    let any = |is: &dyn Fn(&LoadedRun) -> bool| runs.iter().any(is);
    let mut cautions = vec![
        "Test trials come from the same people as training trials. These scores do not measure performance on unseen people.".to_owned(),
    ];
    if let Some(run) = runs.iter().find(|run| run.headline().held_out.count > 0) {
        let people = run.shards.seeds.first().map_or(0, |seed| seed.held_out.len());
        let note = run.manifest.held_out.as_ref().map_or(String::new(), |note| format!(" ({note})"));
        cautions.push(format!(
            "“Unseen people” is the score on held-out subjects{note}; no client trained on them. Their number is {people}. Some subjects are much easier than others: only many of them, pooled, give a stable score."
        ));
    }
    let blocked = |run: &LoadedRun| {
        matches!(run.manifest.dataset.as_str(), "physionet-mi" | "sample")
            && run.word("split.kind") != "leave-run-out"
    };
    if any(&blocked) {
        cautions.push(
            "In this dataset each recording run has only some of the classes. A random split puts trials of every run into training and test, so a network can gain by recognising the run rather than the \
             movement. The split `leave-run-out` tests on whole runs."
                .to_owned(),
        );
    }
    if any(&|run| run.manifest.transductive) {
        cautions.push(
            "Alignment also used the unlabelled test trials of each subject (it is transductive). This is possible only if all trials are recorded before the first one is classified.".to_owned(),
        );
    }
    if any(&starts_below_8_hz) {
        cautions.push(
            "The band goes below 8 Hz. Slow activity right after the cue reflects eye movements and the picture on the screen: such a score is not evidence of motor imagery.".to_owned(),
        );
    }
    for run in runs.iter().filter(|run| run.manifest.status != Status::Done) {
        let (done, all) = (run.seeds_done(), run.manifest.seeds.len());
        cautions.push(format!("“{}” is not complete: {done} of {all} seeds are done.", run.label));
    }
    let alone: Vec<String> =
        runs.iter().filter(|run| run.seeds_done() == 1).map(|run| format!("“{}”", run.label)).collect();
    if !alone.is_empty() {
        let who = match alone.len() {
            1 => format!("{} has", alone[0]),
            count if count == runs.len() => "All runs have".into(),
            _ => format!("{} have", list(&alone)),
        };
        cautions.push(format!("{who} one seed: the spread over seeds is unknown."));
    }
    for run in runs {
        let fallback = run.rounds.iter().filter(|round| round.fallback).count();
        if fallback > 0 {
            cautions.push(format!(
                "In {} of “{}” the mean of the clients lacked full rank, so RLAvg was used instead.",
                count(fallback, "round"),
                run.label
            ));
        }
    }
    cautions
}

/// Returns whether a band starts below 8 Hz.
fn starts_below_8_hz(run: &LoadedRun) -> bool {
    let low = |band: &toml::Value| {
        let first = band.get(0);
        first
            .and_then(|first| first.as_float().or(first.as_integer().map(|hertz| hertz as f64)))
            .is_some_and(|hertz| hertz < 8.0)
    };
    let bands = run.setting("covariance.bands").and_then(toml::Value::as_array);
    run.setting("data.band").is_some_and(low) || bands.is_some_and(|bands| bands.iter().any(low))
}
