//! Scores by client.

use super::{Block, Section};
use crate::LoadedRun;
use crate::chart::{Axis, Figure, Reference, Row, Rows};
use crate::table::{Best, Cell, Table};
use crate::words::{count, percent};

pub(super) fn section(runs: &[LoadedRun]) -> Section {
    let mut parts = vec![Block::Figure(client_scores(runs))];
    if let [run] = runs {
        parts.push(Block::Figure(each(run)));
    }
    parts.push(Block::File(table(runs)));
    Section { slug: "clients", title: "Clients", parts }
}

/// Means over seeds of the clients with test trials, by client index.
fn means(run: &LoadedRun) -> Vec<(usize, fedspd_run::Summary)> {
    let all = run.by_client("final_macro_f1").into_iter().enumerate();
    all.filter(|(_, summary)| summary.mean.is_finite()).collect()
}

fn client_scores(runs: &[LoadedRun]) -> Figure {
    let mut words = Vec::new();
    let rows: Vec<Row> = runs
        .iter()
        .map(|run| {
            let dots: Vec<f64> = means(run).iter().map(|(_, summary)| 100.0 * summary.mean).collect();
            let mut sorted = dots.clone();
            sorted.sort_by(f64::total_cmp);
            let quantile =
                |share: f64| sorted.get((share * (sorted.len().max(1) - 1) as f64).round() as usize).copied();
            let Some(&worst) = sorted.first() else {
                words.push(format!("{}: no client has test trials", run.label));
                let note = "no test trials".into();
                return Row { name: run.label.clone(), style: run.style, note, ..Row::default() };
            };
            let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
            words.push(format!("{}: mean {mean:.1}, worst {worst:.1} percent", run.label));
            let interval = quantile(0.25).zip(quantile(0.75));
            Row {
                name: run.label.clone(),
                style: run.style,
                dots,
                centre: Some(mean),
                interval,
                note: format!("worst {worst:.1}"),
            }
        })
        .collect();
    let chance = Reference { name: "chance".into(), y: 100.0 / runs[0].manifest.classes.len().max(1) as f64 };
    Figure {
        slug: "fairness".into(),
        title: "Fairness: F1 across clients".into(),
        description: format!("The macro-F1 of clients on their own test trials. {}.", words.join("; ")),
        caption: "Each small mark is a client: the macro-F1 of its own test trials, averaged over seeds. The large mark is the mean of the clients; the thick line covers the middle half of them. Marks far to the left are \
                  clients with low scores. “worst” is the lowest of these means (the table has the mean of each seed’s worst client). Chance is the accuracy of guessing. A client has few test trials, so its own score is uncertain."
            .into(),
        columns: 1,
        panels: vec![Rows { heading: "", x: Axis::new("macro-F1, %"), reference: Some(chance) }.draw(&rows)],
    }
}

fn each(run: &LoadedRun) -> Figure {
    let mut clients = means(run);
    clients.sort_by(|a, b| b.1.mean.total_cmp(&a.1.mean).then(a.0.cmp(&b.0)));
    let row = |(place, summary): &(usize, fedspd_run::Summary)| {
        let interval = summary
            .std
            .is_finite()
            .then_some((100.0 * (summary.mean - summary.std), 100.0 * (summary.mean + summary.std)));
        Row {
            name: format!("client {}", place + 1),
            style: 0,
            dots: Vec::new(),
            centre: Some(100.0 * summary.mean),
            interval,
            note: percent(summary),
        }
    };
    let rows: Vec<Row> = clients.iter().map(row).collect();
    let shuffled = if run.word("federated.clients") == "shuffled" {
        " Clients hold different subjects with every seed, so a client number does not stand for a subject."
    } else {
        ""
    };
    let ends = |at: Option<&(usize, fedspd_run::Summary)>| {
        at.map_or(String::new(), |(place, summary)| format!("client {} with {}", place + 1, percent(summary)))
    };
    Figure {
        slug: "each-client".into(),
        title: "F1 by client".into(),
        description: format!(
            "{} from best to worst, from {} to {} percent.",
            count(rows.len(), "client"),
            ends(clients.first()),
            ends(clients.last())
        ),
        caption: format!(
            "Macro-F1 of each client’s own test trials, best first. The mark is the mean over seeds, the line ±1 standard deviation.{shuffled}"
        ),
        columns: 1,
        panels: vec![Rows { heading: "", x: Axis::new("macro-F1, %"), reference: None }.draw(&rows)],
    }
}

fn table(runs: &[LoadedRun]) -> Table {
    let score =
        |summary: &fedspd_run::Summary| Cell::Score { mean: 100.0 * summary.mean, std: 100.0 * summary.std };
    let rows = runs.iter().flat_map(|run| {
        let (f1, accuracy, trials) =
            (run.by_client("final_macro_f1"), run.by_client("final_accuracy"), run.by_client("final_trials"));
        let row = |place: usize| {
            vec![
                Cell::word(&run.label),
                Cell::Number((place + 1).to_string()),
                Cell::Number(crate::words::digits(trials[place].mean)),
                score(&f1[place]),
                score(&accuracy[place]),
            ]
        };
        (0..f1.len()).map(row).collect::<Vec<_>>()
    });
    Table {
        slug: "clients".into(),
        caption: "Scores of clients on their own test trials, in percent.".into(),
        head: ["run", "client", "test trials", "macro-F1", "accuracy"].map(String::from).into(),
        rows: rows.collect(),
        best: Best::Nowhere,
    }
}
