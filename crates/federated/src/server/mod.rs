//! The server: a state machine without input or output.
//!
//! ```text
//!   ┌──────── another exchange ────────┐
//! plan ──► submit, submit, ... ──► close ──► advance ──► plan
//! ```
//!
//! Between [`Server::advance`] and the next reply, [`ServerState`] is a complete checkpoint. After
//! a restart the server plans an unclosed round again, with the same clients.
//!
//! A round has one exchange, or several with the same clients. [`Server::close`] returns whether
//! the method needs another. In each round the server draws the clients once and takes one step of
//! the learning rate, and the model is evaluated once. A failed client is out for the rest of the
//! round.

mod config;
mod report;

use std::collections::BTreeMap;
use std::sync::Arc;

use fedspd_manifold::Real;
use fedspd_nn::schedule::{Schedule, ScheduleConfig};
use fedspd_nn::{ParamSet, Seed};
use serde::{Deserialize, Serialize};

pub use config::{LocalWork, Member, OnFailure, ServerConfig, Weighting};
pub use report::{Dropped, RoundReport};

use crate::aggregate::{Aggregated, Fault};
use crate::message::{self, LOSS};
use crate::method::{Exchange, ServerMethod};
use crate::{Error, Message, ParameterScopes, participants};

/// The server of a federation.
pub struct Server<T: Real> {
    config: ServerConfig,
    members: Vec<Member>,
    seed: Seed,
    scopes: ParameterScopes,
    method: Box<dyn ServerMethod<T>>,
    round: u32,
    parameters: ParamSet<T>,
    schedule: Schedule,
    stage: Stage<T>,
}

enum Stage<T> {
    /// The server waits for replies.
    Open(Box<OpenRound<T>>),
    /// The server has new parameters and waits for their validation.
    Closed,
}

/// An open round.
struct OpenRound<T> {
    /// The clients drawn, in ascending order.
    participants: Vec<usize>,
    /// The clients that have not failed in an earlier exchange of the round.
    clients: Vec<usize>,
    /// The current exchange.
    number: u32,
    /// Number of clients of the exchange that are processed, in order.
    done: usize,
    /// Replies that wait for those of earlier clients, by position in `clients`.
    waiting: BTreeMap<usize, Result<Message, String>>,
    accepted: usize,
    losses: Vec<f64>,
    dropped: Vec<Dropped>,
    /// The outcome of the exchanges before this one.
    earlier: Earlier,
    /// The parameters and the method's memory before the first exchange; none during it.
    before: Option<(ParamSet<T>, Vec<f64>)>,
}

/// Totals of the closed exchanges of a round.
#[derive(Default)]
struct Earlier {
    train_loss: Option<f64>,
    average: Aggregated,
    metrics: BTreeMap<String, f64>,
    bytes_up: u64,
    bytes_down: u64,
}

/// The plan of an exchange.
#[derive(Debug)]
pub struct RoundPlan<'a> {
    /// The exchange.
    pub exchange: Exchange,
    /// The clients to ask, in ascending order.
    pub clients: &'a [usize],
    /// Their learning rate.
    pub learning_rate: f64,
    /// The message to all of them.
    pub message: Message,
}

/// The state of a server between rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerState {
    /// The next round.
    pub round: u32,
    /// The values of the parameters.
    pub parameters: Vec<f64>,
    schedule: Schedule,
    method: Vec<f64>,
}

impl<T: Real> Server<T> {
    /// Creates a server that starts with these parameters.
    ///
    /// # Errors
    /// [`Error::Config`] for settings out of range.
    pub fn new(
        config: ServerConfig,
        members: Vec<Member>,
        parameters: ParamSet<T>,
        method: Box<dyn ServerMethod<T>>,
        seed: Seed,
    ) -> Result<Self, Error> {
        config.check(&members)?;
        let scopes = ParameterScopes::new(Arc::clone(parameters.layout()));
        let schedule = Schedule::new(config.schedule, config.learning_rate)?;
        let clients = participants(seed, 0, members.len(), config.participation);
        let stage = Stage::Open(Box::new(OpenRound::new(clients)));
        Ok(Self { config, members, seed, scopes, method, round: 0, parameters, schedule, stage })
    }

    /// The settings.
    pub fn config(&self) -> &ServerConfig {
        &self.config
    }

    /// The clients.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The shared and local parameters.
    pub fn scopes(&self) -> &ParameterScopes {
        &self.scopes
    }

    /// The server half of the method.
    pub fn method(&self) -> &dyn ServerMethod<T> {
        &*self.method
    }

    /// The clients that have failed so far in the open round.
    pub fn dropped(&self) -> &[Dropped] {
        match &self.stage {
            Stage::Open(open) => &open.dropped,
            Stage::Closed => &[],
        }
    }

    /// The current round, counted from 0, until [`Server::advance`].
    pub fn round(&self) -> u32 {
        self.round
    }

    /// The parameters.
    pub fn parameters(&self) -> &ParamSet<T> {
        &self.parameters
    }

    /// The plan of the current exchange, the same until it is closed.
    ///
    /// # Errors
    /// [`Error::Order`] after the last [`Server::close`] of a round, before [`Server::advance`].
    pub fn plan(&self) -> Result<RoundPlan<'_>, Error> {
        let Stage::Open(open) = &self.stage else {
            return Err(Error::Order { asked: "plan", fault: "the last round is not validated yet" });
        };
        Ok(RoundPlan {
            exchange: Exchange { round: self.round, number: open.number },
            clients: &open.clients,
            learning_rate: self.schedule.learning_rate(),
            message: self.method.down(open.number, &self.parameters),
        })
    }

    /// Takes the reply of a client, or the reason why there is none. Replies may come in any order.
    /// The server processes them in the order of the clients.
    ///
    /// # Errors
    /// [`Error::Reply`] for an unexpected reply. [`Error::Order`] after [`Server::close`].
    /// [`Error::Average`] as [`ServerMethod::add`]. [`Error::Client`] for a failed client, with
    /// [`OnFailure::Stop`]. The last comes after the replies of all earlier clients, so that it
    /// always names the first failed client.
    pub fn submit(&mut self, client: usize, reply: Result<Message, String>) -> Result<(), Error> {
        let Stage::Open(open) = &mut self.stage else {
            return Err(Error::Order { asked: "take a reply", fault: "the round is closed" });
        };
        let name = |client: usize| {
            self.members.get(client).map_or(format!("client number {client}"), |member| member.name.clone())
        };
        let fault = |fault| Error::Reply { client: name(client), round: self.round, fault };
        let place =
            open.clients.binary_search(&client).map_err(|_| fault("it was not asked to take part"))?;
        if place < open.done || open.waiting.contains_key(&place) {
            return Err(fault("it has already replied"));
        }
        open.waiting.insert(place, reply);
        self.settle()
    }

    /// Processes the replies whose predecessors have all arrived.
    fn settle(&mut self) -> Result<(), Error> {
        let Stage::Open(open) = &mut self.stage else { return Ok(()) };
        let declared = self.method.parts(open.number).up;
        while let Some(reply) = open.waiting.remove(&open.done) {
            let client = open.clients[open.done];
            open.done += 1;
            let checked = reply.map_err(|reason| (reason, None)).and_then(|reply| {
                let sound = reply.check(&declared).and_then(|()| self.method.check(open.number, &reply));
                sound.map(|()| reply).map_err(|fault| (fault.to_string(), Some(fault)))
            });
            match checked {
                Ok(reply) => {
                    let weight = match self.config.weighting {
                        Weighting::Uniform => 1.0,
                        Weighting::ByTrials => self.members[client].trials as f64,
                    };
                    self.method.add(open.number, client, weight, &self.parameters, &reply)?;
                    open.accepted += 1;
                    open.losses.extend(reply.number(LOSS));
                }
                Err((reason, fault)) => {
                    drop_client(&self.config, &self.members, self.round, open, client, reason, fault)?;
                }
            }
        }
        Ok(())
    }

    /// Closes the exchange. Returns the report of the round, or `None` if the method needs another
    /// exchange. Clients without a reply have failed. If no reply of an exchange counts, the round
    /// does not change the parameters.
    ///
    /// # Errors
    /// [`Error::Client`] for a client without a reply, with [`OnFailure::Stop`]. [`Error::Quorum`]
    /// if too few replies count. [`Error::Average`] if an average does not exist. [`Error::Order`]
    /// if the round is already closed.
    pub fn close(&mut self) -> Result<Option<RoundReport>, Error> {
        if let Stage::Open(open) = &mut self.stage {
            for place in open.done..open.clients.len() {
                open.waiting.entry(place).or_insert_with(|| Err("it did not reply".to_owned()));
            }
        }
        self.settle()?;
        let Stage::Open(open) = &mut self.stage else {
            return Err(Error::Order { asked: "close a round", fault: "it is already closed" });
        };
        if open.accepted < self.config.quorum {
            return Err(Error::Quorum {
                round: self.round,
                counted: open.accepted,
                asked: open.clients.len(),
                quorum: self.config.quorum,
                dropped: open.dropped.clone(),
            });
        }
        let parts = self.method.parts(open.number);
        open.earlier.bytes_up += (open.accepted * message::bytes(&parts.up)) as u64;
        open.earlier.bytes_down += (open.clients.len() * message::bytes(&parts.down)) as u64;
        if open.accepted > 0 {
            if open.before.is_none() {
                open.before = Some((self.parameters.clone(), self.method.memory()));
            }
            let merged = self.method.finish(open.number, &mut self.parameters)?;
            open.count(merged.average, merged.metrics);
            if merged.another {
                open.next();
                return Ok(None);
            }
        } else if let Some((parameters, memory)) = open.before.take() {
            self.parameters = parameters;
            self.method.recall(&memory)?;
            open.earlier = Earlier {
                bytes_up: open.earlier.bytes_up,
                bytes_down: open.earlier.bytes_down,
                ..Earlier::default()
            };
        }
        let report = RoundReport {
            round: self.round,
            learning_rate: self.schedule.learning_rate(),
            participants: std::mem::take(&mut open.participants),
            dropped: std::mem::take(&mut open.dropped),
            train_loss: open.earlier.train_loss,
            layers: std::mem::take(&mut open.earlier.average.layers),
            fallback: open.earlier.average.fallback,
            metrics: std::mem::take(&mut open.earlier.metrics),
            bytes_up: open.earlier.bytes_up,
            bytes_down: open.earlier.bytes_down,
        };
        self.stage = Stage::Closed;
        Ok(Some(report))
    }

    /// Starts the next round, with the mean validation loss of the aggregated model. The mean is
    /// uniform over the clients that have validation data.
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

    /// Replaces the schedule by a learning rate that stays.
    ///
    /// # Errors
    /// [`Error::Network`] if the rate is not positive and finite.
    pub fn set_learning_rate(&mut self, learning_rate: f64) -> Result<(), Error> {
        self.schedule = Schedule::new(ScheduleConfig::Constant, learning_rate)?;
        Ok(())
    }

    fn open(&mut self) {
        let clients = participants(self.seed, self.round, self.members.len(), self.config.participation);
        self.stage = Stage::Open(Box::new(OpenRound::new(clients)));
    }

    /// The state to store. It does not include replies of the open round.
    pub fn state(&self) -> ServerState {
        ServerState {
            round: self.round,
            parameters: self.parameters.values().iter().map(|value| value.to_f64()).collect(),
            schedule: self.schedule.clone(),
            method: self.method.memory(),
        }
    }

    /// Restores the state of a server with the same settings.
    ///
    /// # Errors
    /// [`Error::State`] if it belongs to another model; [`Error::Order`] if replies of the open
    /// round are already averaged.
    pub fn restore(&mut self, state: &ServerState) -> Result<(), Error> {
        if matches!(&self.stage, Stage::Open(open) if open.accepted > 0 || open.number > 0) {
            let fault = "replies of this round are already averaged";
            return Err(Error::Order { asked: "restore a stored state", fault });
        }
        let (expected, found) = (self.parameters.values().len(), state.parameters.len());
        if found != expected {
            return Err(Error::State { what: "parameters", expected, found });
        }
        self.method.recall(&state.method)?;
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
        Self {
            participants: clients.clone(),
            clients,
            number: 0,
            done: 0,
            waiting: BTreeMap::new(),
            accepted: 0,
            losses: Vec::new(),
            dropped: Vec::new(),
            earlier: Earlier::default(),
            before: None,
        }
    }

    /// Adds the outcome of an exchange.
    fn count(&mut self, average: Aggregated, metrics: BTreeMap<String, f64>) {
        if !self.losses.is_empty() {
            self.earlier.train_loss = Some(self.losses.iter().sum::<f64>() / self.losses.len() as f64);
        }
        self.earlier.average.layers.extend(average.layers);
        self.earlier.average.fallback |= average.fallback;
        self.earlier.metrics.extend(metrics);
    }

    /// Starts the next exchange with the clients that did not fail.
    fn next(&mut self) {
        let dropped = &self.dropped;
        self.clients.retain(|client| dropped.iter().all(|dropped| dropped.client != *client));
        self.number += 1;
        (self.done, self.accepted) = (0, 0);
        self.losses.clear();
    }
}

/// Handles a failed client: stops the run, or drops the client.
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
