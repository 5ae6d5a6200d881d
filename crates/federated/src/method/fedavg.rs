//! `fedavg`: clients train, and the server averages their parameters (`McMahan` et al. 2017; on the
//! Stiefel manifold, Algorithm 1 of the FedSPDnet paper).

use fedspd_manifold::Real;
use fedspd_nn::{Error as NetworkError, ParamSet};

use super::{ClientMethod, LocalEpochs, Merged, ServerMethod};
use crate::aggregate::{Aggregator, Fault};
use crate::client::{LocalTraining, Task};
use crate::{Error, Message, ParameterScopes, Part, PartSpec, Parts};

/// Parameters down; parameters and the training loss up.
pub(super) fn parts<T: Real>(scopes: &ParameterScopes) -> Parts {
    let down = scopes.specs::<T>();
    let mut up = down.clone();
    up.push(PartSpec::loss());
    Parts { down, up }
}

/// The client half: local epochs on the client's own trials.
pub struct Client {
    scopes: ParameterScopes,
    local: LocalEpochs,
}

impl Client {
    /// Creates the client half.
    pub fn new(scopes: &ParameterScopes, local: LocalEpochs) -> Self {
        Self { scopes: scopes.clone(), local }
    }
}

impl<T: Real> ClientMethod<T> for Client {
    fn parts(&self, _: u32) -> Parts {
        parts::<T>(&self.scopes)
    }

    fn reply(
        &self,
        task: &Task<'_, T>,
        memory: &mut Vec<f64>,
        training: &mut dyn LocalTraining<T>,
    ) -> Result<Message, NetworkError> {
        let loss = self.local.run(task, memory, training, &mut |_, _| Ok(()))?;
        Ok(trained(&self.scopes, training, loss))
    }
}

/// The reply of a client after training.
pub(super) fn trained<T: Real>(
    scopes: &ParameterScopes,
    training: &mut dyn LocalTraining<T>,
    loss: f64,
) -> Message {
    let mut reply = scopes.message(training.parameters());
    reply.push(Part::loss(loss));
    reply
}

/// The server half: averages the replies.
pub struct Server<T: Real> {
    scopes: ParameterScopes,
    aggregator: Box<dyn Aggregator<T>>,
}

impl<T: Real> Server<T> {
    /// Creates the server half with an aggregator.
    pub fn new(scopes: &ParameterScopes, aggregator: Box<dyn Aggregator<T>>) -> Self {
        Self { scopes: scopes.clone(), aggregator }
    }
}

impl<T: Real> ServerMethod<T> for Server<T> {
    fn parts(&self, _: u32) -> Parts {
        parts::<T>(&self.scopes)
    }

    fn down(&self, _: u32, parameters: &ParamSet<T>) -> Message {
        self.scopes.message(parameters)
    }

    fn check(&mut self, _: u32, reply: &Message) -> Result<(), Fault> {
        self.aggregator.check(reply)
    }

    fn add(
        &mut self,
        _: u32,
        _: usize,
        weight: f64,
        parameters: &ParamSet<T>,
        reply: &Message,
    ) -> Result<(), Error> {
        self.aggregator.add(weight, parameters, reply)
    }

    fn finish(&mut self, _: u32, parameters: &mut ParamSet<T>) -> Result<Merged, Error> {
        Ok(Merged { average: self.aggregator.finish(parameters)?, ..Merged::default() })
    }

    fn memory(&self) -> Vec<f64> {
        self.aggregator.memory()
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), Error> {
        self.aggregator.recall(memory)
    }
}
