//! The choices of the first stage of a fold, for its second stage (`split.refit`).

use crate::evaluate::Score;
use crate::record::UnitResults;

/// The metrics of the choices, beside the scores of the first stage.
const LEARNING_RATE: &str = "learning_rate";
const CHOSEN_ROUNDS: &str = "chosen_rounds";
const MODEL: &str = "model";

/// The learning rates of the chosen rounds, for each model by name.
pub(crate) struct Chosen(Vec<(String, Vec<f64>)>);

impl Chosen {
    /// Reads the choices from the results of the first stage.
    pub(crate) fn of(choosing: &UnitResults) -> Self {
        let of_models = |score: &&Score| score.split == MODEL && score.metric == CHOSEN_ROUNDS;
        let model = |score: &Score| {
            let own = |rate: &&Score| {
                rate.client == score.client && rate.split == MODEL && rate.metric == LEARNING_RATE
            };
            let rates = choosing.rounds.iter().filter_map(|past| past.scores.iter().find(own));
            (score.client.clone(), rates.take(score.value as usize).map(|rate| rate.value).collect())
        };
        Self(choosing.finals.iter().filter(of_models).map(model).collect())
    }

    /// Returns the learning rates of a model. A client that did not train in the first stage, but
    /// trains alone in the second, has those of the client with the most rounds.
    pub(crate) fn rates(&self, model: &str) -> Vec<f64> {
        let own = self.0.iter().find(|(name, _)| name == model);
        let most = || self.0.iter().max_by_key(|(_, rates)| rates.len());
        own.or_else(most).map_or(Vec::new(), |(_, rates)| rates.clone())
    }

    /// Returns the largest number of rounds.
    pub(crate) fn rounds(&self) -> u32 {
        self.0.iter().map(|(_, rates)| rates.len() as u32).max().unwrap_or(0)
    }

    /// Returns the number of rounds of the only model.
    pub(crate) fn only(&self) -> Option<u32> {
        if let [(_, rates)] = &self.0[..] { Some(rates.len() as u32) } else { None }
    }
}

/// Records the learning rate of a model in a round of the first stage.
pub(crate) fn learning_rate(model: &str, value: f64) -> Score {
    Score { client: model.to_owned(), split: MODEL.into(), metric: LEARNING_RATE.into(), value }
}

/// Records the number of rounds of a model that the first stage chose.
pub(crate) fn chosen_rounds(model: &str, rounds: usize) -> Score {
    let value = rounds as f64;
    Score { client: model.to_owned(), split: MODEL.into(), metric: CHOSEN_ROUNDS.into(), value }
}
