//! The server of sites on other machines, with its run folder.

use std::path::Path;
use std::time::Instant;

use fedspd_federated::{Member, RoundReport};
use fedspd_nn::file::Manifest as ModelManifest;
use fedspd_run::{Confusion, FolderLock, Manifest, RunFolder, Status};

use super::begin;
use super::identity::Identity;
use super::introduction::{Facts, Introduction, agree, fits};
use super::machine::Machine;
use super::plan::{Asked, Examination, Plan};
use super::record::Rest;
use super::site::{Judgement, Reply, Verdict};
use crate::config::Config;
use crate::design::unscored;
use crate::diary::{Diary, is_due, warn};
use crate::store::Store;
use crate::{Error, Observer, network};

/// Logarithms of probabilities of doubles end near 745; a diverging network may come to some thousands.
const LARGEST_LOSS: f64 = 1e6;

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
    /// The last round in which each site's reply counted.
    pub(super) since: Vec<Option<u32>>,
    /// The round that is closed and not yet judged.
    pub(super) closed: Option<RoundReport>,
    pub(super) judgements: Vec<Option<Judgement>>,
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
        if let Some(checkpoint) = store.checkpoint::<Rest>(seed)? {
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
        let judgements = vec![None; sites.len()];
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
            judgements,
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

    /// Names and shapes of the parameters that travel, in their order.
    pub fn travelling(&self) -> Vec<(String, Vec<usize>)> {
        self.machine.travelling()
    }

    /// What this round asks for.
    ///
    /// # Errors
    /// When the last one is not judged yet.
    pub fn plan(&self) -> Result<Plan, Error> {
        let (round, clients, learning_rate) = self.machine.plan()?;
        let work = network::server(&self.config).work;
        let asked = |client: usize| Asked {
            client,
            epochs: work.of(&Member { name: self.sites[client].name.clone() }),
            since: self.since[client],
        };
        let clients = clients.into_iter().map(asked).collect();
        Ok(Plan { round, learning_rate, clients, parameters: self.machine.sent() })
    }

    /// Takes the reply of a site, or the reason why there is none.
    ///
    /// # Errors
    /// As [`fedspd_federated::Server::submit`].
    pub fn submit(&mut self, client: usize, reply: Result<Reply, String>) -> Result<(), Error> {
        let announced = self.sites.get(client).map(|site| site.trials.training());
        let reply = reply.and_then(|reply| match announced {
            // The weight of a reply is not the site's to choose anew.
            Some(trials) if reply.trials != trials => {
                Err(format!("it says that it trained on {} trials; it has {trials}", reply.trials))
            }
            _ if !can_be(reply.loss) => Err(format!("its loss is {}", reply.loss)),
            _ => Ok(reply),
        });
        self.machine.submit(client, reply)
    }

    /// Ends the round: replies become the next parameters. Says what every site is to make of them.
    ///
    /// # Errors
    /// As [`fedspd_federated::Server::close`]: among others, when there is no quorum.
    pub fn close(&mut self) -> Result<Examination, Error> {
        let report = self.machine.close()?;
        for &client in &report.participants {
            if report.dropped.iter().all(|dropped| dropped.client != client) {
                self.since[client] = Some(report.round);
            }
        }
        self.closed = Some(report);
        self.judgements.fill(None);
        let round = self.diary.done() + 1;
        let (last, run) = (round == self.diary.rounds, &self.config.run);
        Ok(Examination {
            parameters: self.machine.sent(),
            validated: is_due(round, last, run.validate_every),
            tested: is_due(round, last, run.eval_every),
            since: self.since.clone(),
        })
    }

    /// Takes what the new model made of a site's trials, or the reason why that is not known; such a site has no say in the learning rate and in the scores.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub fn judge(
        &mut self,
        client: usize,
        judgement: Result<Judgement, String>,
        observer: &mut (dyn Observer + Send),
    ) -> Result<(), Error> {
        let Some(site) = self.sites.get(client) else { return Ok(()) };
        let splits = |judgement: &Judgement| {
            let pairs = [
                (judgement.validation.clone(), &site.trials.validation),
                (judgement.test.clone(), &site.trials.test),
            ];
            pairs.into_iter().try_for_each(|(verdict, counts)| {
                verdict.map_or(Ok(()), |verdict| sound(&verdict, counts, self.facts.classes.len()))
            })
        };
        match judgement.and_then(|judgement| splits(&judgement).map(|()| judgement)) {
            Ok(judgement) => self.judgements[client] = Some(judgement),
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

/// A cross-entropy is never negative; one that is beyond all measure is not to drown those of the others.
fn can_be(loss: f64) -> bool {
    (0.0..=LARGEST_LOSS).contains(&loss)
}

/// Whether a verdict can be: a loss, and as many trials of each class as the site has.
fn sound(verdict: &Verdict, counts: &[usize], classes: usize) -> Result<(), String> {
    if !can_be(verdict.loss) {
        return Err(format!("its loss is {}", verdict.loss));
    }
    let confusion = Confusion::of(classes, &verdict.confusion).map_err(|error| error.to_string())?;
    if fits(&confusion, counts) {
        return Ok(());
    }
    Err(format!(
        "it has {counts:?} trials of the classes, and sent the confusion matrix {:?}",
        verdict.confusion
    ))
}
