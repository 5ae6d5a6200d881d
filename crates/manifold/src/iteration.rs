//! When iterations stop.

/// When an iteration stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IterationLimits {
    /// It has converged when a step is not longer than this.
    pub tolerance: f64,
    /// It gives up after this many steps.
    pub iterations: usize,
}

impl Default for IterationLimits {
    fn default() -> Self {
        Self { tolerance: 1e-12, iterations: 200 }
    }
}
