//! A client's part in a round, wherever the client is.

use fedspd_manifold::Real;
use fedspd_nn::{Model, ParamSet, Purpose, Seed};

use super::{ClientState, Desk, LocalSolver, Task, Trained};
use crate::Wire;

/// What a round asks of one client.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a, T> {
    /// The round, counted from 0.
    pub round: u32,
    /// How many epochs the client trains.
    pub epochs: u32,
    /// How fast.
    pub learning_rate: f64,
    /// The parameters of the server. Local ones are as they were initialised.
    pub parameters: &'a ParamSet<T>,
    /// What the server's method sends beside.
    pub attachment: &'a [T],
}

/// A client with all that its work needs: the same in the process of the server and on a machine of its own.
pub struct Part<'a, T: Real, M: Model<T>, S> {
    /// The examples of this process.
    pub examples: &'a M::Examples,
    /// Which of them the client trains on.
    pub trials: &'a [usize],
    /// How.
    pub solver: &'a S,
    /// Which numbers stay.
    pub wire: &'a Wire,
    /// The seed of the federation.
    pub seed: Seed,
    /// The client's number in random streams.
    pub number: u32,
}

impl<T: Real, M: Model<T>, S: LocalSolver<T, M>> Part<'_, T, M, S> {
    /// Trains; gives the parameters, how it went, and what the client keeps if its reply counts. The state it began with is left as it was.
    ///
    /// # Errors
    /// Why the client failed, in words.
    pub fn play(
        &self,
        order: &Order<'_, T>,
        state: &ClientState,
        desk: &mut Desk<'_, T, M>,
    ) -> Result<(ParamSet<T>, Trained<T>, ClientState), String> {
        let mut state = state.clone();
        let start = self.wire.with_local(order.parameters, &state.local);
        desk.parameters.values_mut().copy_from_slice(start.values());
        let task = Task {
            examples: self.examples,
            trials: self.trials,
            start: &start,
            epochs: order.epochs,
            learning_rate: order.learning_rate,
            stream: self.seed.stream(Purpose::Shuffle).round(order.round).client(self.number),
            round: order.round,
            attachment: order.attachment,
        };
        let trained = self.solver.train(&task, &mut state.memory, desk).map_err(|error| error.to_string())?;
        state.local = self.wire.local(&desk.parameters).into_iter().map(T::to_f64).collect();
        if let Some(value) = state.local.iter().find(|value| !value.is_finite()) {
            return Err(format!("a parameter that it keeps became {value}"));
        }
        Ok((desk.parameters.clone(), trained, state))
    }
}
