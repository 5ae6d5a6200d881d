//! How the server of sites writes a round down, and the end of the run.

use std::time::Instant;

use fedspd_federated::{Exchange, ServerState};
use fedspd_run::{Event, Status, headline};
use serde::{Deserialize, Serialize};

use super::begin;
use super::coordinator::Coordinator;
use super::verdict::{Verdict, Verdicts};
use crate::checkpoint::{Checkpoint, Resting};
use crate::diary::{is_due, warn};
use crate::results::table;
use crate::round_event::round_event;
use crate::runner::peak_memory;
use crate::scores::{RoundScores, Score, Tally, Validation, finals};
use crate::sealed::Magic;
use crate::seed_run::SeedRun;
use crate::store::Store;
use crate::{Error, Observer};

/// Between rounds: the server, and since when each site keeps what it has.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Rest {
    pub(super) server: ServerState,
    pub(super) since: Vec<Option<Exchange>>,
}

impl Resting for Rest {
    const MAGIC: &Magic = b"fedspd-sites-v2\n";
}

/// The same from before a round could have several exchanges.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct FormerRest {
    server: ServerState,
    since: Vec<Option<u32>>,
}

impl Resting for FormerRest {
    const MAGIC: &Magic = b"fedspd-sites-v1\n";
}

/// The checkpoint of a run, also one of the former kind.
pub(super) fn checkpoint(store: &Store, seed: u64) -> Result<Option<Checkpoint<Rest>>, Error> {
    if !store.holds::<FormerRest>(seed) {
        return store.checkpoint(seed);
    }
    let former: Option<Checkpoint<FormerRest>> = store.checkpoint(seed)?;
    Ok(former.map(|former| {
        let first = |round| Exchange { round, number: 0 };
        let since = former.state.since.into_iter().map(|round| round.map(first)).collect();
        let Checkpoint { config_hash, history, finals, done, .. } = former;
        Checkpoint { config_hash, state: Rest { server: former.state.server, since }, history, finals, done }
    }))
}

impl Coordinator {
    /// Goes on to the next round: the learning rate takes its step, and the round is written down. After the last one the model is saved.
    ///
    /// # Errors
    /// When the round is not closed; faults of the folder.
    pub fn advance(&mut self, observer: &mut (dyn Observer + Send)) -> Result<(), Error> {
        let members = begin::members(&self.sites);
        let Some(report) = self.closed.take() else {
            let fault = "the round is not closed yet";
            return Err(fedspd_federated::Error::Order { asked: "advance", fault }.into());
        };
        let (losses, validation) = self.tally(|verdicts| verdicts.validation.as_ref())?;
        let validation_loss = losses.iter().sum::<f64>() / losses.len() as f64;
        let (_, test) = self.tally(|verdicts| verdicts.test.as_ref())?;
        self.machine.advance(validation_loss)?;
        let round = self.diary.done() + 1;
        let last = round == self.diary.rounds;
        let test = is_due(round, last, self.config.run.eval_every).then_some(test);
        let validation = is_due(round, last, self.config.run.validate_every)
            .then(|| Validation { loss: validation_loss, f1: validation.pooled.macro_f1() });
        let scored = RoundScores::new(validation, test.as_ref(), &self.facts.classes);
        let event = round_event(self.diary.seed, round, self.config.mode, vec![(&members, report)], &scored);
        let progress = self.diary.write(event, scored.scores, Some(&mut self.store), observer)?;
        match test {
            Some(test) if last => self.finish(&test, observer)?,
            _ => self.save(&[], false)?,
        }
        observer.round(&progress);
        Ok(())
    }

    /// The losses of those who judged a split, and their confusions, in the order of the sites.
    fn tally(&self, split: impl Fn(&Verdicts) -> Option<&Verdict>) -> Result<(Vec<f64>, Tally), Error> {
        let classes = self.facts.classes.len();
        let (mut losses, mut tally) = (Vec::new(), Tally::new(classes));
        for (site, verdicts) in self.sites.iter().zip(&self.verdicts) {
            let Some(verdict) = verdicts.as_ref().and_then(&split) else { continue };
            tally.add(&site.name, verdict.loss, &verdict.confusion)?;
            losses.push(verdict.loss);
        }
        Ok((losses, tally))
    }

    fn save(&mut self, finals: &[Score], done: bool) -> Result<(), Error> {
        let checkpoint = Checkpoint {
            config_hash: self.manifest.config_hash.clone(),
            state: Rest { server: self.machine.state(), since: self.since.clone() },
            history: self.diary.history.clone(),
            finals: finals.to_vec(),
            done,
        };
        self.store.save(self.diary.seed, &checkpoint)
    }

    /// Saves the model and the results.
    fn finish(&mut self, test: &Tally, observer: &mut (dyn Observer + Send)) -> Result<(), Error> {
        let (seed, feasibility) = (self.diary.seed, self.machine.feasibility_error()?);
        let finals = finals(test, &self.facts.classes, feasibility, None, &self.diary.history);
        match self.machine.save(&self.folder.model(seed), &self.model) {
            Err(fedspd_nn::Error::Model { fault, .. }) => {
                let text = format!("the model of seed {seed} is not saved: {fault}");
                warn(Some(&mut self.store), observer, &text)?;
            }
            saved => saved?,
        }
        let run = SeedRun { history: self.diary.history.clone(), finals: finals.clone(), model: None };
        let (dataset, align) = (&self.manifest.dataset, &self.facts.alignment);
        let results = table(&self.config, dataset, align, &[(seed, run)]);
        results.write(&self.folder.results())?;
        headline(&results).write(&self.folder.summary())?;
        self.end(Status::Done)?;
        self.store.event(&Event::Finished)?;
        self.save(&finals, true)?;
        self.finished = true;
        Ok(())
    }

    /// Says in the folder how the run ended.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn end(&mut self, status: Status) -> Result<(), Error> {
        let before = self.manifest.wall_seconds.unwrap_or(0.0);
        self.manifest.wall_seconds = Some(before + self.start.elapsed().as_secs_f64());
        self.start = Instant::now();
        self.manifest.peak_memory_bytes = peak_memory();
        self.manifest.status = status;
        Ok(self.manifest.write(&self.folder.manifest())?)
    }
}

#[cfg(test)]
mod tests {
    use fedspd_nn::schedule::{Schedule, ScheduleConfig};
    use fedspd_run::RunFolder;

    use super::*;

    #[test]
    fn a_checkpoint_of_the_former_kind_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let (folder, _lock) = RunFolder::create(folder.path().join("run"), |_| Ok::<_, Error>(())).unwrap();
        let mut store = Store::open(&folder, "hash").unwrap();
        assert!(checkpoint(&store, 0).unwrap().is_none());
        let schedule = Schedule::new(ScheduleConfig::Constant, 0.1).unwrap();
        let server = postcard::to_allocvec(&(3_u32, vec![1.5_f64], schedule, vec![2.5_f64])).unwrap();
        let server: ServerState = postcard::from_bytes(&server).unwrap();
        let (since, config_hash) = (vec![Some(2), None], "hash".to_owned());
        let former = Checkpoint {
            config_hash,
            state: FormerRest { server: server.clone(), since },
            history: Vec::new(),
            finals: Vec::new(),
            done: false,
        };
        store.save(0, &former).unwrap();
        let read = checkpoint(&store, 0).unwrap().unwrap().state;
        assert_eq!(read.server, server);
        assert_eq!(read.since, [Some(Exchange { round: 2, number: 0 }), None]);
        let now = Checkpoint {
            config_hash: former.config_hash,
            state: read,
            history: Vec::new(),
            finals: Vec::new(),
            done: true,
        };
        store.save(0, &now).unwrap();
        assert!(checkpoint(&store, 0).unwrap().unwrap().done);
    }
}
