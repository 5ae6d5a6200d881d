//! How the learning rate changes, and when to stop.

mod cosine;
mod early_stopping;
mod plateau;

use serde::{Deserialize, Serialize};

pub use early_stopping::EarlyStopping;
pub use plateau::Plateau;

use crate::{Error, check};

/// Whether a metric is better when it is smaller (a loss) or larger (a score).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Smaller is better.
    Min,
    /// Larger is better.
    Max,
}

/// How the learning rate changes from step to step of the schedule (an epoch or a round).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "schedule", deny_unknown_fields)]
pub enum ScheduleConfig {
    /// It stays.
    Constant,
    /// It falls along half a cosine wave, from the first step to the last.
    Cosine {
        /// The number of steps.
        steps: u64,
        /// The share of the first rate that is left at the end.
        final_share: f64,
    },
    /// It is multiplied by a factor when a metric has stopped improving (torch's `ReduceLROnPlateau`).
    Plateau {
        /// Whether the metric is a loss or a score.
        mode: Mode,
        /// What the rate is multiplied by.
        factor: f64,
        /// Steps without improvement that are tolerated.
        patience: u64,
    },
}

/// A learning rate in the course of a schedule. It can be stored and goes on where it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    first: f64,
    steps: u64,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    Constant,
    Cosine { steps: u64, final_share: f64 },
    Plateau(Plateau),
}

impl Schedule {
    /// Starts at a learning rate.
    ///
    /// # Errors
    /// [`Error::Config`] for settings out of range.
    pub fn new(config: ScheduleConfig, learning_rate: f64) -> Result<Self, Error> {
        let positive = learning_rate > 0.0 && learning_rate.is_finite();
        check("learning_rate", learning_rate, positive, || "positive and finite".into())?;
        let kind = match config {
            ScheduleConfig::Constant => Kind::Constant,
            ScheduleConfig::Cosine { steps, final_share } => {
                check("steps", steps, steps > 0, || "at least 1".into())?;
                let share = (0.0..=1.0).contains(&final_share);
                check("final_share", final_share, share, || "between 0 and 1".into())?;
                Kind::Cosine { steps, final_share }
            }
            ScheduleConfig::Plateau { mode, factor, patience } => {
                Kind::Plateau(Plateau::new(mode, factor, patience, learning_rate)?)
            }
        };
        Ok(Self { first: learning_rate, steps: 0, kind })
    }

    /// The learning rate now.
    pub fn learning_rate(&self) -> f64 {
        match &self.kind {
            Kind::Constant => self.first,
            Kind::Cosine { steps, final_share } => {
                self.first * cosine::share(self.steps, *steps, *final_share)
            }
            Kind::Plateau(plateau) => plateau.learning_rate(),
        }
    }

    /// One step further, with the metric that it ended with.
    pub fn step(&mut self, metric: f64) {
        self.steps += 1;
        if let Kind::Plateau(plateau) = &mut self.kind {
            plateau.step(metric);
        }
    }
}
