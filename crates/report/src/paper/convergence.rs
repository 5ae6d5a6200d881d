//! The paper's convergence figure, with our curves in front.

use super::Grid;
use super::published;
use crate::LoadedRun;
use crate::chart::{Axis, Canvas, Figure, Lines, Point, Reference, Scale, Series};
use crate::sections::{Block, Section, curve};

/// Methods: name in the paper's data, in the presets, and on the page.
pub(super) const METHODS: [(&str, &str, &str); 3] =
    [("eegnet", "eegnet", "EEGNet"), ("proj-avg", "spdnet", "ProjAvg"), ("rl-avg", "spdnet", "RLAvg")];

/// Returns the run of a method with full or half participation.
pub(super) fn run<'a>(
    grid: &'a Grid,
    (method, model, _): (&str, &str, &str),
    half: bool,
) -> Option<&'a LoadedRun> {
    let half = if half { "-half" } else { "" };
    let average = if method == "rl-avg" { "-rl-avg" } else { "" };
    grid.get(&format!("{model}{half}{average}"))
}

pub(super) fn section(grid: &Grid) -> Section {
    let both = [false, true].map(|half| (half, curves(grid, half)));
    // The paper's axes, or wider ones if our curves need them. Both panels share them.
    let points = || both.iter().flat_map(|(_, series)| series).flat_map(|series| &series.points);
    let heights = points().flat_map(|point| point.band.map_or([point.y; 2], |(low, high)| [low, high]));
    let x = Scale::linear(0.0, points().map(|point| point.x).fold(150.0, f64::max));
    let y = Scale::around(heights.chain([10.0, 50.0]), false);
    let panels: Vec<Canvas> = both.iter().map(|(half, series)| panel(grid, *half, series, (x, y))).collect();
    let figure = Figure {
        slug: "paper-convergence".into(),
        title: "Test F1 by round, published and ours".into(),
        description: "Curves of the test F1 by round for EEGNet, ProjAvg and RLAvg, as published and as run here, with full and with half participation.".into(),
        caption: "Macro-F1 on the test trials of all clients together after each round. Thin dotted lines without a band are the coordinates in the paper’s source (means over ten seeds). Thick lines with a band of ±1 \
                  standard deviation are ours."
            .into(),
        columns: 2,
        panels,
    };
    Section { slug: "paper-convergence", title: "The paper’s figure", parts: vec![Block::Figure(figure)] }
}

fn curves(grid: &Grid, half: bool) -> Vec<Series> {
    let participation = if half { 0.5 } else { 1.0 };
    let mut series = Vec::new();
    for (style, method) in METHODS.into_iter().enumerate() {
        let points = published::curve(&grid.dataset, method.0, participation);
        series.push(Series {
            name: format!("{}, paper", method.2),
            style,
            behind: true,
            points: points.iter().map(|&(round, mean, _)| Point::new(round, mean)).collect(),
        });
    }
    for (style, method) in METHODS.into_iter().enumerate() {
        if let Some(run) = run(grid, method, half) {
            series.push(curve(method.2, style, &run.curve(|round| round.test_f1), 100.0));
        }
    }
    series
}

fn panel(grid: &Grid, half: bool, series: &[Series], (x, y): (Scale, Scale)) -> Canvas {
    let chance = grid.runs.first().map(|(_, run)| 100.0 / run.manifest.classes.len().max(1) as f64);
    let references: Vec<Reference> =
        chance.map(|y| Reference { name: "chance".into(), y }).into_iter().collect();
    Lines {
        heading: if half { "half participation" } else { "full participation" },
        x: Axis::on("round", x),
        y: Axis::on("test F1, %", y),
        references: &references,
    }
    .draw(series)
}
