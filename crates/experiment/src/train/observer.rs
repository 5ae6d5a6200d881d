//! Who watches a run.

/// Watches a run, and may end it. The run itself prints nothing.
pub trait Observer {
    /// A round is over.
    fn round(&mut self, progress: &RoundProgress);

    /// Something that a person should know, and that does not stop the run.
    fn warning(&mut self, text: &str);

    /// Whether the run should end after the round that is under way.
    fn interrupted(&self) -> bool;
}

/// Nobody watches.
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

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundProgress {
    /// The seed.
    pub seed: u64,
    /// The round that is over, counted from 1.
    pub round: u32,
    /// How many there are at most.
    pub rounds: u32,
    /// How many clients took part.
    pub clients: usize,
    /// Their learning rate.
    pub learning_rate: f64,
    /// The macro-F1 of the pooled validation trials.
    pub validation_f1: Option<f64>,
    /// That of the test trials, in rounds where they are looked at.
    pub test_f1: Option<f64>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every seed is done.
    Finished,
    /// It was interrupted, and can go on.
    Interrupted {
        /// In this seed.
        seed: u64,
        /// After this round, counted from 1.
        round: u32,
    },
}
