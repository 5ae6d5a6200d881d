//! The tidy table of a run, and what is read off it first.

use fedspd_run::{ResultRow, ResultTable};

use crate::config::ModelKind;
use crate::experiment::Experiment;
use crate::metrics::{Summary, summary};
use crate::scores::Score;
use crate::seed_run::SeedRun;

/// The rows of all seeds.
pub(crate) fn table(experiment: &Experiment, seeds: &[(u64, SeedRun)]) -> ResultTable {
    let config = &experiment.config;
    let mut rows = Vec::new();
    for (seed, run) in seeds {
        let mut add = |round: u32, score: &Score| {
            rows.push(ResultRow {
                dataset: experiment.dataset.name.clone(),
                model: model_name(config.model.kind).to_owned(),
                mode: mode_name(config.mode).to_owned(),
                aggregation: experiment.aggregation().to_owned(),
                participation: config.federated.participation,
                align: experiment.alignment().to_owned(),
                seed: *seed,
                round,
                client: score.client.clone(),
                split: score.split.clone(),
                metric: score.metric.clone(),
                value: score.value,
            });
        };
        for past in &run.history {
            past.scores.iter().for_each(|score| add(past.round, score));
        }
        let last = run.history.last().map_or(0, |past| past.round);
        run.finals.iter().for_each(|score| add(last, score));
    }
    ResultTable { rows }
}

pub(crate) fn model_name(kind: ModelKind) -> &'static str {
    match kind {
        ModelKind::Spdnet => "spdnet",
        ModelKind::Eegnet => "eegnet",
    }
}

pub(crate) fn mode_name(mode: crate::config::Mode) -> &'static str {
    match mode {
        crate::config::Mode::Federated => "federated",
        crate::config::Mode::Centralised => "centralised",
        crate::config::Mode::Local => "local",
    }
}

/// The first numbers that a person wants: of the models that the seeds end with, over seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Headline {
    /// Macro-F1 of all clients' test trials together.
    pub macro_f1: Summary,
    /// The mean over clients of their macro-F1.
    pub mean_client: Summary,
    /// That of the worst client.
    pub worst_client: Summary,
    /// The share of test trials whose class was predicted.
    pub accuracy: Summary,
    /// Cohen's kappa.
    pub kappa: Summary,
    /// Macro-F1 of subjects that nobody trained on; of no seed if there are none.
    pub held_out: Summary,
    /// The largest `|W^T W - I|` of the final models.
    pub feasibility_error: f64,
}

/// Reads the headline off a table.
pub fn headline(table: &ResultTable) -> Headline {
    let values = |client: &str, split: &str, metric: &str| -> Vec<f64> {
        let wanted = |row: &&ResultRow| row.client == client && row.split == split && row.metric == metric;
        table.rows.iter().filter(wanted).map(|row| row.value).collect()
    };
    let over_seeds = |client, split, metric| summary(&values(client, split, metric));
    Headline {
        macro_f1: over_seeds("pooled", "test", "final_macro_f1"),
        mean_client: over_seeds("mean", "test", "final_macro_f1"),
        worst_client: over_seeds("worst", "test", "final_macro_f1"),
        accuracy: over_seeds("pooled", "test", "final_accuracy"),
        kappa: over_seeds("pooled", "test", "final_kappa"),
        held_out: over_seeds("pooled", "held-out", "final_macro_f1"),
        feasibility_error: values("pooled", "model", "final_feasibility_error")
            .into_iter()
            .fold(0.0, f64::max),
    }
}
