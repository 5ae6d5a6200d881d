//! Early stopping.

use serde::{Deserialize, Serialize};

use super::Mode;

/// Keeps the data of the best metric, such as parameters, and stops after too many steps without
/// improvement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EarlyStopping<K> {
    mode: Mode,
    patience: u64,
    steps: u64,
    best: Option<Best<K>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Best<K> {
    step: u64,
    metric: f64,
    kept: K,
}

impl<K> EarlyStopping<K> {
    /// Stops after `patience` consecutive steps without improvement.
    pub fn new(mode: Mode, patience: u64) -> Self {
        Self { mode, patience, steps: 0, best: None }
    }

    /// Records one step and returns whether to stop. Any improvement counts and calls `keep`. A NaN
    /// is no improvement.
    pub fn step(&mut self, metric: f64, keep: impl FnOnce() -> K) -> bool {
        // A damaged checkpoint may hold any count.
        self.steps = self.steps.saturating_add(1);
        let better = match &self.best {
            None => !metric.is_nan(),
            Some(best) if self.mode == Mode::Min => metric < best.metric,
            Some(best) => metric > best.metric,
        };
        if better {
            self.best = Some(Best { step: self.steps, metric, kept: keep() });
        }
        self.steps.saturating_sub(self.best.as_ref().map_or(0, |best| best.step)) >= self.patience.max(1)
    }

    /// Returns the best metric, its step (counted from 1), and the data kept then.
    pub fn best(&self) -> Option<(f64, u64, &K)> {
        self.best.as_ref().map(|best| (best.metric, best.step, &best.kept))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stops_after_patience_and_keeps_the_best() {
        let mut stopping = EarlyStopping::new(Mode::Max, 3);
        let scores = [0.1, f64::NAN, 0.5, 0.5, 0.4, 0.3];
        let stops: Vec<bool> = scores.iter().enumerate().map(|(i, &s)| stopping.step(s, || i)).collect();
        assert_eq!(stops, [false, false, false, false, false, true]);
        assert_eq!(stopping.best(), Some((0.5, 3, &2)));

        let mut stopping = EarlyStopping::new(Mode::Min, 2);
        let losses = [0.5, 0.3, 0.4, 0.35];
        let stops: Vec<bool> = losses.iter().map(|&loss| stopping.step(loss, || loss)).collect();
        assert_eq!(stops, [false, false, false, true]);
        assert_eq!(stopping.best().unwrap().2, &0.3);
    }

    #[test]
    fn impossible_counts_of_a_damaged_checkpoint_do_not_overflow() {
        let most = u64::MAX;
        let text = format!(r#"{{"mode": "max", "patience": 2, "steps": {most}, "best": null}}"#);
        let mut stopping: EarlyStopping<()> = serde_json::from_str(&text).unwrap();
        assert!(stopping.step(f64::NAN, || ()));
        let best = format!(r#"{{"step": {most}, "metric": 0.5, "kept": null}}"#);
        let text = format!(r#"{{"mode": "max", "patience": 2, "steps": 1, "best": {best}}}"#);
        let mut stopping: EarlyStopping<()> = serde_json::from_str(&text).unwrap();
        assert!(!stopping.step(0.1, || ()));
    }
}
