//! A client: its trials, its state and its reply to a message.

use fedspd_manifold::Real;
use fedspd_nn::{Error, Model, Optimiser, OptimiserConfig, ParamSet, Purpose, Seed, Stream, Trainer};
use serde::{Deserialize, Serialize};

use crate::method::{ClientMethod, Exchange};
use crate::{Message, ParameterScopes};

/// The work of a client in an exchange.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a, T> {
    /// The exchange.
    pub exchange: Exchange,
    /// Number of local epochs.
    pub epochs: u32,
    /// The learning rate.
    pub learning_rate: f64,
    /// The parameters of the message. Local ones have their initial values until the client inserts
    /// its own, before its method runs.
    pub start: &'a ParamSet<T>,
    /// The message of the server.
    pub message: &'a Message,
}

/// Changes the gradient of a batch before a step, given the parameters.
pub type Correction<'a, T> = dyn FnMut(&ParamSet<T>, &mut [T]) -> Result<(), Error> + 'a;

/// Training on a client's own trials, for any model.
pub trait LocalTraining<T: Real> {
    /// The parameters in training.
    fn parameters(&mut self) -> &mut ParamSet<T>;

    /// Trains with an optimiser. It starts from the moments in `carried`, if there are any, and
    /// stores its new moments there. Returns the mean loss of the last epoch.
    ///
    /// # Errors
    /// As [`Trainer::epoch`], and those of the correction.
    fn epochs(
        &mut self,
        optimiser: OptimiserConfig,
        carried: Option<&mut Vec<f64>>,
        epochs: u32,
        learning_rate: f64,
        correct: &mut Correction<'_, T>,
    ) -> Result<f64, Error>;
}

/// Working memory of one training thread, for one client after the other.
pub struct Worker<'m, T: Real, M: Model<T>> {
    /// Epochs and evaluation.
    pub trainer: Trainer<'m, T, M>,
    /// The optimiser of the last client, which the next client restarts.
    optimiser: Option<Optimiser<T>>,
    parameters: ParamSet<T>,
}

impl<'m, T: Real, M: Model<T>> Worker<'m, T, M> {
    /// Creates a worker for a model and a batch size. `threads` threads share the work of a batch,
    /// as in a [`Trainer`].
    ///
    /// # Errors
    /// As [`Trainer::new`].
    pub fn new(model: &'m M, batch: usize, threads: usize) -> Result<Self, Error> {
        let layout = model.layout();
        let parameters = ParamSet::new(layout.clone(), vec![T::ZERO; layout.size()])?;
        Ok(Self { trainer: Trainer::new(model, batch, threads)?, optimiser: None, parameters })
    }

    /// Prepares training on a client's trials, from given parameters.
    pub fn training<'w>(
        &'w mut self,
        start: &ParamSet<T>,
        examples: &'w M::Examples,
        trials: &'w [usize],
        stream: Stream,
    ) -> Training<'w, 'm, T, M> {
        self.parameters.values_mut().copy_from_slice(start.values());
        Training { worker: self, examples, trials, stream }
    }
}

/// Training on one client's trials with a worker.
pub struct Training<'w, 'm, T: Real, M: Model<T>> {
    worker: &'w mut Worker<'m, T, M>,
    examples: &'w M::Examples,
    trials: &'w [usize],
    stream: Stream,
}

impl<T: Real, M: Model<T>> LocalTraining<T> for Training<'_, '_, T, M> {
    fn parameters(&mut self) -> &mut ParamSet<T> {
        &mut self.worker.parameters
    }

    fn epochs(
        &mut self,
        config: OptimiserConfig,
        carried: Option<&mut Vec<f64>>,
        epochs: u32,
        learning_rate: f64,
        correct: &mut Correction<'_, T>,
    ) -> Result<f64, Error> {
        let Worker { trainer, optimiser, parameters } = &mut *self.worker;
        let optimiser = match optimiser {
            Some(optimiser) if optimiser.config() == config => optimiser,
            other => other.insert(Optimiser::new(config, parameters)?),
        };
        match &carried {
            Some(moments) if !moments.is_empty() => optimiser.recall(parameters, moments)?,
            _ => optimiser.restart(parameters)?,
        }
        let mut loss = f64::NAN;
        for epoch in 0..epochs {
            loss = trainer.corrected_epoch(
                parameters,
                optimiser,
                learning_rate,
                self.examples,
                self.trials,
                self.stream.epoch(epoch),
                &mut *correct,
            )?;
        }
        optimiser.finish(parameters)?;
        if let Some(moments) = carried {
            *moments = optimiser.memory();
        }
        Ok(loss)
    }
}

/// The state that a client keeps to itself between exchanges.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientState {
    /// Its local parameters; empty before its first round.
    pub local: Vec<f64>,
    /// The memory of its method.
    pub memory: Vec<f64>,
}

/// A client with everything that its work needs. It is the same in the server's process and at a
/// site.
pub struct Client<'a, T: Real, M: Model<T>> {
    /// The examples of this process.
    pub examples: &'a M::Examples,
    /// Indices of the client's training trials.
    pub trials: &'a [usize],
    /// The client half of the method.
    pub method: &'a dyn ClientMethod<T>,
    /// The shared and local parameters.
    pub scopes: &'a ParameterScopes,
    /// The seed of the federation.
    pub seed: Seed,
    /// The client's number in random streams.
    pub number: u32,
}

impl<T: Real, M: Model<T>> Client<'_, T, M> {
    /// Does the work of an exchange. Returns the reply and the next state, which the client keeps
    /// only if the reply counts. `state` does not change.
    ///
    /// # Errors
    /// The reason for the failure, as text.
    pub fn reply(
        &self,
        task: &Task<'_, T>,
        state: &ClientState,
        worker: &mut Worker<'_, T, M>,
    ) -> Result<(Message, ClientState), String> {
        let mut state = state.clone();
        let start = self.scopes.with_local(task.start, &state.local);
        let stream = self.seed.stream(Purpose::Shuffle).round(task.exchange.round).client(self.number);
        let mut training = worker.training(&start, self.examples, self.trials, stream);
        let task = Task { start: &start, ..*task };
        let reply = self.method.reply(&task, &mut state.memory, &mut training);
        let reply = reply.map_err(|error| error.to_string())?;
        let values = training.parameters();
        state.local = self.scopes.local(values).into_iter().map(T::to_f64).collect();
        if let Some(&value) = state.local.iter().find(|value| !value.is_finite()) {
            return Err(Error::Diverged { what: "a local parameter", value }.to_string());
        }
        Ok((reply, state))
    }
}
