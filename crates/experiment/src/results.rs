//! The tidy table of a run.

use fedspd_run::{ResultRow, ResultTable};

use crate::config::ModelKind;
use crate::experiment::Experiment;
use crate::network;
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
                participation: network::server(config).participation,
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
