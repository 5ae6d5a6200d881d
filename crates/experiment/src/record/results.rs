//! The tidy table of a run.

use fedspd_run::{ResultRow, ResultTable, Unit};

use super::checkpoint::PastRound;
use crate::config::{Config, Mode};
use crate::evaluate::Score;
use crate::train::settings;

/// The scores of a unit.
pub(crate) struct UnitResults {
    pub(crate) unit: Unit,
    /// The scores of its rounds.
    pub(crate) rounds: Vec<PastRound>,
    /// The scores of its final model.
    pub(crate) finals: Vec<Score>,
}

/// Returns the rows of all units.
pub(crate) fn table(config: &Config, dataset: &str, align: &str, units: &[UnitResults]) -> ResultTable {
    let server = settings::server(config);
    let aggregation = if config.mode == Mode::Federated { server.aggregation.name() } else { "none" };
    let mut rows = Vec::new();
    for UnitResults { unit, rounds, finals } in units {
        let mut add = |round: u32, score: &Score| {
            rows.push(ResultRow {
                dataset: dataset.to_owned(),
                model: config.model.kind.name().to_owned(),
                mode: config.mode.name().to_owned(),
                aggregation: aggregation.to_owned(),
                participation: server.participation,
                align: align.to_owned(),
                seed: unit.seed,
                fold: unit.fold,
                round,
                client: score.client.clone(),
                split: score.split.clone(),
                metric: score.metric.clone(),
                value: score.value,
            });
        };
        for past in rounds {
            past.scores.iter().for_each(|score| add(past.round, score));
        }
        let last = rounds.last().map_or(0, |past| past.round);
        for score in finals {
            add(last, score);
        }
    }
    ResultTable { rows }
}
