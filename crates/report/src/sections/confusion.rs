//! Confusion matrices and F1 by class.

use super::{Block, Section};
use crate::LoadedRun;
use crate::chart::{Axis, Figure, Matrix, Reference, Row, Rows, Scale};
use crate::table::{Best, Cell, Table};
use crate::words::{class, percent};

pub(super) fn section(runs: &[LoadedRun]) -> Section {
    let parts = vec![Block::Figure(confusion(runs)), Block::Figure(classes(runs)), Block::File(table(runs))];
    Section { slug: "mistakes", title: "Confusion matrices and F1 by class", parts }
}

/// Counts trials by true and predicted class, summed over all seeds.
fn counts(run: &LoadedRun) -> Vec<f64> {
    let classes = &run.manifest.classes;
    let pairs = classes.iter().flat_map(|truth| classes.iter().map(move |predicted| (truth, predicted)));
    let count = |(truth, predicted): (&String, &String)| {
        run.values("pooled", &format!("final_confusion:{truth}:{predicted}")).iter().sum()
    };
    pairs.map(count).collect()
}

fn confusion(runs: &[LoadedRun]) -> Figure {
    let mut worst = Vec::new();
    let panels = runs.iter().map(|run| {
        let classes = run.manifest.classes.len();
        let counts = counts(run);
        let total = |row: usize| counts[row * classes..][..classes].iter().sum::<f64>();
        let shares: Vec<f64> =
            counts.iter().enumerate().map(|(place, count)| count / total(place / classes)).collect();
        let names: Vec<String> = run.manifest.classes.iter().map(|name| class(name)).collect();
        let notes: Vec<String> = counts.iter().map(|count| format!("{count:.0}")).collect();
        let mistakes = shares
            .iter()
            .enumerate()
            .filter(|(place, share)| place / classes != place % classes && share.is_finite());
        if let Some((place, share)) = mistakes.max_by(|a, b| a.1.total_cmp(b.1)) {
            worst.push(format!(
                "{}: {} is predicted as {} in {:.0}% of its trials",
                run.label,
                names[place / classes],
                names[place % classes],
                100.0 * share
            ));
        }
        let heading = if runs.len() > 1 { run.label.as_str() } else { "" };
        Matrix { heading, rows: "true", columns: "predicted", names: &names, shares: &shares, notes: &notes }
            .draw()
    });
    let panels = panels.collect();
    Figure {
        slug: "confusion".into(),
        title: "Confusion matrices".into(),
        description: format!("The most common errors. {}.", worst.join("; ")),
        caption: "Each row is a true class and adds up to 100%; the diagonal is the recall. Below each share is the number of test trials, summed over seeds.".into(),
        columns: 2,
        panels,
    }
}

fn classes(runs: &[LoadedRun]) -> Figure {
    let names = &runs[0].manifest.classes;
    let row = |run: &LoadedRun, name: String, metric: &str| {
        let summary = run.over_seeds("pooled", metric);
        let dots = run.values("pooled", metric).iter().map(|value| 100.0 * value).collect();
        let interval = summary
            .std
            .is_finite()
            .then_some((100.0 * (summary.mean - summary.std), 100.0 * (summary.mean + summary.std)));
        Row {
            name,
            style: run.style,
            dots,
            centre: Some(100.0 * summary.mean),
            interval,
            note: percent(&summary),
        }
    };
    let values = runs.iter().flat_map(|run| {
        names.iter().flat_map(|name| run.values("pooled", &format!("final_f1:{name}")).to_vec())
    });
    let scale = Scale::around(values.map(|value| 100.0 * value).chain([0.0]), false);
    let chart = |heading: &str, rows: Vec<Row>| {
        Rows { heading, x: Axis::on("F1, %", scale), reference: None::<Reference> }.draw(&rows)
    };
    let metric = |name: &String| format!("final_f1:{name}");
    let panels = if let [run] = runs {
        vec![chart("", names.iter().map(|name| row(run, class(name), &metric(name))).collect())]
    } else {
        let rows =
            |name: &String| runs.iter().map(|run| row(run, run.label.clone(), &metric(name))).collect();
        names.iter().map(|name| chart(&class(name), rows(name))).collect()
    };
    let ends = runs.iter().flat_map(|run| {
        names.iter().map(move |name| {
            format!("{}, {}: {}", run.label, class(name), percent(&run.over_seeds("pooled", &metric(name))))
        })
    });
    Figure {
        slug: "classes".into(),
        title: "F1 by class".into(),
        description: format!("F1 in percent of each class. {}.", ends.collect::<Vec<_>>().join("; ")),
        caption: "F1 of each class on the test trials of all clients together. Small marks are seeds, the large mark is their mean, the line is ±1 standard deviation.".into(),
        columns: 2,
        panels,
    }
}

fn table(runs: &[LoadedRun]) -> Table {
    let rows = runs.iter().flat_map(|run| {
        run.manifest.classes.iter().map(move |name| {
            let summary = run.over_seeds("pooled", &format!("final_f1:{name}"));
            vec![
                Cell::word(&run.label),
                Cell::word(name),
                Cell::Score { mean: 100.0 * summary.mean, std: 100.0 * summary.std },
            ]
        })
    });
    Table {
        slug: "classes".into(),
        caption: "F1 of each class in percent.".into(),
        head: ["run", "class", "F1"].map(String::from).into(),
        rows: rows.collect(),
        best: Best::Nowhere,
    }
}
