//! Federation: agreement of clients and averages, communication cost, participation.

use fedspd_run::{LayerReport, Round};

use super::{Block, Section, cost, curve, over_seeds, participation};
use crate::LoadedRun;
use crate::chart::{Axis, Canvas, Figure, Lines, Series};
use crate::words::digits;

pub(super) fn section(runs: &[LoadedRun]) -> Section {
    let federated: Vec<&LoadedRun> = runs.iter().filter(|run| run.is_federated()).collect();
    let mut parts = Vec::new();
    if !federated.is_empty() {
        parts.extend(agreement(runs, &federated).map(Block::Figure));
        parts.extend(cost::figure(runs, &federated).map(Block::Figure));
        parts.extend(participation::parts(&federated));
    }
    Section { slug: "federation", title: "Federation", parts }
}

/// Returns the worst value over all Stiefel parameters of a round.
fn worst(round: &Round, of: fn(&LayerReport) -> f64, worse: fn(f64, f64) -> f64) -> Option<f64> {
    let finite = round.layers.iter().map(of).filter(|value| value.is_finite());
    finite.reduce(worse)
}

/// A quantity of a round.
type Measure = fn(&Round) -> Option<f64>;

/// Plots consensus, drift and the distance between the two averages.
fn agreement(runs: &[LoadedRun], federated: &[&LoadedRun]) -> Option<Figure> {
    let kinds: [(&str, Axis, Measure); 3] = [
        ("Consensus of clients", Axis::new("smallest singular value of the mean"), |round| {
            worst(round, |layer| layer.consensus, f64::min)
        }),
        ("Drift of clients", Axis::new("mean distance from the model sent"), |round| {
            worst(round, |layer| layer.drift_mean, f64::max)
        }),
        ("ProjAvg and RLAvg", Axis::log("distance between the two averages"), |round| {
            worst(round, |layer| layer.proj_rl_distance, f64::max)
        }),
    ];
    let mut words = Vec::new();
    let panels: Vec<Canvas> = kinds
        .into_iter()
        .filter_map(|(heading, y, of)| {
            let series: Vec<Series> = federated
                .iter()
                .map(|run| curve(&run.label, run.style, &run.curve(of), 1.0))
                .filter(|series| !series.points.is_empty())
                .collect();
            let last = series.first()?.points.last()?;
            words.push(format!("{heading}, at the end: {}", digits(last.y)));
            Some(Lines { heading, x: Axis::new("round"), y, references: &[] }.draw(&series))
        })
        .collect();
    if panels.is_empty() {
        return None;
    }
    Some(Figure {
        slug: "agreement".into(),
        title: "Agreement of clients and of averages".into(),
        description: format!("Three quantities by round. {} ({}).", words.join("; "), federated[0].label),
        caption: format!(
            "Consensus is 1 when all clients send the same subspace and 0 when their mean loses a direction. Drift is the distance that clients move in a round (Frobenius norm). The third panel is the distance between ProjAvg and RLAvg of \
             the same updates, on a logarithmic axis. Where it is small, the two methods are equivalent. Of several layers, the worst is shown. {}",
            over_seeds(runs)
        ),
        columns: 2,
        panels,
    })
}
