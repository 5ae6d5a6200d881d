//! When to stop, and what to keep.

use fedspd_manifold::Real;

use super::Mode;
use crate::params::ParamSet;

/// Keeps the best parameters and says when nothing has improved for too long.
#[derive(Clone, Debug)]
pub struct EarlyStopping<T> {
    mode: Mode,
    patience: u64,
    steps: u64,
    best: Option<Best<T>>,
}

#[derive(Clone, Debug)]
struct Best<T> {
    step: u64,
    metric: f64,
    parameters: ParamSet<T>,
}

impl<T: Real> EarlyStopping<T> {
    /// Stops after `patience` steps in a row without improvement.
    pub fn new(mode: Mode, patience: u64) -> Self {
        Self { mode, patience, steps: 0, best: None }
    }

    /// One step further; returns whether to stop. Any improvement counts; a NaN is none.
    pub fn step(&mut self, metric: f64, parameters: &ParamSet<T>) -> bool {
        self.steps += 1;
        let better = match &mut self.best {
            None => !metric.is_nan(),
            Some(best) if self.mode == Mode::Min => metric < best.metric,
            Some(best) => metric > best.metric,
        };
        if better {
            let step = self.steps;
            match &mut self.best {
                Some(best) if best.parameters.layout() == parameters.layout() => {
                    (best.step, best.metric) = (step, metric);
                    best.parameters.values_mut().copy_from_slice(parameters.values());
                }
                best => *best = Some(Best { step, metric, parameters: parameters.clone() }),
            }
        }
        self.steps - self.best.as_ref().map_or(0, |best| best.step) >= self.patience.max(1)
    }

    /// The best metric, the step it was reached at (counted from 1), and the parameters then.
    pub fn best(&self) -> Option<(f64, u64, &ParamSet<T>)> {
        self.best.as_ref().map(|best| (best.metric, best.step, &best.parameters))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::params::{Layout, Tensor};

    #[test]
    fn it_stops_after_patience_and_restores_the_best() {
        let layout = Arc::new(Layout::new(vec![Tensor::euclidean("x", &[1])]).unwrap());
        let at = |x: f64| ParamSet::new(Arc::clone(&layout), vec![x]).unwrap();
        let mut stopping = EarlyStopping::new(Mode::Max, 3);
        let scores = [0.1, f64::NAN, 0.5, 0.5, 0.4, 0.3];
        let stops: Vec<bool> =
            scores.iter().zip(0_u32..).map(|(&s, i)| stopping.step(s, &at(f64::from(i)))).collect();
        assert_eq!(stops, [false, false, false, false, false, true]);
        let (metric, step, parameters) = stopping.best().unwrap();
        assert_eq!((metric, step, parameters.values()), (0.5, 3, &[2.0][..]));

        let mut stopping = EarlyStopping::new(Mode::Min, 2);
        let losses = [0.5, 0.3, 0.4, 0.35];
        let stops: Vec<bool> = losses.iter().map(|&loss| stopping.step(loss, &at(loss))).collect();
        assert_eq!(stops, [false, false, false, true]);
        assert_eq!(stopping.best().unwrap().2.values(), [0.3]);
    }
}
