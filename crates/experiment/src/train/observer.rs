//! Observers of a run.

use fedspd_run::Unit;

/// Observes a run and may interrupt it. The run itself prints nothing.
pub trait Observer {
    /// Receives the progress after a round.
    fn round(&mut self, progress: &RoundProgress);

    /// Receives a warning, which does not stop the run.
    fn warning(&mut self, text: &str);

    /// Whether the run should stop after the current round.
    fn interrupted(&self) -> bool;
}

/// No observer.
impl Observer for () {
    fn round(&mut self, _: &RoundProgress) {}

    fn warning(&mut self, _: &str) {}

    fn interrupted(&self) -> bool {
        false
    }
}

impl<O: Observer + ?Sized> Observer for &mut O {
    fn round(&mut self, progress: &RoundProgress) {
        (**self).round(progress);
    }

    fn warning(&mut self, text: &str) {
        (**self).warning(text);
    }

    fn interrupted(&self) -> bool {
        (**self).interrupted()
    }
}

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundProgress {
    /// The seed and its fold.
    pub unit: Unit,
    /// The completed round, counted from 1.
    pub round: u32,
    /// The largest number of rounds.
    pub rounds: u32,
    /// The number of clients in the round.
    pub clients: usize,
    /// Their learning rate.
    pub learning_rate: f64,
    /// The macro-F1 of the pooled validation trials.
    pub validation_f1: Option<f64>,
    /// The macro-F1 of the pooled test trials, in rounds with a test.
    pub test_f1: Option<f64>,
}

/// End of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every seed is done.
    Finished,
    /// The run was interrupted and can be resumed.
    Interrupted {
        /// The seed and the fold under way.
        unit: Unit,
        /// The last completed round, counted from 1.
        round: u32,
    },
}
