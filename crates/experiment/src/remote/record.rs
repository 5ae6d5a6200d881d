//! How the server of sites writes a round down, and the end of the run.

use std::time::Instant;

use fedspd_federated::{Member, ServerState};
use fedspd_run::{Confusion, Event, Status, headline};
use serde::{Deserialize, Serialize};

use super::coordinator::Coordinator;
use super::site::{Judgement, Verdict};
use crate::checkpoint::{Checkpoint, Resting};
use crate::diary::{is_due, warn};
use crate::results::table;
use crate::round_event::round_event;
use crate::runner::peak_memory;
use crate::scores::{RoundScores, Score, Tally, Validation, finals};
use crate::sealed::Magic;
use crate::seed_run::SeedRun;
use crate::{Error, Observer};

/// Between rounds: the server, and since when each site keeps what it has.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Rest {
    pub(super) server: ServerState,
    pub(super) since: Vec<Option<u32>>,
}

impl Resting for Rest {
    const MAGIC: &Magic = b"fedspd-sites-v1\n";
}

impl Coordinator {
    /// Goes on to the next round: the learning rate takes its step, and the round is written down. After the last one the model is saved.
    ///
    /// # Errors
    /// When the round is not closed; faults of the folder.
    pub fn advance(&mut self, observer: &mut (dyn Observer + Send)) -> Result<(), Error> {
        let members: Vec<Member> = self.sites.iter().map(|site| Member { name: site.name.clone() }).collect();
        let Some(report) = self.closed.take() else {
            let fault = "the round is not closed yet";
            return Err(fedspd_federated::Error::Order { asked: "advance", fault }.into());
        };
        let (losses, validation) = self.tally(|judgement| judgement.validation.as_ref())?;
        let validation_loss = losses.iter().sum::<f64>() / losses.len() as f64;
        let (_, test) = self.tally(|judgement| judgement.test.as_ref())?;
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
    fn tally(&self, split: impl Fn(&Judgement) -> Option<&Verdict>) -> Result<(Vec<f64>, Tally), Error> {
        let classes = self.facts.classes.len();
        let (mut losses, mut tally) = (Vec::new(), Tally::new(classes));
        for (site, judgement) in self.sites.iter().zip(&self.judgements) {
            let Some(verdict) = judgement.as_ref().and_then(&split) else { continue };
            tally.add(&site.name, verdict.loss, &Confusion::of(classes, &verdict.confusion)?)?;
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
