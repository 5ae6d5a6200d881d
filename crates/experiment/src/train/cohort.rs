//! Clients that train one model together, with optional early stopping.
//!
//! Every mode trains cohorts, and there is no other training loop. Mode `federated` has one cohort
//! of all clients. Mode `centralised` has one of a single client that holds all trials. Mode
//! `local` has a cohort for each client.

use fedspd_federated::{Federation, Member, ParameterScopes, Round, RoundReport, Server, Shard, Worker};
use fedspd_manifold::Real;
use fedspd_nn::schedule::{EarlyStopping, Mode as Better};
use fedspd_nn::{Evaluation, Model, ParamSet, Seed};

use super::settings;
use crate::Error;
use crate::config::{Config, Mode};
use crate::record::{CohortState, ModelState};
use crate::split::Design;

/// The outcome of a round for a cohort.
pub(crate) struct CohortRound {
    /// The server's report; none for a cohort that stopped before.
    pub(crate) report: Option<RoundReport>,
    /// The evaluation of each client's validation trials.
    pub(crate) validation: Vec<Option<Evaluation>>,
}

/// A federation and its early stopping.
pub(crate) struct Cohort<'a, T: Real, M: Model<T>> {
    pub(crate) federation: Federation<'a, T, M>,
    shards: &'a [Shard],
    stopping: Option<EarlyStopping<ModelState>>,
    /// Whether training continues.
    pub(crate) active: bool,
}

impl<'a, T: Real, M: Model<T>> Cohort<'a, T, M> {
    /// Creates the cohorts of a mode. Centralised training takes its trials from `pooled`.
    pub(crate) fn all(
        config: &Config,
        model: &M,
        examples: &'a M::Examples,
        design: &'a Design,
        pooled: &'a Shard,
        seed: u64,
    ) -> Result<Vec<Self>, Error> {
        let cohort = |names: Vec<String>, shards: &'a [Shard], numbers: Vec<u32>| {
            let members = names.into_iter().zip(shards);
            let members = members.map(|(name, shard)| Member { name, trials: shard.train.len() }).collect();
            let method = settings::method::<T>(config, &ParameterScopes::new(model.layout().clone()))?;
            let (server, initial) = (settings::server(config), model.initial(Seed(seed))?);
            let server = Server::new(server, members, initial, method.server, Seed(seed))?;
            let federation = Federation::new(examples, shards, numbers, method.client, server, Seed(seed))?;
            let patience = config.train.early_stop as u64;
            let stops = config.mode != Mode::Federated && patience > 0;
            let stopping = stops.then(|| EarlyStopping::new(Better::Max, patience));
            Ok(Self { federation, shards, stopping, active: true })
        };
        let names = || design.clients.iter().map(|client| client.name.clone());
        match config.mode {
            Mode::Federated => Ok(vec![cohort(
                names().collect(),
                &design.shards,
                (0..design.shards.len() as u32).collect(),
            )?]),
            Mode::Centralised => {
                Ok(vec![cohort(vec!["all clients".into()], std::slice::from_ref(pooled), vec![0])?])
            }
            Mode::Local => names()
                .zip(design.shards.chunks(1))
                .zip(0..)
                .map(|((name, shard), number)| cohort(vec![name], shard, vec![number]))
                .collect(),
        }
    }

    /// Trains one round and updates early stopping with a validation score; larger is better. A
    /// cohort that has stopped is only validated, with the model of its last round. Early stopping
    /// needs a validation after every round.
    pub(crate) fn round(
        &mut self,
        workers: &mut [Worker<'_, T, M>],
        validated: bool,
        score: impl Fn(&[Shard], &[Option<Evaluation>]) -> Result<f64, Error>,
    ) -> Result<CohortRound, Error> {
        if !self.active {
            let validation = self.evaluate(workers, |shard| &shard.validation)?;
            return Ok(CohortRound { report: None, validation });
        }
        let Round { report, validation, .. } = self.federation.round(workers, validated)?;
        if let Some(stopping) = &mut self.stopping {
            let score = score(self.shards, &validation)?;
            let federation = &self.federation;
            self.active = !stopping.step(score, || model_state(federation));
        }
        Ok(CohortRound { report: Some(report), validation })
    }

    pub(crate) fn shards(&self) -> &'a [Shard] {
        self.shards
    }

    /// Evaluates some trials of each client.
    pub(crate) fn evaluate(
        &self,
        workers: &mut [Worker<'_, T, M>],
        trials: impl Fn(&Shard) -> &[usize] + Sync,
    ) -> Result<Vec<Option<Evaluation>>, Error> {
        Ok(self.federation.evaluate(workers, trials)?)
    }

    /// Returns the parameters of the resulting model. With several clients, local parameters have
    /// their initial values; with one client, its own.
    pub(crate) fn parameters(&self) -> ParamSet<T> {
        match self.shards {
            [_] => self.federation.parameters(0),
            _ => self.federation.server().parameters().clone(),
        }
    }

    /// Restores the best model, if early stopping kept one. Returns its round, counted from 1.
    pub(crate) fn return_to_best(&mut self) -> Result<Option<u32>, Error> {
        let Some((_, step, best)) = self.stopping.as_ref().and_then(EarlyStopping::best) else {
            return Ok(None);
        };
        self.federation.restore(&best.server, &best.clients)?;
        Ok(Some(step as u32))
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
        Ok(())
    }
}

fn model_state<T: Real, M: Model<T>>(federation: &Federation<'_, T, M>) -> ModelState {
    let (server, clients) = federation.state();
    ModelState { server, clients }
}
