//! Communication cost: test F1 against the bytes sent.

use std::collections::BTreeMap;

use fedspd_run::{Summary, Unit, summary};

use super::over_seeds;
use crate::LoadedRun;
use crate::chart::{Axis, Figure, Lines, Point, Scale, Series};
use crate::words::bytes;

/// Returns the bytes sent so far and the F1 reached with them, by round, over seeds.
fn by_bytes(run: &LoadedRun) -> Vec<(f64, Summary)> {
    let mut sent: BTreeMap<Unit, u64> = BTreeMap::new();
    let mut rounds: BTreeMap<u32, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for round in &run.rounds {
        let so_far = sent.entry(round.unit).or_default();
        *so_far += round.bytes_up + round.bytes_down;
        if let Some(f1) = round.test_f1 {
            let (bytes, scores) = rounds.entry(round.round).or_default();
            bytes.push(*so_far as f64);
            scores.push(f1);
        }
    }
    let seeds = rounds.values().map(|(bytes, _)| bytes.len()).max().unwrap_or(0);
    let whole = rounds.into_values().filter(|(bytes, _)| bytes.len() == seeds);
    whole.map(|(bytes, scores)| (summary(&bytes).mean, summary(&scores))).collect()
}

pub(super) fn figure(runs: &[LoadedRun], federated: &[&LoadedRun]) -> Option<Figure> {
    let curves: Vec<(&LoadedRun, Vec<(f64, Summary)>)> = federated
        .iter()
        .map(|&run| (run, by_bytes(run)))
        .filter(|(_, curve)| curve.last().is_some_and(|(bytes, _)| *bytes > 0.0))
        .collect();
    let most =
        curves.iter().filter_map(|(_, curve)| curve.last()).map(|(bytes, _)| *bytes).fold(0.0, f64::max);
    if curves.is_empty() {
        return None;
    }
    let (unit, name) = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")]
        .into_iter()
        .find(|(unit, _)| most >= *unit)
        .unwrap_or((1.0, "bytes"));
    let series: Vec<Series> = curves
        .iter()
        .map(|(run, curve)| {
            let point = |(bytes, f1): &(f64, Summary)| {
                Point::new(bytes / unit, 100.0 * f1.mean).within(100.0 * f1.std)
            };
            Series {
                name: run.label.clone(),
                style: run.style,
                behind: false,
                points: curve.iter().map(point).collect(),
            }
        })
        .collect();
    let totals =
        curves.iter().filter_map(|(run, curve)| Some(format!("{}: {}", run.label, bytes(curve.last()?.0))));
    let x = Axis::on(format!("sent so far by all, up and down, {name}"), Scale::linear(0.0, most / unit));
    Some(Figure {
        slug: "cost".into(),
        title: "Communication cost".into(),
        description: format!(
            "Test F1 against the bytes sent so far. Totals: {}.",
            totals.collect::<Vec<_>>().join("; ")
        ),
        caption: format!(
            "Bytes count the parameters that clients and server exchange in one seed, up and down. A curve further to the left reaches its score with less traffic. {}",
            over_seeds(runs)
        ),
        columns: 1,
        panels: vec![Lines { heading: "", x, y: Axis::new("test F1, %"), references: &[] }.draw(&series)],
    })
}
