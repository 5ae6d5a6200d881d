//! A federation with all clients in this process.

use fedspd_manifold::Real;
use fedspd_nn::{Evaluation, Model, ParamSet, Seed};
use serde::{Deserialize, Serialize};

use crate::error::check;
use crate::server::{RoundReport, Server, ServerState};
use crate::{Client, ClientMethod, ClientState, Error, Message, Task, Worker, in_order};

/// The trials of a client, as indices into the examples of the process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Training trials.
    pub train: Vec<usize>,
    /// Validation trials, for the learning rate and early stopping.
    pub validation: Vec<usize>,
    /// Test trials, for reports only.
    pub test: Vec<usize>,
}

/// Target number of trials in one evaluation if all clients use the same parameters. It fills many
/// SIMD vectors and still keeps all workers busy.
const TRIALS_TOGETHER: usize = 128;

/// The server and all clients of a federation, in one process. They share one copy of the examples.
///
/// Each worker runs on its own thread. Results do not depend on the number of workers.
pub struct Federation<'a, T: Real, M: Model<T>> {
    examples: &'a M::Examples,
    shards: &'a [Shard],
    method: Box<dyn ClientMethod<T>>,
    seed: Seed,
    server: Server<T>,
    states: Vec<ClientState>,
    /// Each client's number in random streams. It is the same if the client is alone in a
    /// federation.
    numbers: Vec<u32>,
}

/// The outcome of a round: training, aggregation and validation.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// The report of the server.
    pub report: RoundReport,
    /// Evaluation of the aggregated model on each client's validation trials. `None` for clients
    /// without validation trials, and for all clients in rounds without validation.
    pub validation: Vec<Option<Evaluation>>,
    /// The mean validation loss, uniform over clients; NaN if there is none.
    pub validation_loss: f64,
}

impl<'a, T: Real, M: Model<T>> Federation<'a, T, M> {
    /// Creates a federation of a server and one shard for each of its clients. `numbers` identify
    /// the clients in random streams.
    ///
    /// # Errors
    /// [`Error::Config`] if `shards` or `numbers` do not have one entry for each client, or a
    /// client has no training trials.
    pub fn new(
        examples: &'a M::Examples,
        shards: &'a [Shard],
        numbers: Vec<u32>,
        method: Box<dyn ClientMethod<T>>,
        server: Server<T>,
        seed: Seed,
    ) -> Result<Self, Error> {
        let members = server.members().len();
        for (field, count) in [("shards", shards.len()), ("numbers", numbers.len())] {
            check(field, count, count == members, || format!("{members}, one for each client"))?;
        }
        let idle = shards.iter().position(|shard| shard.train.is_empty());
        let idle = idle.map(|client| server.members()[client].name.clone());
        check("clients", &idle, idle.is_none(), || "clients with training trials".into())?;
        Ok(Self {
            examples,
            shards,
            method,
            seed,
            server,
            states: vec![ClientState::default(); members],
            numbers,
        })
    }

    /// The server.
    pub fn server(&self) -> &Server<T> {
        &self.server
    }

    /// Checks every client's training trials for faults that would make training futile. Returns
    /// warnings, each with the client's name.
    ///
    /// # Errors
    /// As [`Model::check_before_training`].
    pub fn check(&mut self, workers: &mut [Worker<'_, T, M>]) -> Result<Vec<String>, Error> {
        let mut warnings = Vec::new();
        let (server, shards, examples) = (&self.server, self.shards, self.examples);
        in_order(
            workers,
            shards.len(),
            |worker, client| worker.trainer.check(server.parameters(), examples, &shards[client].train),
            |client, looked| {
                let name = &server.members()[client].name;
                if let Some(warning) = looked? {
                    warnings.push(format!("{name}: {warning}"));
                }
                Ok::<(), Error>(())
            },
        )?;
        Ok(warnings)
    }

    /// Runs one round: training, aggregation, validation by every client if `validated`, and the
    /// step of the learning rate. A plateau schedule needs a validation in every round, because it
    /// counts a missing one as no improvement.
    ///
    /// # Errors
    /// As [`Server::submit`] and [`Server::close`]; [`Error::Network`] if validation fails.
    pub fn round(&mut self, workers: &mut [Worker<'_, T, M>], validated: bool) -> Result<Round, Error> {
        let report = self.train(workers)?;
        let validation = if validated {
            self.evaluate(workers, |shard| &shard.validation)?
        } else {
            vec![None; self.shards.len()]
        };
        let validation_loss = mean_loss(validation.iter());
        self.advance(validation_loss)?;
        Ok(Round { report, validation, validation_loss })
    }

    /// Trains and aggregates, the first half of a round. [`Federation::advance`] must follow.
    ///
    /// # Errors
    /// As [`Server::submit`] and [`Server::close`].
    pub fn train(&mut self, workers: &mut [Worker<'_, T, M>]) -> Result<RoundReport, Error> {
        // The states before the first exchange of a round with several.
        let mut before = None;
        let report = loop {
            let replied = self.exchange(workers)?;
            let closed = self.server.close()?;
            if closed.is_none() && before.is_none() {
                before = Some(self.states.clone());
            }
            let failed = match &closed {
                Some(report) => &report.dropped[..],
                None => self.server.dropped(),
            };
            for (client, state) in replied {
                // A failed client keeps its former state.
                if failed.iter().all(|failed| failed.client != client) {
                    self.states[client] = state;
                }
            }
            if let Some(report) = closed {
                break report;
            }
        };
        // The server has undone the round, and so do the clients.
        if let (Some(before), true) = (before, report.is_empty()) {
            self.states = before;
        }
        Ok(report)
    }

    /// Sets the learning rate of the following rounds.
    ///
    /// # Errors
    /// As [`Server::set_learning_rate`].
    pub fn set_learning_rate(&mut self, learning_rate: f64) -> Result<(), Error> {
        self.server.set_learning_rate(learning_rate)
    }

    /// Ends a round with the step of the learning rate, for callers that validate in another way.
    ///
    /// # Errors
    /// As [`Server::advance`].
    pub fn advance(&mut self, validation_loss: f64) -> Result<(), Error> {
        self.server.advance(validation_loss)
    }

    /// Does the work of an exchange and submits the replies. Returns the next states of the
    /// clients.
    fn exchange(&mut self, workers: &mut [Worker<'_, T, M>]) -> Result<Vec<(usize, ClientState)>, Error> {
        let Self { examples, shards, method, seed, server, states, numbers } = self;
        let plan = server.plan()?;
        let (exchange, learning_rate, message) = (plan.exchange, plan.learning_rate, plan.message);
        let (clients, scopes) = (plan.clients.to_vec(), server.scopes().clone());
        let mut start = server.parameters().clone();
        scopes.receive(&mut start, &message);
        let members = clients.iter().map(|&client| &server.members()[client]);
        let epochs: Vec<u32> = members.map(|member| server.config().work.of(member)).collect();
        let work = |worker: &mut Worker<'_, T, M>, place: usize| {
            let client = clients[place];
            let task =
                Task { exchange, epochs: epochs[place], learning_rate, start: &start, message: &message };
            let trials = &shards[client].train[..];
            let (method, number) = (&**method, numbers[client]);
            Client { examples: *examples, trials, method, scopes: &scopes, seed: *seed, number }.reply(
                &task,
                &states[client],
                worker,
            )
        };
        let mut kept = Vec::with_capacity(clients.len());
        in_order(workers, clients.len(), work, |place, reply: Result<(Message, ClientState), String>| {
            let client = clients[place];
            let reply = reply.map(|(message, state)| {
                kept.push((client, state));
                message
            });
            server.submit(client, reply)
        })?;
        Ok(kept)
    }

    /// Evaluates some trials of each client with the client's own local parameters. Returns `None`
    /// for a client without such trials.
    ///
    /// # Errors
    /// [`Error::Network`] if a prediction fails.
    pub fn evaluate(
        &self,
        workers: &mut [Worker<'_, T, M>],
        trials: impl Fn(&Shard) -> &[usize] + Sync,
    ) -> Result<Vec<Option<Evaluation>>, Error> {
        if self.server.scopes().local_size() == 0 {
            return self.evaluate_together(workers, trials);
        }
        let mut evaluations = Vec::with_capacity(self.shards.len());
        let work = |worker: &mut Worker<'_, T, M>, client: usize| {
            let trials = trials(&self.shards[client]);
            if trials.is_empty() {
                return Ok(None);
            }
            let parameters = self.parameters(client);
            worker.trainer.evaluate(&parameters, self.examples, trials).map(Some)
        };
        in_order(workers, self.shards.len(), work, |_, evaluation| {
            evaluations.push(evaluation?);
            Ok::<(), Error>(())
        })?;
        Ok(evaluations)
    }

    /// [`Federation::evaluate`] if all clients use the same parameters. Evaluates clients together
    /// until they have enough trials for the network.
    fn evaluate_together(
        &self,
        workers: &mut [Worker<'_, T, M>],
        trials: impl Fn(&Shard) -> &[usize] + Sync,
    ) -> Result<Vec<Option<Evaluation>>, Error> {
        let (parameters, mut evaluations) = (self.server.parameters(), vec![None; self.shards.len()]);
        let (mut blocks, mut size): (Vec<Vec<usize>>, usize) = (Vec::new(), 0);
        for (client, shard) in self.shards.iter().enumerate().filter(|(_, shard)| !trials(shard).is_empty()) {
            match blocks.last_mut() {
                Some(block) if size < TRIALS_TOGETHER => block.push(client),
                _ => {
                    blocks.push(vec![client]);
                    size = 0;
                }
            }
            size += trials(shard).len();
        }
        let work = |worker: &mut Worker<'_, T, M>, block: usize| {
            let groups: Vec<&[usize]> =
                blocks[block].iter().map(|&client| trials(&self.shards[client])).collect();
            worker.trainer.evaluate_groups(parameters, self.examples, &groups)
        };
        in_order(workers, blocks.len(), work, |block, scored| {
            for (&client, evaluation) in blocks[block].iter().zip(scored?) {
                evaluations[client] = Some(evaluation);
            }
            Ok::<(), Error>(())
        })?;
        Ok(evaluations)
    }

    /// The parameters of a client: the server's, with the client's own local ones.
    pub fn parameters(&self, client: usize) -> ParamSet<T> {
        self.server.scopes().with_local(self.server.parameters(), &self.states[client].local)
    }

    /// The state to store between rounds: the server's and each client's.
    pub fn state(&self) -> (ServerState, Vec<ClientState>) {
        (self.server.state(), self.states.clone())
    }

    /// Restores a stored state.
    ///
    /// # Errors
    /// [`Error::State`] if it belongs to another federation.
    pub fn restore(&mut self, server: &ServerState, clients: &[ClientState]) -> Result<(), Error> {
        let (what, expected, found) = ("clients", self.states.len(), clients.len());
        if found != expected {
            return Err(Error::State { what, expected, found });
        }
        let expected = self.server.scopes().local_size();
        let wrong =
            clients.iter().map(|client| client.local.len()).find(|&found| found != 0 && found != expected);
        if let Some(found) = wrong {
            return Err(Error::State { what: "local parameters", expected, found });
        }
        self.server.restore(server)?;
        self.states.clone_from_slice(clients);
        Ok(())
    }
}

/// The mean loss, uniform over clients with trials; NaN if there are none.
pub fn mean_loss<'a>(evaluations: impl Iterator<Item = &'a Option<Evaluation>> + Clone) -> f64 {
    let losses = evaluations.flatten().map(|evaluation| evaluation.loss);
    losses.clone().sum::<f64>() / losses.count() as f64
}
