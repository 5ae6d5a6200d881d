//! Stopping criteria of iterations.

/// Stopping criterion of an iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IterationLimits {
    /// The iteration has converged when a step is at most this long.
    pub tolerance: f64,
    /// The iteration fails after this many steps.
    pub iterations: usize,
}

impl Default for IterationLimits {
    fn default() -> Self {
        Self { tolerance: 1e-12, iterations: 200 }
    }
}
