//! Learning-rate schedules and early stopping.

mod cosine;
mod early_stopping;
mod plateau;

use serde::{Deserialize, Serialize};

pub use early_stopping::EarlyStopping;
pub use plateau::Plateau;

use crate::{Error, check};

/// Direction of a metric: smaller is better (a loss) or larger is better (a score).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Smaller is better.
    Min,
    /// Larger is better.
    Max,
}

/// Learning-rate schedule over steps (epochs or rounds).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "schedule", deny_unknown_fields)]
pub enum ScheduleConfig {
    /// Constant rate.
    Constant,
    /// The rate falls along half a cosine wave, from the first step to the last.
    Cosine {
        /// The number of steps.
        steps: u64,
        /// The share of the first rate at the end.
        final_share: f64,
    },
    /// The rate is multiplied by a factor when a metric stops improving (torch's
    /// `ReduceLROnPlateau`).
    Plateau {
        /// Whether the metric is a loss or a score.
        mode: Mode,
        /// The factor for the rate.
        factor: f64,
        /// The number of tolerated steps without improvement.
        patience: u64,
    },
}

/// The state of a learning-rate schedule. It can be stored and resumed.
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
    /// Creates a schedule that starts at a learning rate.
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

    /// Returns the current learning rate.
    pub fn learning_rate(&self) -> f64 {
        match &self.kind {
            Kind::Constant => self.first,
            Kind::Cosine { steps, final_share } => {
                self.first * cosine::share(self.steps, *steps, *final_share)
            }
            Kind::Plateau(plateau) => plateau.learning_rate(),
        }
    }

    /// Advances by one step with the metric at its end.
    pub fn step(&mut self, metric: f64) {
        // A damaged checkpoint may hold any count.
        self.steps = self.steps.saturating_add(1);
        if let Kind::Plateau(plateau) = &mut self.kind {
            plateau.step(metric);
        }
    }
}
