//! The server of a run on several machines, with its run folder.

use std::path::Path;

use fedspd_federated::{Exchange, LOSS, Message, RoundReport};
use fedspd_nn::file::Manifest as ModelManifest;
use fedspd_run::Unit;

use super::identity::Identity;
use super::introduction::{Facts, Introduction, agree, common_facts};
use super::open;
use super::plan::{ClientPlan, EvaluationPlan, Plan};
use super::rounds::SitesState;
use super::scores::{SiteScores, check_loss};
use super::server::AnyServer;
use crate::config::Config;
use crate::data::PARTLY_KNOWN;
use crate::record::{Checkpoint, History, Recorder, is_due, warn};
use crate::split::unscored;
use crate::train::settings;
use crate::{Error, Observer};

/// The server of a run on several machines. It stores its state in the run folder after every round
/// and resumes from there.
pub struct Coordinator {
    pub(super) config: Config,
    pub(super) sites: Vec<Introduction>,
    pub(super) facts: Facts,
    pub(super) server: Box<dyn AnyServer>,
    pub(super) model: ModelManifest,
    pub(super) identity: Identity,
    pub(super) recorder: Recorder,
    pub(super) history: History,
    /// The last exchange in which each site's reply counted.
    pub(super) since: Vec<Option<Exchange>>,
    /// The same before the first exchange of a round with several; none during the first.
    pub(super) before: Option<Vec<Option<Exchange>>>,
    /// The closed round that is not yet scored.
    pub(super) closed: Option<RoundReport>,
    pub(super) scores: Vec<Option<SiteScores>>,
    pub(super) finished: bool,
}

impl Coordinator {
    /// Begins a run in a new folder, or resumes the one in it.
    ///
    /// # Errors
    /// If sites do not agree, or if the folder holds another run.
    pub fn open(
        config: Config,
        name: &str,
        folder: &Path,
        introductions: Vec<Introduction>,
        quorum: usize,
        observer: &mut (dyn Observer + Send),
    ) -> Result<Self, Error> {
        let seed = open::only_seed(&config)?;
        let sites = agree(introductions, seed)?;
        let facts = common_facts(&sites).ok_or(Error::Nothing)?;
        let (mut server, model) = open::server(&config, &facts, &sites, quorum, seed)?;
        let trained = server.trained();
        let (mut recorder, identity) = open::recorder(&config, name, folder, &facts, &sites, trained, seed)?;
        let mut history =
            History { unit: Unit::of_seed(seed), rounds: settings::rounds(&config), past: Vec::new() };
        let (mut since, mut finished) = (vec![None; sites.len()], false);
        let stored: Option<Checkpoint<SitesState>> = recorder.checkpoint(history.unit)?;
        // A resumed run has its warnings in the log already.
        let resumed = stored.is_some();
        if let Some(checkpoint) = stored {
            checkpoint.check(since.len())?;
            server.restore(&checkpoint.state.server)?;
            (since, finished) = (checkpoint.state.since, checkpoint.done);
            history.past = checkpoint.history;
        }
        if !finished {
            history.open(&mut recorder)?;
            let counts = sites.iter().map(|site| {
                let sum = |counts: &[usize]| counts.iter().sum();
                (&*site.name, sum(&site.trials.validation), sum(&site.trials.test))
            });
            let unknown = sites.iter().filter(|site| !site.facts.preparation.making.is_known());
            let unknown = unknown.map(|site| (site, PARTLY_KNOWN));
            let warned = sites.iter().filter_map(|site| Some((site, site.warning.as_deref()?)));
            let suspicious = unknown.chain(warned).map(|(site, text)| format!("{}: {text}", site.name));
            for warning in unscored(&config, &counts.collect::<Vec<_>>()).into_iter().chain(suspicious) {
                warn(Some(&mut recorder).filter(|_| !resumed), observer, &warning)?;
            }
            recorder.begin()?;
        }
        let (closed, scores) = (None, vec![None; sites.len()]);
        Ok(Self {
            config,
            sites,
            facts,
            server,
            model,
            identity,
            recorder,
            history,
            since,
            before: None,
            closed,
            scores,
            finished,
        })
    }

    /// Whether all rounds are done and the model is saved.
    pub fn finished(&self) -> bool {
        self.finished
    }

    /// Returns the identity of the run, which names the state folders of the sites.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Returns the numbers of completed rounds and of all rounds.
    pub fn rounds(&self) -> (u32, u32) {
        (self.history.done(), self.history.rounds)
    }

    /// Returns the names of the sites.
    pub fn names(&self) -> Vec<String> {
        self.sites.iter().map(|site| site.name.clone()).collect()
    }

    /// Returns the plan of the current exchange.
    ///
    /// # Errors
    /// If the last round is not scored yet.
    pub fn plan(&self) -> Result<Plan, Error> {
        let (exchange, clients, learning_rate, message) = self.server.plan()?;
        let (work, members) = (settings::server(&self.config).work, open::members(&self.sites));
        let asked = |client: usize| ClientPlan {
            client,
            epochs: work.of(&members[client]),
            since: self.since[client],
        };
        let clients = clients.into_iter().map(asked).collect();
        Ok(Plan { exchange, learning_rate, clients, message })
    }

    /// Takes the reply of a site, or the reason for its absence.
    ///
    /// # Errors
    /// As [`fedspd_federated::Server::submit`].
    pub fn submit(&mut self, client: usize, reply: Result<Message, String>) -> Result<(), Error> {
        let reply = reply.and_then(|reply| {
            reply.number(LOSS).map_or(Ok(()), check_loss)?;
            Ok(reply)
        });
        self.server.submit(client, reply)
    }

    /// Ends the exchange. Returns the plan of the evaluation, or nothing if the round needs another
    /// exchange.
    ///
    /// # Errors
    /// As [`fedspd_federated::Server::close`], for example without a quorum.
    pub fn close(&mut self) -> Result<Option<EvaluationPlan>, Error> {
        let (exchange, clients, ..) = self.server.plan()?;
        let report = self.server.close()?;
        let dropped = report.as_ref().map_or(self.server.dropped(), |report| &report.dropped);
        if report.is_none() && self.before.is_none() {
            self.before = Some(self.since.clone());
        }
        for client in clients {
            if dropped.iter().all(|dropped| dropped.client != client) {
                self.since[client] = Some(exchange);
            }
        }
        let Some(report) = report else { return Ok(None) };
        // The server has undone the round, and so do the sites.
        if let Some(before) = self.before.take()
            && report.is_empty()
        {
            self.since = before;
        }
        self.closed = Some(report);
        self.scores.fill(None);
        let (validated, tested) = self.due();
        Ok(Some(EvaluationPlan {
            message: self.server.model(),
            validated,
            tested,
            since: self.since.clone(),
        }))
    }

    /// Whether the round under way is validated and tested.
    pub(super) fn due(&self) -> (bool, bool) {
        let round = self.history.done() + 1;
        let (last, run) = (round == self.history.rounds, &self.config.run);
        (is_due(round, last, run.validate_every), is_due(round, last, run.eval_every))
    }

    /// Takes a site's scores of the new model, or the reason for their absence. A site without
    /// scores does not count for the learning rate and the results.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub fn score(
        &mut self,
        client: usize,
        scores: Result<Message, String>,
        observer: &mut (dyn Observer + Send),
    ) -> Result<(), Error> {
        let Some(site) = self.sites.get(client) else { return Ok(()) };
        let (validated, tested) = self.due();
        let read = |message: Message| SiteScores::read(&message, &site.trials, validated, tested);
        match scores.and_then(read) {
            Ok(scores) => self.scores[client] = Some(scores),
            Err(reason) => {
                let round = self.history.done() + 1;
                let text = format!("round {round}: {} did not score the model: {reason}", site.name);
                warn(Some(&mut self.recorder), observer, &text)?;
            }
        }
        Ok(())
    }

    /// Returns the configuration for the sites.
    pub fn config(&self) -> &Config {
        &self.config
    }
}
