//! Clients that train one model together, with optional early stopping.
//!
//! Every mode trains cohorts, and there is no other training loop. Mode `federated` has one cohort
//! of all clients. Mode `centralised` has one of a single client that holds all trials. Mode
//! `local` has a cohort for each client.

use fedspd_federated::{Federation, Member, ParameterScopes, RoundReport, Server, Shard, Worker, in_order};
use fedspd_manifold::Real;
use fedspd_nn::schedule::{EarlyStopping, Mode as Better};
use fedspd_nn::{Evaluation, Model, ParamSet, Seed};

use super::settings;
use crate::Error;
use crate::config::{Config, Mode, Select};
use crate::record::{CohortState, ModelState};
use crate::split::{Design, Newcomer, Part};

/// The clients that train one model together, and the new people whom it is scored on.
pub(crate) struct Roster {
    names: Vec<String>,
    shards: Vec<Shard>,
    /// The number of each client in random streams.
    numbers: Vec<u32>,
    /// People whom nobody trains on; the shards then have training trials only.
    newcomers: Vec<Newcomer>,
}

impl Roster {
    /// Returns the name of the model in results: that of a client that trains alone, or `pooled`.
    pub(crate) fn model_name(&self, mode: Mode) -> &str {
        match (mode, &self.names[..]) {
            (Mode::Local, [name]) => name,
            _ => "pooled",
        }
    }

    /// Returns the roster of each cohort of a mode. A client without training trials in this fold
    /// belongs to none.
    pub(crate) fn all(mode: Mode, design: &Design) -> Vec<Self> {
        let people = !design.newcomers.is_empty();
        let own = |shard: Shard| {
            if people { Shard { validation: Vec::new(), test: Vec::new(), ..shard } } else { shard }
        };
        let training = design.shards.iter().enumerate().filter(|(_, shard)| !shard.train.is_empty());
        let roster = |clients: &[(usize, &Shard)], newcomers: Vec<Newcomer>| Self {
            names: clients.iter().map(|(client, _)| design.clients[*client].name.clone()).collect(),
            shards: clients.iter().map(|(_, shard)| own((*shard).clone())).collect(),
            numbers: clients.iter().map(|(client, _)| *client as u32).collect(),
            newcomers,
        };
        match mode {
            Mode::Federated => vec![roster(&training.collect::<Vec<_>>(), design.newcomers.clone())],
            Mode::Centralised => vec![Self {
                names: vec!["all clients".into()],
                shards: vec![own(design.pooled())],
                numbers: vec![0],
                newcomers: design.newcomers.clone(),
            }],
            Mode::Local => training
                .map(|member| {
                    let own = design.newcomers.iter().filter(|newcomer| newcomer.client == member.0);
                    roster(&[member], own.cloned().collect())
                })
                .collect(),
        }
    }
}

/// Trials and their evaluation.
pub(crate) struct Scored<'a> {
    pub(crate) trials: &'a [usize],
    pub(crate) evaluation: Evaluation,
}

/// Returns the mean loss, uniform over clients or new people; NaN if there are none.
pub(crate) fn mean_loss<'a>(scored: impl Iterator<Item = &'a Scored<'a>> + Clone) -> f64 {
    let losses = scored.map(|scored| scored.evaluation.loss);
    losses.clone().sum::<f64>() / losses.count() as f64
}

/// The outcome of a round for a cohort.
pub(crate) struct CohortRound<'a> {
    /// The server's report; none for a cohort that stopped before.
    pub(crate) report: Option<RoundReport>,
    /// The evaluations of validation trials; empty in rounds without validation.
    pub(crate) validation: Vec<Scored<'a>>,
}

/// A federation with the best model so far, and its early stopping.
pub(crate) struct Cohort<'a, T: Real, M: Model<T>> {
    pub(crate) federation: Federation<'a, T, M>,
    network: &'a M,
    examples: &'a M::Examples,
    roster: &'a Roster,
    stopping: Option<EarlyStopping<ModelState>>,
    select: Select,
    /// Learning rates that were chosen before, one for each round.
    rates: Option<Vec<f64>>,
    /// The number of completed rounds.
    rounds: usize,
    /// Whether training continues.
    pub(crate) active: bool,
}

impl<'a, T: Real, M: Model<T>> Cohort<'a, T, M> {
    /// Creates the cohort of a roster. With `rates`, it trains one round for each of them and keeps
    /// the last model.
    pub(crate) fn new(
        config: &Config,
        network: &'a M,
        examples: &'a M::Examples,
        roster: &'a Roster,
        seed: u64,
        rates: Option<Vec<f64>>,
    ) -> Result<Self, Error> {
        let Roster { names, shards, numbers, .. } = roster;
        let members = names.iter().zip(shards);
        let members = members.map(|(name, shard)| Member { name: name.clone(), trials: shard.train.len() });
        let method = settings::method::<T>(config, &ParameterScopes::new(network.layout().clone()))?;
        let (mut server, initial) = (settings::server(config), network.initial(Seed(seed))?);
        // Some clients do not train in every fold.
        server.work.exceptions.retain(|name, _| names.contains(name));
        let server = Server::new(server, members.collect(), initial, method.server, Seed(seed))?;
        let federation =
            Federation::new(examples, shards, numbers.clone(), method.client, server, Seed(seed))?;
        let stops = config.mode != Mode::Federated && config.train.early_stop > 0;
        let patience = if stops { config.train.early_stop as u64 } else { u64::MAX };
        let select = if rates.is_some() { Select::Last } else { config.select() };
        let watched = rates.is_none() && (stops || select == Select::BestValidation);
        let stopping = watched.then(|| EarlyStopping::new(Better::Max, patience));
        let (rounds, active) = (0, true);
        Ok(Self { federation, network, examples, roster, stopping, select, rates, rounds, active })
    }

    /// Trains one round and updates early stopping with a validation score; larger is better. A
    /// cohort that has stopped is only validated, with the model of its last round. Early stopping
    /// needs a validation after every round.
    pub(crate) fn round(
        &mut self,
        workers: &mut [Worker<'_, T, M>],
        validated: bool,
        score: impl Fn(&[Scored<'_>]) -> Result<f64, Error>,
    ) -> Result<CohortRound<'a>, Error> {
        if !self.active {
            let validation = self.evaluate(workers, Part::Validation)?;
            return Ok(CohortRound { report: None, validation });
        }
        if let Some(&rate) = self.rates.as_ref().and_then(|rates| rates.get(self.rounds)) {
            self.federation.set_learning_rate(rate)?;
        }
        let report = self.federation.train(workers)?;
        let validation = if validated { self.evaluate(workers, Part::Validation)? } else { Vec::new() };
        self.federation.advance(mean_loss(validation.iter()))?;
        if let Some(stopping) = &mut self.stopping {
            let score = score(&validation)?;
            let federation = &self.federation;
            self.active = !stopping.step(score, || model_state(federation));
        }
        self.rounds += 1;
        self.active &= self.rates.as_ref().is_none_or(|rates| self.rounds < rates.len());
        Ok(CohortRound { report: Some(report), validation })
    }

    /// Returns the number of rounds of the model that counts.
    pub(crate) fn chosen_rounds(&self) -> usize {
        self.best().map_or(self.rounds, |(round, _)| round)
    }

    /// Returns the best model with its round, counted from 1, if it is the one that counts.
    fn best(&self) -> Option<(usize, &ModelState)> {
        let stopping = self.stopping.as_ref().filter(|_| self.select == Select::BestValidation)?;
        stopping.best().map(|(_, step, best)| (step as usize, best))
    }

    /// Evaluates the trials of a part. New people are evaluated one by one, others client by client.
    pub(crate) fn evaluate(
        &self,
        workers: &mut [Worker<'_, T, M>],
        part: Part,
    ) -> Result<Vec<Scored<'a>>, Error> {
        let Roster { shards, newcomers, .. } = self.roster;
        if newcomers.is_empty() {
            let evaluations = self.federation.evaluate(workers, |shard| part.of(shard))?;
            let scored = shards.iter().zip(evaluations);
            let scored = scored.filter_map(|(shard, evaluation)| {
                Some(Scored { trials: part.of(shard), evaluation: evaluation? })
            });
            return Ok(scored.collect());
        }
        let people: Vec<&Newcomer> = newcomers.iter().filter(|newcomer| newcomer.part == part).collect();
        let (parameters, mut scored) = (self.parameters(), Vec::with_capacity(people.len()));
        let work = |worker: &mut Worker<'_, T, M>, place: usize| {
            let Newcomer { fit, scored, .. } = people[place];
            evaluate_new(self.network, &parameters, self.examples, (fit, scored), worker)
        };
        in_order(workers, people.len(), work, |place, evaluation| {
            scored.push(Scored { trials: &people[place].scored, evaluation: evaluation? });
            Ok::<(), Error>(())
        })?;
        Ok(scored)
    }

    /// Returns the parameters of the resulting model. With several clients, local parameters have
    /// their initial values; with one client, its own.
    pub(crate) fn parameters(&self) -> ParamSet<T> {
        match &self.roster.shards[..] {
            [_] => self.federation.parameters(0),
            _ => self.federation.server().parameters().clone(),
        }
    }

    /// Restores the best model, if it is the one that counts. Returns its round, counted from 1.
    pub(crate) fn return_to_best(&mut self) -> Result<Option<u32>, Error> {
        let Some((round, best)) = self.best() else { return Ok(None) };
        let best = best.clone();
        self.federation.restore(&best.server, &best.clients)?;
        Ok(Some(round as u32))
    }

    pub(crate) fn state(&self) -> CohortState {
        CohortState {
            model: model_state(&self.federation),
            stopping: self.stopping.clone(),
            active: self.active,
        }
    }

    pub(crate) fn restore(&mut self, state: &CohortState) -> Result<(), Error> {
        self.federation.restore(&state.model.server, &state.model.clients)?;
        (self.stopping, self.active) = (state.stopping.clone(), state.active);
        self.rounds = self.federation.server().round() as usize;
        Ok(())
    }
}

fn model_state<T: Real, M: Model<T>>(federation: &Federation<'_, T, M>) -> ModelState {
    let (server, clients) = federation.state();
    ModelState { server, clients }
}

/// Evaluates trials of someone whom nobody trained on. Statistics are fitted on some trials without
/// labels, and others or the same ones are scored.
pub(crate) fn evaluate_new<T: Real, M: Model<T>>(
    network: &M,
    parameters: &ParamSet<T>,
    examples: &M::Examples,
    (fitted, scored): (&[usize], &[usize]),
    worker: &mut Worker<'_, T, M>,
) -> Result<Evaluation, Error> {
    let mut parameters = parameters.clone();
    network.calibrate(&mut parameters, examples, fitted)?;
    Ok(worker.trainer.evaluate(&parameters, examples, scored)?)
}
