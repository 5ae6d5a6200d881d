//! The tidy table of a run.

use fedspd_run::{ResultRow, ResultTable};

use crate::config::{Config, Mode, ModelKind, Weighting};
use crate::network;
use crate::scores::Score;
use crate::seed_run::SeedRun;

/// The rows of all seeds.
pub(crate) fn table(config: &Config, dataset: &str, align: &str, seeds: &[(u64, SeedRun)]) -> ResultTable {
    let server = network::server(config);
    let aggregation = if config.mode == Mode::Federated { server.aggregation.name() } else { "none" };
    let mut rows = Vec::new();
    for (seed, run) in seeds {
        let mut add = |round: u32, score: &Score| {
            rows.push(ResultRow {
                dataset: dataset.to_owned(),
                model: model_name(config.model.kind).to_owned(),
                mode: mode_name(config.mode).to_owned(),
                aggregation: aggregation.to_owned(),
                participation: server.participation,
                align: align.to_owned(),
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

pub(crate) fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Federated => "federated",
        Mode::Centralised => "centralised",
        Mode::Local => "local",
    }
}

/// How much each client's reply counts.
pub(crate) fn weights_name(weights: Weighting) -> &'static str {
    match weights {
        Weighting::Uniform => "uniform",
        Weighting::ByTrials => "by-trials",
    }
}
