//! What a client does between receiving and sending.

mod epochs;
mod part;

use fedspd_manifold::Real;
use fedspd_nn::{Error, Model, Optimiser, ParamSet, Stream, Trainer};
use serde::{Deserialize, Serialize};

pub use epochs::LocalEpochs;
pub use part::{Order, Part};

/// The work of a client in a round.
pub struct Task<'a, T: Real, M: Model<T>> {
    /// The examples of this process, and which of them are its own for training.
    pub examples: &'a M::Examples,
    /// Its training trials.
    pub trials: &'a [usize],
    /// What it starts from, its local parameters included.
    pub start: &'a ParamSet<T>,
    /// How many epochs it trains.
    pub epochs: u32,
    /// How fast.
    pub learning_rate: f64,
    /// Its random stream; epochs are its own to count.
    pub stream: Stream,
    /// The round, counted from 0: a solver that remembers when it last took part knows what it missed.
    pub round: u32,
    /// What the server's method sent beside the parameters.
    pub attachment: &'a [T],
}

/// How training went.
#[derive(Clone, Debug, PartialEq)]
pub struct Trained<T> {
    /// The mean loss of the last epoch.
    pub loss: f64,
    /// What the method sends beside the parameters, such as the change of a control variate.
    pub extra: Vec<T>,
}

/// A way of training between receiving and sending.
///
/// It may keep numbers from round to round, such as moments or a control variate: its memory, empty before the first round. It corrects gradients
/// where it must ([`Trainer::corrected_epoch`]), or steps by itself.
pub trait LocalSolver<T: Real, M: Model<T>>: Sync {
    /// Trains the parameters at the desk, which are those of [`Task::start`] when it begins.
    ///
    /// # Errors
    /// Whatever happens in training, such as [`Error::Diverged`].
    fn train(
        &self,
        task: &Task<'_, T, M>,
        memory: &mut Vec<f64>,
        desk: &mut Desk<'_, T, M>,
    ) -> Result<Trained<T>, Error>;
}

/// The place where one client after the other works, with all the memory for it: one for each thread.
pub struct Desk<'m, T: Real, M: Model<T>> {
    /// Epochs and evaluation.
    pub trainer: Trainer<'m, T, M>,
    /// The optimiser of the last client, to be restarted.
    pub optimiser: Option<Optimiser<T>>,
    /// The parameters that are worked on.
    pub parameters: ParamSet<T>,
}

impl<'m, T: Real, M: Model<T>> Desk<'m, T, M> {
    /// A desk for a model, with batches of that size; several threads work on one batch if asked for, as with a [`Trainer`].
    ///
    /// # Errors
    /// As [`Trainer::new`].
    pub fn new(model: &'m M, batch: usize, threads: usize) -> Result<Self, Error> {
        let layout = model.layout();
        let parameters = ParamSet::new(layout.clone(), vec![T::ZERO; layout.size()])?;
        Ok(Self { trainer: Trainer::new(model, batch, threads)?, optimiser: None, parameters })
    }
}

/// What a client keeps for itself from round to round.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientState {
    /// Its local parameters; empty before its first round.
    pub local: Vec<f64>,
    /// What its solver remembers.
    pub memory: Vec<f64>,
}
