//! A federation whose clients are all in this process.

use fedspd_manifold::Real;
use fedspd_nn::{Evaluation, Model, ParamSet, Seed};
use serde::{Deserialize, Serialize};

use crate::error::check;
use crate::server::{RoundReport, Server, ServerState};
use crate::{Client, ClientMethod, ClientState, Error, Message, Order, Worker, in_order};

/// The trials of a client, as places among the examples of the process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// For training.
    pub train: Vec<usize>,
    /// For the learning rate and for early stopping.
    pub validation: Vec<usize>,
    /// For reports alone.
    pub test: Vec<usize>,
}

/// Trials that are evaluated at a time where all clients use the same parameters: enough to fill
/// the lanes of many vectors, few enough to keep all workers busy.
const TRIALS_TOGETHER: usize = 128;

/// All clients of a federation and its server, in one process. The examples are held once, whoever's they are.
///
/// Its methods use the workers that they are given, each on a thread of its own. Results do not depend
/// on how many there are.
pub struct Federation<'a, T: Real, M: Model<T>> {
    examples: &'a M::Examples,
    shards: &'a [Shard],
    method: Box<dyn ClientMethod<T>>,
    seed: Seed,
    server: Server<T>,
    states: Vec<ClientState>,
    /// Each client's number in random streams: its own, also when it is alone in a federation.
    numbers: Vec<u32>,
}

/// A round that was trained, aggregated and validated.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// How it went.
    pub report: RoundReport,
    /// What the aggregated model made of each client's validation trials; `None` for clients without
    /// validation trials, and for all clients in rounds without validation.
    pub validation: Vec<Option<Evaluation>>,
    /// The uniform mean over clients of its validation loss; NaN if there is none.
    pub validation_loss: f64,
}

impl<'a, T: Real, M: Model<T>> Federation<'a, T, M> {
    /// A server, and one shard for each client that it knows. Numbers name the clients in random streams.
    ///
    /// # Errors
    /// [`Error::Config`] if their numbers differ, or a client has no training trials.
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
            check(field, count, count == members, || format!("as many as clients, {members}"))?;
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

    /// Looks at every client's training trials for what would make training futile; warnings with the client's name.
    ///
    /// # Errors
    /// As [`Model::check_before_training`], with the client's name.
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

    /// One round: training, aggregation, validation of the result by every client if asked for, and
    /// the step of the learning rate. A plateau schedule needs the validation of every round: it
    /// takes a missing one for no improvement.
    ///
    /// # Errors
    /// As [`Server::submit`] and [`Server::close`]; [`Error::Network`] if validation fails.
    pub fn round(&mut self, workers: &mut [Worker<'_, T, M>], validated: bool) -> Result<Round, Error> {
        let report = loop {
            let replied = self.exchange(workers)?;
            let closed = self.server.close()?;
            let failed = match &closed {
                Some(report) => &report.dropped[..],
                None => self.server.dropped(),
            };
            for (client, state) in replied {
                // A client that failed is as it was.
                if failed.iter().all(|failed| failed.client != client) {
                    self.states[client] = state;
                }
            }
            if let Some(report) = closed {
                break report;
            }
        };
        let validation = if validated {
            self.evaluate(workers, |shard| &shard.validation)?
        } else {
            vec![None; self.shards.len()]
        };
        let validation_loss = mean_loss(validation.iter());
        self.server.advance(validation_loss)?;
        Ok(Round { report, validation, validation_loss })
    }

    /// Does the work of an exchange and submits the replies. Returns what the clients would keep.
    fn exchange(&mut self, workers: &mut [Worker<'_, T, M>]) -> Result<Vec<(usize, ClientState)>, Error> {
        let Self { examples, shards, method, seed, server, states, numbers } = self;
        let plan = server.plan()?;
        let (exchange, learning_rate, message) = (plan.exchange, plan.learning_rate, plan.message);
        let (clients, wire) = (plan.clients.to_vec(), server.wire().clone());
        let mut start = server.parameters().clone();
        wire.receive(&mut start, &message);
        let members = clients.iter().map(|&client| &server.members()[client]);
        let epochs: Vec<u32> = members.map(|member| server.config().work.of(member)).collect();
        let work = |worker: &mut Worker<'_, T, M>, place: usize| {
            let client = clients[place];
            let order = Order {
                exchange,
                epochs: epochs[place],
                learning_rate,
                parameters: &start,
                message: &message,
            };
            let trials = &shards[client].train[..];
            let (method, number) = (&**method, numbers[client]);
            Client { examples: *examples, trials, method, wire: &wire, seed: *seed, number }.reply(
                &order,
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

    /// What the model makes of some trials of each client, with the client's own local parameters; none of a client without such trials.
    ///
    /// # Errors
    /// [`Error::Network`] if a prediction fails.
    pub fn evaluate(
        &self,
        workers: &mut [Worker<'_, T, M>],
        trials: impl Fn(&Shard) -> &[usize] + Sync,
    ) -> Result<Vec<Option<Evaluation>>, Error> {
        if self.server.wire().local_size() == 0 {
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

    /// [`Federation::evaluate`] where all clients use the same parameters: as many clients at a
    /// time as give the network enough trials to work on.
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

    /// The parameters that a client uses: the server's, with its own local ones.
    pub fn parameters(&self, client: usize) -> ParamSet<T> {
        self.server.wire().with_local(self.server.parameters(), &self.states[client].local)
    }

    /// What to store between rounds: the server's state, and what each client keeps.
    pub fn state(&self) -> (ServerState, Vec<ClientState>) {
        (self.server.state(), self.states.clone())
    }

    /// Goes on from a stored state.
    ///
    /// # Errors
    /// [`Error::State`] if it is another federation's.
    pub fn restore(&mut self, server: &ServerState, clients: &[ClientState]) -> Result<(), Error> {
        let (what, expected, found) = ("clients", self.states.len(), clients.len());
        if found != expected {
            return Err(Error::State { what, expected, found });
        }
        let expected = self.server.wire().local_size();
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

/// The uniform mean of clients' losses, over those that have trials; NaN if none has.
pub fn mean_loss<'a>(evaluations: impl Iterator<Item = &'a Option<Evaluation>> + Clone) -> f64 {
    let losses = evaluations.flatten().map(|evaluation| evaluation.loss);
    losses.clone().sum::<f64>() / losses.count() as f64
}
