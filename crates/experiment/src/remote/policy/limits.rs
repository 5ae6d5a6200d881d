//! The limits of what a study may ask of a site.

use fedspd_nn::ModelKind;
use serde::Deserialize;

use super::super::introduction::Counts;
use crate::Error;
use crate::config::Config;
use crate::train::settings;

/// The limits of a study. A study beyond one of them is refused.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// The networks that it trains.
    pub models: Vec<ModelKind>,
    /// The largest size of a layer of an SPDnet.
    pub largest_size: usize,
    /// Fewest training trials of each class. An update of a network that saw one trial of a class is
    /// that trial.
    pub fewest_trials: usize,
    /// Most local epochs in a round.
    pub most_epochs: u32,
    /// Most rounds.
    pub most_rounds: u32,
    /// The largest learning rate.
    pub largest_learning_rate: f64,
    /// The number of threads; that of the study if absent.
    pub threads: Option<usize>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            models: ModelKind::ALL.to_vec(),
            largest_size: 64,
            fewest_trials: 5,
            most_epochs: 50,
            most_rounds: 2000,
            largest_learning_rate: 0.1,
            threads: None,
        }
    }
}

impl Limits {
    pub(super) fn check(&self) -> Result<(), String> {
        let positive = |key: &str, value: f64| {
            if value > 0.0 && value.is_finite() {
                return Ok(());
            }
            Err(format!("`limits.{key}` is {value}; it must be positive"))
        };
        if self.models.is_empty() {
            return Err("`limits.models` is empty: no study could run".into());
        }
        positive("largest_size", self.largest_size as f64)?;
        positive("fewest_trials", self.fewest_trials as f64)?;
        positive("most_epochs", self.most_epochs.into())?;
        positive("most_rounds", self.most_rounds.into())?;
        positive("largest_learning_rate", self.largest_learning_rate)?;
        self.threads.map_or(Ok(()), |threads| positive("threads", threads as f64))
    }

    pub(super) fn allow(&self, study: &Config) -> Result<(), Error> {
        if !self.models.contains(&study.model.kind) {
            let allowed: Vec<&str> = self.models.iter().map(|kind| kind.name()).collect();
            return Err(refusal("model.kind", study.model.kind.name(), "models", allowed.join(", ")));
        }
        let largest = study.model.dims.iter().copied().max().unwrap_or(0);
        if largest > self.largest_size {
            return Err(refusal(
                "model.dims",
                format!("{:?}", study.model.dims),
                "largest_size",
                self.largest_size,
            ));
        }
        let work = settings::server(study).work;
        let epochs = work.exceptions.values().copied().chain([work.epochs]).max().unwrap_or(0);
        if epochs > self.most_epochs {
            return Err(refusal("federated.epochs_local", epochs, "most_epochs", self.most_epochs));
        }
        let rounds = settings::rounds(study);
        if rounds > self.most_rounds {
            return Err(refusal("federated.rounds", rounds, "most_rounds", self.most_rounds));
        }
        if !(study.train.lr <= self.largest_learning_rate) {
            return Err(refusal(
                "train.lr",
                study.train.lr,
                "largest_learning_rate",
                self.largest_learning_rate,
            ));
        }
        Ok(())
    }

    pub(super) fn allow_trials(&self, trials: &Counts) -> Result<(), Error> {
        // A class that the site does not have at all reveals nothing.
        let fewest = trials.train.iter().copied().filter(|&count| count > 0).min().unwrap_or(0);
        if fewest < self.fewest_trials {
            return Err(refusal(
                "split",
                format!("{fewest} training trials of a class"),
                "fewest_trials",
                self.fewest_trials,
            ));
        }
        Ok(())
    }
}

fn refusal(
    key: &'static str,
    asked: impl std::fmt::Display,
    limit: &'static str,
    allowed: impl std::fmt::Display,
) -> Error {
    Error::PolicyRefuses { key, asked: asked.to_string(), limit, allowed: allowed.to_string() }
}
