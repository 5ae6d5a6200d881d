//! Convergence: test F1 by round.

use super::{Block, Section, curve, over_seeds};
use crate::LoadedRun;
use crate::chart::{Axis, Figure, Lines, Reference, Scale, Series};
use crate::table::{Best, Cell, Table};
use crate::words::{percent, share};

pub(super) fn section(runs: &[LoadedRun]) -> Section {
    let mut parts = Vec::new();
    parts.extend(figure(runs).map(Block::Figure));
    parts.push(Block::File(table(runs)));
    Section { slug: "convergence", title: "Convergence", parts }
}

/// Plots the test F1 by round.
fn figure(runs: &[LoadedRun]) -> Option<Figure> {
    let federated: Vec<&LoadedRun> = runs.iter().filter(|run| run.is_federated()).collect();
    let others: Vec<&LoadedRun> = runs.iter().filter(|run| !run.is_federated()).collect();
    // Rounds and epochs do not share an axis: next to federated curves, other runs are horizontal
    // lines.
    let (drawn, levels): (Vec<&LoadedRun>, Vec<&LoadedRun>) =
        if federated.is_empty() { (runs.iter().collect(), Vec::new()) } else { (federated, others) };
    let curves: Vec<(String, Series)> = drawn
        .iter()
        .map(|run| {
            let panel = if run.is_federated() { share(run.participation()) } else { String::new() };
            let name = run.label.replace(&format!(", {panel}"), "");
            (panel, curve(&name, run.style, &run.curve(|round| round.test_f1), 100.0))
        })
        .filter(|(_, series)| !series.points.is_empty())
        .collect();
    if curves.is_empty() {
        return None;
    }
    let chance = 100.0 / runs[0].manifest.classes.len().max(1) as f64;
    let mut references = vec![Reference { name: "chance".into(), y: chance }];
    references.extend(
        levels
            .iter()
            .map(|run| Reference { name: run.label.clone(), y: 100.0 * run.headline().macro_f1.mean }),
    );
    let points = || curves.iter().flat_map(|(_, series)| &series.points);
    let numbers = points().flat_map(|point| point.band.map_or([point.y; 2], |(low, high)| [low, high]));
    // All panels share the same axes, so that they are comparable.
    let y = Scale::around(numbers.chain(references.iter().map(|level| level.y)), false);
    let last = points().map(|point| point.x).fold(1.0, f64::max);
    let x = Scale::linear(0.0, last);
    let mut groups: Vec<&String> = Vec::new();
    for (panel, _) in &curves {
        if !groups.contains(&panel) {
            groups.push(panel);
        }
    }
    let (axis, unit) =
        if runs.iter().any(LoadedRun::is_federated) { ("round", "round") } else { ("epoch", "epoch") };
    let panels = groups.iter().map(|&group| {
        let series: Vec<Series> =
            curves.iter().filter(|(panel, _)| panel == group).map(|(_, series)| series.clone()).collect();
        let heading = if groups.len() > 1 { format!("{group} participation") } else { String::new() };
        Lines {
            heading: &heading,
            x: Axis::on(axis, x),
            y: Axis::on("test F1, %", y),
            references: &references,
        }
        .draw(&series)
    });
    let ends =
        drawn.iter().map(|run| format!("{}: {} percent", run.label, percent(&run.headline().macro_f1)));
    let level = if levels.is_empty() {
        String::new()
    } else {
        " Dashed lines are the final scores of training modes that have epochs instead of rounds.".into()
    };
    Some(Figure {
        slug: "convergence".into(),
        title: format!("Test F1 by {unit}"),
        description: format!(
            "Curves of the macro-F1 on test trials by {unit}. They end at {}.",
            ends.collect::<Vec<_>>().join("; ")
        ),
        caption: format!(
            "Macro-F1 of the model after each {unit}, on the test trials of all clients together. {}{level} A curve that still rises would have gained from more rounds. These seeds do not separate curves whose bands overlap.",
            over_seeds(runs)
        ),
        columns: 2,
        panels: panels.collect(),
    })
}

/// The data of the figure.
fn table(runs: &[LoadedRun]) -> Table {
    let rows = runs.iter().flat_map(|run| {
        let row = |(round, summary): (f64, fedspd_run::Summary)| {
            vec![
                Cell::word(&run.label),
                Cell::Number(round.to_string()),
                Cell::Score { mean: 100.0 * summary.mean, std: 100.0 * summary.std },
            ]
        };
        run.curve(|round| round.test_f1).into_iter().map(row).collect::<Vec<_>>()
    });
    Table {
        slug: "convergence".into(),
        caption: "Test F1 in percent by round.".into(),
        head: ["run", "round", "test F1"].map(String::from).into(),
        rows: rows.collect(),
        best: Best::Nowhere,
    }
}
