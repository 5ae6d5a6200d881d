//! The server of sites on other machines, with its run folder.

use std::path::Path;
use std::time::Instant;

use fedspd_federated::{Exchange, LOSS, Message, RoundReport};
use fedspd_nn::file::Manifest as ModelManifest;
use fedspd_run::{FolderLock, Manifest, RunFolder, Status};

use super::begin;
use super::identity::Identity;
use super::introduction::{Facts, Introduction, agree};
use super::machine::Machine;
use super::plan::{Asked, Examination, Plan};
use super::record;
use super::verdict::{Verdicts, check_loss};
use crate::config::Config;
use crate::design::unscored;
use crate::diary::{Diary, is_due, warn};
use crate::store::Store;
use crate::{Error, Observer, network};

/// The server of a run on several machines. What it knows is in the run folder after every round; opened there again, it goes on.
pub struct Coordinator {
    pub(super) config: Config,
    pub(super) sites: Vec<Introduction>,
    pub(super) facts: Facts,
    pub(super) machine: Box<dyn Machine>,
    pub(super) model: ModelManifest,
    pub(super) identity: Identity,
    pub(super) folder: RunFolder,
    pub(super) _lock: FolderLock,
    pub(super) manifest: Manifest,
    pub(super) store: Store,
    pub(super) diary: Diary,
    /// The last exchange in which each site's reply counted.
    pub(super) since: Vec<Option<Exchange>>,
    /// The round that is closed and not yet judged.
    pub(super) closed: Option<RoundReport>,
    pub(super) verdicts: Vec<Option<Verdicts>>,
    pub(super) finished: bool,
    pub(super) start: Instant,
}

impl Coordinator {
    /// Begins a run in a new folder, or goes on with the one that is there.
    ///
    /// # Errors
    /// When sites do not fit together, or the folder holds another run.
    pub fn open(
        config: Config,
        name: &str,
        folder: &Path,
        introductions: Vec<Introduction>,
        quorum: usize,
        observer: &mut (dyn Observer + Send),
    ) -> Result<Self, Error> {
        let seed = begin::only_seed(&config)?;
        let sites = agree(introductions, seed)?;
        let facts = sites.first().map(|site| site.facts.clone()).ok_or(Error::Nothing)?;
        let (mut machine, model) = begin::machine(&config, &facts, &sites, quorum, seed)?;
        let trained = machine.trained();
        let (folder, lock, mut manifest, mut store, identity) =
            begin::folder(&config, name, folder, &facts, &sites, trained, seed)?;
        let mut diary = Diary { seed, rounds: network::rounds(&config), history: Vec::new() };
        let (mut since, mut finished) = (vec![None; sites.len()], false);
        if let Some(checkpoint) = record::checkpoint(&store, seed)? {
            machine.restore(&checkpoint.state.server)?;
            (since, finished) = (checkpoint.state.since, checkpoint.done);
            diary.history = checkpoint.history;
        }
        if !finished {
            diary.open(&mut store)?;
            let counts = sites.iter().map(|site| {
                let sum = |counts: &[usize]| counts.iter().sum();
                (&*site.name, sum(&site.trials.validation), sum(&site.trials.test))
            });
            let suspicious =
                sites.iter().filter_map(|site| Some(format!("{}: {}", site.name, site.warning.as_ref()?)));
            for warning in unscored(&config, &counts.collect::<Vec<_>>()).into_iter().chain(suspicious) {
                warn(Some(&mut store), observer, &warning)?;
            }
            manifest.status = Status::Running;
            manifest.write(&folder.manifest())?;
        }
        let verdicts = vec![None; sites.len()];
        Ok(Self {
            config,
            sites,
            facts,
            machine,
            model,
            identity,
            folder,
            _lock: lock,
            manifest,
            store,
            diary,
            since,
            closed: None,
            verdicts,
            finished,
            start: Instant::now(),
        })
    }

    /// Whether all rounds are done and the model is saved.
    pub fn finished(&self) -> bool {
        self.finished
    }

    /// What sites know the run by.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// How many rounds are done, and how many there are.
    pub fn rounds(&self) -> (u32, u32) {
        (self.diary.done(), self.diary.rounds)
    }

    /// The names of the sites.
    pub fn names(&self) -> Vec<String> {
        self.sites.iter().map(|site| site.name.clone()).collect()
    }

    /// What this exchange asks for.
    ///
    /// # Errors
    /// When the last one is not judged yet.
    pub fn plan(&self) -> Result<Plan, Error> {
        let (exchange, clients, learning_rate, message) = self.machine.plan()?;
        let (work, members) = (network::server(&self.config).work, begin::members(&self.sites));
        let asked =
            |client: usize| Asked { client, epochs: work.of(&members[client]), since: self.since[client] };
        let clients = clients.into_iter().map(asked).collect();
        Ok(Plan { exchange, learning_rate, clients, message })
    }

    /// Takes the reply of a site, or the reason why there is none.
    ///
    /// # Errors
    /// As [`fedspd_federated::Server::submit`].
    pub fn submit(&mut self, client: usize, reply: Result<Message, String>) -> Result<(), Error> {
        let reply = reply.and_then(|reply| {
            reply.number(LOSS).map_or(Ok(()), check_loss)?;
            Ok(reply)
        });
        self.machine.submit(client, reply)
    }

    /// Ends the exchange. Says what every site is to make of the new model, or nothing if the round
    /// needs another exchange.
    ///
    /// # Errors
    /// As [`fedspd_federated::Server::close`]: among others, when there is no quorum.
    pub fn close(&mut self) -> Result<Option<Examination>, Error> {
        let (exchange, clients, ..) = self.machine.plan()?;
        let report = self.machine.close()?;
        let dropped = report.as_ref().map_or(self.machine.dropped(), |report| &report.dropped);
        for client in clients {
            if dropped.iter().all(|dropped| dropped.client != client) {
                self.since[client] = Some(exchange);
            }
        }
        if report.is_none() {
            return Ok(None);
        }
        self.closed = report;
        self.verdicts.fill(None);
        let round = self.diary.done() + 1;
        let (last, run) = (round == self.diary.rounds, &self.config.run);
        Ok(Some(Examination {
            message: self.machine.model(),
            validated: is_due(round, last, run.validate_every),
            tested: is_due(round, last, run.eval_every),
            since: self.since.clone(),
        }))
    }

    /// Takes what the new model made of a site's trials, or the reason why that is not known; such a site has no say in the learning rate and in the scores.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub fn judge(
        &mut self,
        client: usize,
        verdicts: Result<Message, String>,
        observer: &mut (dyn Observer + Send),
    ) -> Result<(), Error> {
        let Some(site) = self.sites.get(client) else { return Ok(()) };
        match verdicts.and_then(|message| Verdicts::read(&message, &site.trials)) {
            Ok(verdicts) => self.verdicts[client] = Some(verdicts),
            Err(reason) => {
                let round = self.diary.done() + 1;
                let text = format!("round {round}: {} did not judge the model: {reason}", site.name);
                warn(Some(&mut self.store), observer, &text)?;
            }
        }
        Ok(())
    }

    /// The configuration as sites need it.
    pub fn config(&self) -> &Config {
        &self.config
    }
}
