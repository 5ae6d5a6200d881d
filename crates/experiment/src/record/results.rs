//! The tidy table of a run.

use fedspd_run::{ResultRow, ResultTable, Stage, Unit};

use super::checkpoint::PastRound;
use crate::Error;
use crate::config::{Config, Mode};
use crate::evaluate::{Score, pool_folds};
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
pub(crate) fn table<'a>(
    config: &Config,
    dataset: &str,
    align: &str,
    units: impl IntoIterator<Item = &'a UnitResults>,
) -> ResultTable {
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

/// Returns the final scores of all folds together, for each seed whose folds are all done; none
/// without folds.
pub(crate) fn pooled(
    classes: &[String],
    folds: Option<usize>,
    units: &[UnitResults],
) -> Result<Vec<UnitResults>, Error> {
    let Some(folds) = folds else { return Ok(Vec::new()) };
    let mut pooled = Vec::new();
    for done in units.chunk_by(|a, b| a.unit.seed == b.unit.seed) {
        let tested = done.iter().filter(|unit| unit.unit.stage != Some(Stage::Choose));
        let finals: Vec<&[Score]> =
            tested.map(|unit| &unit.finals[..]).filter(|finals| !finals.is_empty()).collect();
        if finals.len() == folds {
            let (unit, finals) = (Unit::of_seed(done[0].unit.seed), pool_folds(classes, &finals)?);
            pooled.push(UnitResults { unit, rounds: Vec::new(), finals });
        }
    }
    Ok(pooled)
}
