//! Participation of clients by round.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use fedspd_run::{Round, Unit};

use super::Block;
use crate::LoadedRun;
use crate::chart::{Anchor, Axis, Canvas, Figure, Ink, Letters, Lines, Plot, Point, Scale, Series};
use crate::words::count;

/// Largest number of clients shown one by one; more are only counted.
const MOST: usize = 64;

pub(super) fn parts(federated: &[&LoadedRun]) -> Vec<Block> {
    let (all, some): (Vec<&LoadedRun>, Vec<&LoadedRun>) = federated.iter().partition(|run| everyone(run));
    let mut parts = Vec::new();
    if !all.is_empty() {
        let names: Vec<String> = all.iter().map(|run| format!("“{}”", run.label)).collect();
        let names =
            if some.is_empty() { String::new() } else { format!(" of {}", crate::words::list(&names)) };
        parts.push(Block::Text(format!(
            "Every client took part in every round{names}, and no reply was dropped."
        )));
    }
    if !some.is_empty() {
        parts.push(Block::Figure(figure(&some)));
    }
    parts
}

fn everyone(run: &LoadedRun) -> bool {
    let units: BTreeSet<Unit> = run.rounds.iter().map(|round| round.unit).collect();
    let members: BTreeMap<Unit, usize> = units.into_iter().map(|unit| (unit, run.members(unit))).collect();
    run.rounds
        .iter()
        .all(|round| round.participants.len() == members[&round.unit] && round.dropped.is_empty())
}

/// The rounds of the first seed.
fn first(run: &LoadedRun) -> Vec<&Round> {
    let unit = run.rounds.first().map(|round| round.unit);
    run.rounds.iter().filter(|round| Some(round.unit) == unit).collect()
}

fn figure(runs: &[&LoadedRun]) -> Figure {
    let dropped: usize = runs.iter().flat_map(|run| &run.rounds).map(|round| round.dropped.len()).sum();
    let many = runs.iter().any(|run| run.clients() > MOST);
    let panels = runs.iter().map(|run| {
        let heading = if runs.len() > 1 { run.label.as_str() } else { "" };
        if many { counted(heading, run) } else { grid(heading, run) }
    });
    let words = runs.iter().map(|run| {
        let asked: usize = run.rounds.iter().map(|round| round.participants.len()).sum();
        format!(
            "{}: {:.1} of {} in a round on average",
            run.label,
            asked as f64 / run.rounds.len().max(1) as f64,
            count(run.clients(), "client")
        )
    });
    let left_out = if dropped > 0 {
        format!(
            " Over all seeds, {} dropped because of an error.",
            if dropped == 1 { "one reply was".into() } else { format!("{dropped} replies were") }
        )
    } else {
        String::new()
    };
    Figure {
        slug: "participation".into(),
        title: "Participation by round".into(),
        description: format!("{}.{left_out}", words.collect::<Vec<_>>().join("; ")),
        caption: if many {
            format!(
                "Number of rounds of the first seed in which each client took part, in ascending order.{left_out}"
            )
        } else {
            format!(
                "Rows are clients, columns are rounds of the first seed. A cell is filled if the client took part; a ring marks a dropped reply. In a long gap the model gets no update from the client.{left_out}"
            )
        },
        columns: 2,
        panels: panels.collect(),
    }
}

fn grid(heading: &str, run: &LoadedRun) -> Canvas {
    let (rounds, clients) = (first(run), run.clients());
    let last = rounds.iter().map(|round| round.round).max().unwrap_or(1);
    let pitch = (180.0 / clients.max(1) as f64).clamp(5.0, 18.0);
    let x = Scale::linear(0.5, f64::from(last) + 0.5);
    let y = Scale::linear(-(clients as f64) - 0.5, -0.5);
    // The vertical axis has no ticks: client numbers are added below.
    let mut canvas = {
        let height = 88.0 + pitch * clients as f64;
        Plot::bare(heading, ("round", x), ("client", y), (460.0, height), (30.0, 14.0))
    };
    let Some((width, tall)) =
        canvas.x(1.5).zip(canvas.x(0.5)).map(|(a, b)| (a - b, (pitch - 1.0).max(pitch * 0.75)))
    else {
        return canvas.canvas;
    };
    let mut took_part = vec![vec![false; rounds.len() + 1]; clients];
    for (place, round) in rounds.iter().enumerate() {
        for client in round.participants.iter().filter_map(|name| run.client_place(round.unit.seed, name)) {
            took_part[client][place] = true;
        }
    }
    let mut path = String::new();
    for (client, part) in took_part.iter().enumerate() {
        let mut since = None;
        for (place, &there) in part.iter().enumerate() {
            match (since, there) {
                (None, true) => since = Some(place),
                (Some(begin), false) => {
                    let from = rounds[begin].round;
                    if let Some((x, y)) = canvas.at(f64::from(from) - 0.5, -(client as f64) - 1.0) {
                        let length = width * (place - begin) as f64;
                        let _ =
                            write!(path, "M{x:.1} {:.1}h{length:.1}v{tall:.1}h-{length:.1}z", y - tall / 2.0);
                    }
                    since = None;
                }
                _ => {}
            }
        }
    }
    canvas.canvas.fill(&path, Ink::Series(run.style), 0.85);
    for round in &rounds {
        for dropped in &round.dropped {
            let place = run.client_place(round.unit.seed, &dropped.client);
            let at = place.and_then(|place| canvas.at(f64::from(round.round), -(place as f64) - 1.0));
            if let Some(at) = at {
                canvas.canvas.marker(at, 4, (pitch * 0.4).min(4.0), 1.0);
            }
        }
    }
    let note = Letters::NOTE.at(Anchor::End);
    let stride = if pitch >= 14.0 { 1 } else { (clients / 5).max(1) };
    for client in (0..clients).filter(|client| client % stride == 0) {
        if let Some(at) = canvas.y(-(client as f64) - 1.0) {
            let left = canvas.area.left - 6.0;
            canvas.canvas.text((left, at + 4.0), &(client + 1).to_string(), note);
        }
    }
    canvas.canvas
}

fn counted(heading: &str, run: &LoadedRun) -> Canvas {
    let mut counts = vec![0_usize; run.clients()];
    for round in first(run) {
        for place in round.participants.iter().filter_map(|name| run.client_place(round.unit.seed, name)) {
            counts[place] += 1;
        }
    }
    counts.sort_unstable();
    let points =
        counts.iter().enumerate().map(|(place, &count)| Point::new(place as f64 + 1.0, count as f64));
    let series = [Series { name: String::new(), style: run.style, behind: false, points: points.collect() }];
    Lines { heading, x: Axis::new("clients, fewest rounds first"), y: Axis::new("rounds"), references: &[] }
        .draw(&series)
}
