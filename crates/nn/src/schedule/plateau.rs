//! torch's `ReduceLROnPlateau`.

use serde::{Deserialize, Serialize};

use super::Mode;
use crate::{Error, check};

/// Multiplies the learning rate by a factor after more than `patience` steps without improvement.
///
/// As in torch, an improvement must exceed a relative 1e-4, and changes of the rate below 1e-8 are
/// skipped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plateau {
    mode: Mode,
    factor: f64,
    patience: u64,
    learning_rate: f64,
    best: f64,
    bad_steps: u64,
}

const THRESHOLD: f64 = 1e-4;
const SMALLEST_CHANGE: f64 = 1e-8;

impl Plateau {
    /// Creates a schedule that starts at a learning rate.
    ///
    /// # Errors
    /// [`Error::Config`] if the factor is not between 0 and 1.
    pub fn new(mode: Mode, factor: f64, patience: u64, learning_rate: f64) -> Result<Self, Error> {
        check("factor", factor, factor > 0.0 && factor < 1.0, || "between 0 and 1".into())?;
        let best = if mode == Mode::Min { f64::INFINITY } else { f64::NEG_INFINITY };
        Ok(Self { mode, factor, patience, learning_rate, best, bad_steps: 0 })
    }

    /// Returns the current learning rate.
    pub fn learning_rate(&self) -> f64 {
        self.learning_rate
    }

    /// Advances by one step with the metric at its end. A NaN is no improvement.
    pub fn step(&mut self, metric: f64) {
        let better = match self.mode {
            Mode::Min => metric < self.best * (1.0 - THRESHOLD),
            Mode::Max => metric > self.best * (1.0 + THRESHOLD),
        };
        if better {
            (self.best, self.bad_steps) = (metric, 0);
        } else {
            // A damaged checkpoint may hold any count.
            self.bad_steps = self.bad_steps.saturating_add(1);
        }
        if self.bad_steps > self.patience {
            let reduced = self.learning_rate * self.factor;
            if self.learning_rate - reduced > SMALLEST_CHANGE {
                self.learning_rate = reduced;
            }
            self.bad_steps = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(mode: Mode, patience: u64, metrics: impl IntoIterator<Item = f64>) -> Vec<f64> {
        let mut plateau = Plateau::new(mode, 0.5, patience, 1e-3).unwrap();
        metrics
            .into_iter()
            .map(|metric| {
                plateau.step(metric);
                plateau.learning_rate()
            })
            .collect()
    }

    /// With patience 20, 21 steps without improvement halve the rate once.
    #[test]
    fn patience_plus_one_steps_without_improvement_halve_the_rate_once() {
        let metrics = [1.0; 22];
        let found = rates(Mode::Min, 20, metrics);
        assert_eq!(found[..21], [1e-3; 21]);
        assert_eq!(found[21], 5e-4);
        assert_eq!(rates(Mode::Min, 20, [1.0; 42])[41], 5e-4);
        assert_eq!(rates(Mode::Min, 20, [1.0; 43])[42], 2.5e-4);
    }

    #[test]
    fn only_a_relative_improvement_of_one_in_ten_thousand_counts() {
        assert_eq!(rates(Mode::Min, 0, [1.0, 0.99995]), [1e-3, 5e-4]);
        assert_eq!(rates(Mode::Min, 0, [1.0, 0.9998]), [1e-3, 1e-3]);
        assert_eq!(rates(Mode::Max, 0, [1.0, 1.00005]), [1e-3, 5e-4]);
        assert_eq!(rates(Mode::Max, 0, [1.0, 1.0002]), [1e-3, 1e-3]);
        assert_eq!(rates(Mode::Min, 0, [1.0, f64::NAN]), [1e-3, 5e-4]);
    }

    #[test]
    fn impossible_counts_of_a_damaged_checkpoint_do_not_overflow() {
        let mut plateau = Plateau::new(Mode::Min, 0.5, u64::MAX, 1e-3).unwrap();
        plateau.bad_steps = u64::MAX;
        plateau.step(f64::NAN);
        assert_eq!(plateau.learning_rate(), 1e-3);
    }

    #[test]
    fn tiny_changes_are_not_made() {
        let last = *rates(Mode::Min, 0, [1.0; 100]).last().unwrap();
        assert!(last > 1e-8 && last < 4e-8, "{last}");
    }
}
