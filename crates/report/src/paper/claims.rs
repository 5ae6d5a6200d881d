//! Claims of section IV of the paper, next to our measurements.

use super::Grid;
use super::convergence::{METHODS, run};
use super::published::{curve, entry};
use super::table::SETTINGS;
use crate::LoadedRun;
use crate::sections::{Block, Section};
use crate::table::{Best, Cell, Table};
use crate::words::bytes;

pub(super) fn section(grid: &Grid) -> Section {
    let rows = [equivalence(grid), retained(grid), deviation(grid), speed(grid), sent(grid)];
    let rows = rows.map(|(claim, paper, ours)| vec![Cell::word(claim), Cell::word(paper), Cell::word(ours)]);
    let table = Table {
        slug: "claims".into(),
        caption: "The claims of the paper’s section IV, its numbers, and ours.".into(),
        head: ["claim", "paper", "here"].map(String::from).into(),
        rows: rows.into(),
        best: Best::Nowhere,
    };
    Section { slug: "claims", title: "Claims of the paper", parts: vec![Block::Table(table)] }
}

type Claim = (&'static str, String, String);

const NOT_RUN: &str = "not run";

/// Checks that the curves of ProjAvg and RLAvg overlap.
fn equivalence(grid: &Grid) -> Claim {
    let largest = |pairs: Vec<(f64, f64)>| pairs.iter().map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let published = |share: f64| {
        let (a, b) = (curve(&grid.dataset, "proj-avg", share), curve(&grid.dataset, "rl-avg", share));
        largest(a.iter().zip(&b).map(|(a, b)| (a.1, b.1)).collect())
    };
    let ours = |half: bool| {
        let [a, b] = [run(grid, METHODS[1], half)?, run(grid, METHODS[2], half)?]
            .map(|run| run.curve(|round| round.test_f1));
        Some(100.0 * largest(a.iter().zip(&b).map(|(a, b)| (a.1.mean, b.1.mean)).collect()))
    };
    let shown = |gap: Option<f64>| gap.map_or(NOT_RUN.into(), |gap| format!("{gap:.2}"));
    (
        "ProjAvg and RLAvg are equivalent: the largest gap between their mean curves, in points of F1",
        format!("{:.2} full, {:.2} half", published(1.0), published(0.5)),
        format!("{} full, {} half", shown(ours(false)), shown(ours(true))),
    )
}

/// Compares the shares of the centralised score that federated training keeps.
fn retained(grid: &Grid) -> Claim {
    let published = |model: &str| {
        let [whole, full] = ["centralised", "full"].map(|setting| entry(&grid.dataset, model, setting));
        whole.zip(full).map(|(whole, full)| full.mean / whole.mean)
    };
    let ours = |model: &str| {
        let [whole, full] = [format!("{model}-centralised"), model.to_owned()].map(|name| grid.get(&name));
        whole.zip(full).map(|(whole, full)| full.headline().macro_f1.mean / whole.headline().macro_f1.mean)
    };
    let shown = |share: Option<f64>| share.map_or(NOT_RUN.into(), |share| format!("{:.0}%", 100.0 * share));
    (
        "Federated SPDnet keeps more of its centralised F1 (full participation)",
        format!("SPDnet {}, EEGNet {}", shown(published("spdnet")), shown(published("eegnet"))),
        format!("SPDnet {}, EEGNet {}", shown(ours("spdnet")), shown(ours("eegnet"))),
    )
}

/// Compares standard deviations over seeds.
fn deviation(grid: &Grid) -> Claim {
    let both = |of: &dyn Fn(&str, &str, &str) -> String| {
        let models = ["spdnet", "eegnet"].map(|model| {
            let values: Vec<String> =
                SETTINGS[1..].iter().map(|(setting, suffix, _)| of(model, setting, suffix)).collect();
            values.join(" and ")
        });
        format!("SPDnet {}, EEGNet {}", models[0], models[1])
    };
    (
        "Federated SPDnet varies less over seeds: standard deviation, full and half participation",
        both(&|model, setting, _| {
            entry(&grid.dataset, model, setting).map_or(NOT_RUN.into(), |entry| format!("{:.1}", entry.std))
        }),
        both(&|model, _, suffix| {
            let run = grid.get(&format!("{model}{suffix}"));
            run.map_or(NOT_RUN.into(), |run| match run.headline().macro_f1.std {
                std if std.is_nan() => "unknown with one seed".into(),
                std => format!("{:.1}", 100.0 * std),
            })
        }),
    )
}

/// Compares the rounds until 95% of the last score.
fn speed(grid: &Grid) -> Claim {
    let first = |points: Vec<(f64, f64)>| {
        let last = points.last()?.1;
        points.iter().find(|(_, mean)| *mean >= 0.95 * last).map(|(round, _)| *round)
    };
    let published = |method: &str| {
        first(curve(&grid.dataset, method, 1.0).into_iter().map(|(round, mean, _)| (round, mean)).collect())
    };
    let ours = |place: usize| {
        let curve = |run: &LoadedRun| run.curve(|round| round.test_f1);
        run(grid, METHODS[place], false)
            .and_then(|run| first(curve(run).into_iter().map(|(round, score)| (round, score.mean)).collect()))
    };
    let shown = |round: Option<f64>| round.map_or(NOT_RUN.into(), |round| format!("{round}"));
    (
        "Federated SPDnet converges faster: the first round with 95% of the last round’s F1, full participation",
        format!("SPDnet {}, EEGNet {}", shown(published("proj-avg")), shown(published("eegnet"))),
        format!("SPDnet {}, EEGNet {}", shown(ours(1)), shown(ours(0))),
    )
}

/// Compares the parameters and bytes sent per round.
fn sent(grid: &Grid) -> Claim {
    let published = |model: &str| entry(&grid.dataset, model, "full").map_or(0, |entry| entry.parameters);
    let ours = |model: &str| {
        let shown = |run: &LoadedRun| {
            let Some(round) = run.rounds.first() else { return NOT_RUN.into() };
            let (size, precision) =
                if run.word("model.precision") == "f32" { (4, "f32") } else { (8, "f64") };
            let sent = round.bytes_up / (size * round.participants.len().max(1) as u64);
            let both_ways = bytes((round.bytes_up + round.bytes_down) as f64);
            format!("{sent} of {} in {precision}, {both_ways} a round", run.manifest.parameters)
        };
        grid.get(model).map_or(NOT_RUN.into(), shown)
    };
    (
        "Federated SPDnet communicates fewer parameters per round: parameters that a client sends of its total, and bytes of all clients, up and down",
        format!("SPDnet {}, EEGNet {}", published("spdnet"), published("eegnet")),
        format!("SPDnet {}, EEGNet {}", ours("spdnet"), ours("eegnet")),
    )
}
