//! A federation on its way through the rounds, with early stopping where it is asked for.
//!
//! Every mode is made of these: `federated` is one course of all clients, `centralised` one course of a single client that holds
//! everything, `local` a course for each client by itself. There is no other training loop.

use fedspd_federated::{Federation, Member, Round, RoundReport, Server, Shard, Wire, Worker};
use fedspd_manifold::Real;
use fedspd_nn::schedule::{EarlyStopping, Mode as Better};
use fedspd_nn::{Evaluation, Model, ParamSet, Seed};

use crate::checkpoint::{CourseState, Kept};
use crate::config::{Config, Mode};
use crate::design::Design;
use crate::{Error, network};

/// What a round did to a course.
pub(crate) struct Step {
    /// How it went; none of a course that had stopped before.
    pub(crate) report: Option<RoundReport>,
    /// What its model makes of the validation trials of each client.
    pub(crate) validation: Vec<Option<Evaluation>>,
}

/// A federation and its early stopping.
pub(crate) struct Course<'a, T: Real, M: Model<T>> {
    pub(crate) federation: Federation<'a, T, M>,
    shards: &'a [Shard],
    stopping: Option<EarlyStopping<Kept>>,
    /// Whether there are rounds to come.
    pub(crate) active: bool,
}

impl<'a, T: Real, M: Model<T>> Course<'a, T, M> {
    /// The courses of a mode. Centralised training takes its trials from `pooled`.
    pub(crate) fn all(
        config: &Config,
        model: &M,
        examples: &'a M::Examples,
        design: &'a Design,
        pooled: &'a Shard,
        seed: u64,
    ) -> Result<Vec<Self>, Error> {
        let course = |names: Vec<String>, shards: &'a [Shard], numbers: Vec<u32>| {
            let members = names.into_iter().zip(shards);
            let members = members.map(|(name, shard)| Member { name, trials: shard.train.len() }).collect();
            let method = network::method::<T>(config, &Wire::new(model.layout().clone()))?;
            let (settings, initial) = (network::server(config), model.initial(Seed(seed))?);
            let server = Server::new(settings, members, initial, method.server, Seed(seed))?;
            let federation = Federation::new(examples, shards, numbers, method.client, server, Seed(seed))?;
            let patience = config.train.early_stop as u64;
            let stops = config.mode != Mode::Federated && patience > 0;
            let stopping = stops.then(|| EarlyStopping::new(Better::Max, patience));
            Ok(Self { federation, shards, stopping, active: true })
        };
        let names = || design.clients.iter().map(|client| client.name.clone());
        match config.mode {
            Mode::Federated => Ok(vec![course(
                names().collect(),
                &design.shards,
                (0..design.shards.len() as u32).collect(),
            )?]),
            Mode::Centralised => {
                Ok(vec![course(vec!["all clients".into()], std::slice::from_ref(pooled), vec![0])?])
            }
            Mode::Local => names()
                .zip(design.shards.chunks(1))
                .zip(0..)
                .map(|((name, shard), number)| course(vec![name], shard, vec![number]))
                .collect(),
        }
    }

    /// One round, and the step of early stopping on a score of the validation, the larger the better. A course that has stopped is validated alone, with
    /// the model of its last round. (Early stopping validates after every round.)
    pub(crate) fn round(
        &mut self,
        workers: &mut [Worker<'_, T, M>],
        validated: bool,
        score: impl Fn(&[Shard], &[Option<Evaluation>]) -> Result<f64, Error>,
    ) -> Result<Step, Error> {
        if !self.active {
            let validation = self.evaluate(workers, |shard| &shard.validation)?;
            return Ok(Step { report: None, validation });
        }
        let Round { report, validation, .. } = self.federation.round(workers, validated)?;
        if let Some(stopping) = &mut self.stopping {
            let score = score(self.shards, &validation)?;
            let federation = &self.federation;
            self.active = !stopping.step(score, || kept(federation));
        }
        Ok(Step { report: Some(report), validation })
    }

    pub(crate) fn shards(&self) -> &'a [Shard] {
        self.shards
    }

    /// What the model makes of some trials of each client.
    pub(crate) fn evaluate(
        &self,
        workers: &mut [Worker<'_, T, M>],
        trials: impl Fn(&Shard) -> &[usize] + Sync,
    ) -> Result<Vec<Option<Evaluation>>, Error> {
        Ok(self.federation.evaluate(workers, trials)?)
    }

    /// The parameters of the model that came out: the server's, in which local ones are as they began; of a client that is alone also its local ones.
    pub(crate) fn parameters(&self) -> ParamSet<T> {
        match self.shards {
            [_] => self.federation.parameters(0),
            _ => self.federation.server().parameters().clone(),
        }
    }

    /// Returns to the best model, if early stopping has kept one; the round it is of, counted from 1.
    pub(crate) fn return_to_best(&mut self) -> Result<Option<u32>, Error> {
        let Some((_, step, best)) = self.stopping.as_ref().and_then(EarlyStopping::best) else {
            return Ok(None);
        };
        self.federation.restore(&best.server, &best.clients)?;
        Ok(Some(step as u32))
    }

    pub(crate) fn state(&self) -> CourseState {
        CourseState { kept: kept(&self.federation), stopping: self.stopping.clone(), active: self.active }
    }

    pub(crate) fn restore(&mut self, state: &CourseState) -> Result<(), Error> {
        self.federation.restore(&state.kept.server, &state.kept.clients)?;
        (self.stopping, self.active) = (state.stopping.clone(), state.active);
        Ok(())
    }
}

fn kept<T: Real, M: Model<T>>(federation: &Federation<'_, T, M>) -> Kept {
    let (server, clients) = federation.state();
    Kept { server, clients }
}
