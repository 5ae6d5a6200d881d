//! The paper's table.

use super::published::{Entry, entry};
use super::{Grid, cautions};
use crate::LoadedRun;
use crate::same_trials::unranked;
use crate::sections::{Block, Section};
use crate::table::{Best, Cell, Table};
use crate::words::count;

/// Settings: name in the table, in the presets, and on the page.
pub(super) const SETTINGS: [(&str, &str, &str); 3] = [
    ("centralised", "-centralised", "centralised"),
    ("full", "", "federated, full"),
    ("half", "-half", "federated, half"),
];

pub(super) fn section(grid: &Grid) -> Section {
    let mut parts = vec![Block::Table(table(grid))];
    parts.extend(cautions(grid));
    Section { slug: "paper", title: "The paper’s table", parts }
}

fn table(grid: &Grid) -> Table {
    let ours = |name: &str| match grid.get(name) {
        Some(run) => {
            let score = run.headline().macro_f1;
            Cell::Score { mean: 100.0 * score.mean, std: 100.0 * score.std }
        }
        None => Cell::word("not run"),
    };
    let row = |(setting, suffix, shown): (&str, &str, &str)| {
        let published = |model: &str| match entry(&grid.dataset, model, setting) {
            Some(Entry { mean, std, .. }) => Cell::Number(format!("{mean:.1} ± {std:.1}")),
            None => Cell::word("–"),
        };
        let rl_avg =
            if setting == "centralised" { Cell::word("") } else { ours(&format!("spdnet{suffix}-rl-avg")) };
        vec![
            Cell::word(shown),
            published("eegnet"),
            ours(&format!("eegnet{suffix}")),
            published("spdnet"),
            ours(&format!("spdnet{suffix}")),
            rl_avg,
        ]
    };
    // A row is marked only if its runs were tested on the same trials.
    let ranked = SETTINGS.iter().all(|(_, suffix, _)| {
        let names = [format!("eegnet{suffix}"), format!("spdnet{suffix}"), format!("spdnet{suffix}-rl-avg")];
        unranked(names.iter().filter_map(|name| grid.get(name))).is_none()
    });
    let bold = if ranked { " Bold: our best score in a row." } else { "" };
    let cells = SETTINGS.iter().flat_map(|(_, suffix, _)| {
        [format!("eegnet{suffix}"), format!("spdnet{suffix}"), format!("spdnet{suffix}-rl-avg")]
    });
    let seeds: Vec<usize> = cells.filter_map(|name| grid.get(&name)).map(LoadedRun::seeds_done).collect();
    let seeds = match (seeds.iter().min(), seeds.iter().max()) {
        (Some(least), Some(most)) if least == most => count(*most, "seed"),
        (Some(least), Some(most)) => format!("{least} to {most} seeds"),
        _ => "no seeds".into(),
    };
    Table {
        slug: "paper".into(),
        caption: format!(
            "Macro-F1 on the test trials of all clients together, in percent, mean ± standard deviation: as published (10 seeds) and as run here ({seeds}). Federated models are those of the last round, centralised \
             ones those of the best validation score.{bold}"
        ),
        head: [
            "setting",
            "EEGNet, paper",
            "EEGNet, ours",
            "SPDnet, paper",
            "SPDnet, ours",
            "SPDnet, ours, RLAvg",
        ]
        .map(String::from)
        .into(),
        rows: SETTINGS.map(row).into(),
        best: if ranked { Best::InRow } else { Best::Nowhere },
    }
}
