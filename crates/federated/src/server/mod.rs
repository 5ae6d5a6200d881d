//! The server: a state machine without input or output.
//!
//! ```text
//! plan ──► submit, submit, ... ──► close ──► advance ──► plan
//!  who, with what       replies in any order      the next parameters   validation losses
//! ```
//!
//! Between [`Server::advance`] and the next reply its [`ServerState`] is all there is to know: stored, it is the checkpoint. A round that was
//! not closed is planned again, the same.
//!
//! A round is one exchange: something goes out to some clients, something comes back. A method of two exchanges takes two rounds of this machine. `RFedSVRG`
//! is an example (a full gradient at the common point, then steps that are corrected by it): in even rounds its solver sends the gradient as
//! [`crate::Trained::extra`] and leaves the parameters as they came, and its [`Aggregator`] adds these up and returns the parameters untouched; in odd
//! rounds that sum is the [`RoundPlan::attachment`], and the solver trains with it. Both know which half it is by [`crate::Task::round`], or by how often the
//! aggregator was finished, which it stores in [`Aggregator::memory`]. Two things must be told of the halves: clients are drawn in each round anew, so the method needs
//! full participation, or an aggregator that remembers whom it has heard; and the learning rate takes a step in each, so patience counts halves.

mod config;
mod report;

use std::collections::BTreeMap;
use std::sync::Arc;

use fedspd_manifold::Real;
use fedspd_nn::schedule::Schedule;
use fedspd_nn::{ParamSet, Seed};
use serde::{Deserialize, Serialize};

pub use config::{LocalWork, Member, OnFailure, ServerConfig, Weighting};
pub use report::{Dropped, RoundReport};

use crate::aggregate::{Aggregator, Fault, aggregator};
use crate::{Error, Wire, participants};

/// The server of a federation.
pub struct Server<T: Real> {
    config: ServerConfig,
    members: Vec<Member>,
    seed: Seed,
    wire: Wire,
    aggregator: Box<dyn Aggregator<T>>,
    round: u32,
    parameters: ParamSet<T>,
    schedule: Schedule,
    stage: Stage<T>,
}

enum Stage<T> {
    /// Replies are awaited.
    Open(OpenRound<T>),
    /// The parameters are the next ones; their validation is awaited.
    Closed,
}

/// A round under way.
struct OpenRound<T> {
    clients: Vec<usize>,
    /// How many of them, in order, are dealt with.
    done: usize,
    /// Replies that came before those of earlier clients, by place in the list of clients.
    waiting: BTreeMap<usize, Result<Update<T>, String>>,
    accepted: usize,
    dropped: Vec<Dropped>,
    losses: f64,
    numbers_up: usize,
}

/// What a client sends.
#[derive(Clone, Debug, PartialEq)]
pub struct Update<T> {
    /// The aggregator's message.
    pub message: Vec<T>,
    /// How many trials it trained on.
    pub trials: usize,
    /// The mean loss of its last epoch.
    pub loss: f64,
}

/// What a round asks for.
#[derive(Debug)]
pub struct RoundPlan<'a, T> {
    /// Counted from 0.
    pub round: u32,
    /// Who is asked, in ascending order.
    pub clients: &'a [usize],
    /// Their learning rate.
    pub learning_rate: f64,
    /// What they start from. Local parameters are as they were initialised: a client that has its own takes those.
    pub parameters: &'a ParamSet<T>,
    /// What the method sends beside.
    pub attachment: &'a [T],
}

/// All that a server has to remember between rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerState {
    /// The next round.
    pub round: u32,
    /// The values of the parameters.
    pub parameters: Vec<f64>,
    schedule: Schedule,
    aggregator: Vec<f64>,
}

impl<T: Real> Server<T> {
    /// A server that starts with these parameters.
    ///
    /// # Errors
    /// [`Error::Config`] for settings out of range.
    pub fn new(
        config: ServerConfig,
        members: Vec<Member>,
        parameters: ParamSet<T>,
        seed: Seed,
    ) -> Result<Self, Error> {
        let wire = Wire::new(Arc::clone(parameters.layout()));
        let aggregator = aggregator(config.aggregation, config.server_momentum, config.server_lr, &wire)?;
        Self::with_aggregator(config, members, parameters, seed, aggregator)
    }

    /// The same with an aggregator of one's own; what the settings say about aggregation is not used.
    ///
    /// # Errors
    /// [`Error::Config`] for settings out of range.
    pub fn with_aggregator(
        config: ServerConfig,
        members: Vec<Member>,
        parameters: ParamSet<T>,
        seed: Seed,
        aggregator: Box<dyn Aggregator<T>>,
    ) -> Result<Self, Error> {
        config.check(&members)?;
        let wire = Wire::new(Arc::clone(parameters.layout()));
        let schedule = Schedule::new(config.schedule, config.learning_rate)?;
        let stage = Stage::Open(OpenRound::new(participants(seed, 0, members.len(), config.participation)));
        Ok(Self { config, members, seed, wire, aggregator, round: 0, parameters, schedule, stage })
    }

    /// The settings.
    pub fn config(&self) -> &ServerConfig {
        &self.config
    }

    /// The clients it knows.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Which numbers travel.
    pub fn wire(&self) -> &Wire {
        &self.wire
    }

    /// How replies become parameters; clients ask it for their messages.
    pub fn aggregator(&self) -> &dyn Aggregator<T> {
        &*self.aggregator
    }

    /// The round under way, or the one that is closed and not yet validated.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// The parameters.
    pub fn parameters(&self) -> &ParamSet<T> {
        &self.parameters
    }

    /// What this round asks for. Asked again before it is closed, it says the same.
    ///
    /// # Errors
    /// [`Error::Order`] after [`Server::close`], before [`Server::advance`].
    pub fn plan(&self) -> Result<RoundPlan<'_, T>, Error> {
        let Stage::Open(open) = &self.stage else {
            return Err(Error::Order { asked: "plan", fault: "the last round is not validated yet" });
        };
        Ok(RoundPlan {
            round: self.round,
            clients: &open.clients,
            learning_rate: self.schedule.learning_rate(),
            parameters: &self.parameters,
            attachment: self.aggregator.attachment(),
        })
    }

    /// Takes the reply of a client, or the reason why there is none. Replies may come in any order: they count in the order of the clients.
    ///
    /// # Errors
    /// [`Error::Reply`] for a reply that was not asked for; [`Error::Client`] for a client that failed, if the run is to stop then (once all
    /// clients before it have replied, so that it is always the first that is named); [`Error::Order`] after [`Server::close`].
    pub fn submit(&mut self, client: usize, reply: Result<Update<T>, String>) -> Result<(), Error> {
        let Stage::Open(open) = &mut self.stage else {
            return Err(Error::Order { asked: "take a reply", fault: "the round is closed" });
        };
        let name = |client: usize| {
            self.members.get(client).map_or(format!("client number {client}"), |member| member.name.clone())
        };
        let fault = |fault| Error::Reply { client: name(client), round: self.round, fault };
        let place = open.clients.binary_search(&client).map_err(|_| fault("was not asked to take part"))?;
        if place < open.done || open.waiting.contains_key(&place) {
            return Err(fault("has replied already"));
        }
        open.waiting.insert(place, reply);
        self.settle()
    }

    /// Deals with the replies that no earlier one is missing for.
    fn settle(&mut self) -> Result<(), Error> {
        let Stage::Open(open) = &mut self.stage else { return Ok(()) };
        while let Some(reply) = open.waiting.remove(&open.done) {
            let client = open.clients[open.done];
            open.done += 1;
            let checked = reply.map_err(|reason| (reason, None)).and_then(|update| {
                let looked =
                    self.aggregator.check(&update.message).map_err(|fault| (fault.to_string(), Some(fault)));
                looked.map(|()| update)
            });
            match checked {
                Ok(update) => {
                    let weight = match self.config.weighting {
                        Weighting::Uniform => 1.0,
                        Weighting::ByTrials => update.trials as f64,
                    };
                    self.aggregator.add(client, weight, &self.parameters, &update.message)?;
                    open.accepted += 1;
                    open.losses += update.loss;
                    open.numbers_up += update.message.len();
                }
                Err((reason, fault)) => {
                    drop_client(&self.config, &self.members, self.round, open, client, reason, fault)?;
                }
            }
        }
        Ok(())
    }

    /// Ends the round: the replies become the next parameters. Clients that have not replied have failed. Without a single reply the
    /// parameters stay.
    ///
    /// # Errors
    /// [`Error::Client`] for a client without a reply, if the run is to stop then; [`Error::Quorum`] if too few replies count; [`Error::Average`];
    /// [`Error::Order`] if it is closed already.
    pub fn close(&mut self) -> Result<RoundReport, Error> {
        if let Stage::Open(open) = &mut self.stage {
            for place in open.done..open.clients.len() {
                open.waiting.entry(place).or_insert_with(|| Err("it did not reply".to_owned()));
            }
        }
        self.settle()?;
        if let Stage::Open(open) = &self.stage
            && open.accepted < self.config.quorum
        {
            return Err(Error::Quorum {
                round: self.round,
                counted: open.accepted,
                asked: open.clients.len(),
                quorum: self.config.quorum,
                dropped: open.dropped.clone(),
            });
        }
        let Stage::Open(open) = std::mem::replace(&mut self.stage, Stage::Closed) else {
            return Err(Error::Order { asked: "close a round", fault: "it is closed already" });
        };
        let layers =
            if open.accepted > 0 { self.aggregator.finish(&mut self.parameters)?.layers } else { Vec::new() };
        let width = size_of::<T>();
        let down = open.clients.len() * (self.wire.shared_size() + self.aggregator.attachment().len());
        Ok(RoundReport {
            round: self.round,
            learning_rate: self.schedule.learning_rate(),
            train_loss: (open.accepted > 0).then(|| open.losses / open.accepted as f64),
            participants: open.clients,
            dropped: open.dropped,
            layers,
            bytes_up: (open.numbers_up * width) as u64,
            bytes_down: (down * width) as u64,
        })
    }

    /// Goes on to the next round, with the mean validation loss of the aggregated model, uniform over the clients that have validation data.
    ///
    /// # Errors
    /// [`Error::Order`] before [`Server::close`].
    pub fn advance(&mut self, validation_loss: f64) -> Result<(), Error> {
        if !matches!(self.stage, Stage::Closed) {
            return Err(Error::Order { asked: "advance", fault: "the round is not closed yet" });
        }
        self.schedule.step(validation_loss);
        self.round += 1;
        self.open();
        Ok(())
    }

    fn open(&mut self) {
        let clients = participants(self.seed, self.round, self.members.len(), self.config.participation);
        self.stage = Stage::Open(OpenRound::new(clients));
    }

    /// What to store. A round under way is not part of it.
    pub fn state(&self) -> ServerState {
        ServerState {
            round: self.round,
            parameters: self.parameters.values().iter().map(|value| value.to_f64()).collect(),
            schedule: self.schedule.clone(),
            aggregator: self.aggregator.memory(),
        }
    }

    /// Goes on from a stored state of a server with the same settings.
    ///
    /// # Errors
    /// [`Error::State`] if it is another model's; [`Error::Order`] if replies of the round under way are part of an average already.
    pub fn restore(&mut self, state: &ServerState) -> Result<(), Error> {
        if matches!(&self.stage, Stage::Open(open) if open.accepted > 0) {
            let fault = "replies of this round are part of an average already";
            return Err(Error::Order { asked: "go on from a stored state", fault });
        }
        let (expected, found) = (self.parameters.values().len(), state.parameters.len());
        if found != expected {
            return Err(Error::State { what: "parameters", expected, found });
        }
        self.aggregator.recall(&state.aggregator)?;
        for (value, &stored) in self.parameters.values_mut().iter_mut().zip(&state.parameters) {
            *value = T::from_f64(stored);
        }
        (self.round, self.schedule) = (state.round, state.schedule.clone());
        self.open();
        Ok(())
    }
}

impl<T> OpenRound<T> {
    fn new(clients: Vec<usize>) -> Self {
        let (waiting, dropped) = (BTreeMap::new(), Vec::new());
        Self { clients, done: 0, waiting, accepted: 0, dropped, losses: 0.0, numbers_up: 0 }
    }
}

/// A client failed: the run stops, or goes on without it.
fn drop_client<T>(
    config: &ServerConfig,
    members: &[Member],
    round: u32,
    open: &mut OpenRound<T>,
    client: usize,
    reason: String,
    fault: Option<Fault>,
) -> Result<(), Error> {
    let name = members[client].name.clone();
    match config.on_client_failure {
        OnFailure::Stop => Err(Error::Client { client: name, round, reason, fault }),
        OnFailure::Skip => {
            open.dropped.push(Dropped { client, name, reason });
            Ok(())
        }
    }
}
