//! The end of a round and of the run.

use fedspd_federated::{Exchange, ServerState};
use fedspd_run::{Status, Unit};
use serde::{Deserialize, Serialize};

use super::coordinator::Coordinator;
use super::open;
use super::scores::{SiteScores, SplitScores};
use crate::evaluate::{Confusions, RoundScores, Score, Validation, finals};
use crate::record::sealed::Magic;
use crate::record::{Checkpoint, CheckpointState, Recorder, UnitResults, round_event, table};
use crate::{Error, Observer};

/// The state between rounds: that of the server, and the version of each site's state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SitesState {
    pub(super) server: ServerState,
    pub(super) since: Vec<Option<Exchange>>,
}

impl CheckpointState for SitesState {
    const MAGIC: &Magic = b"fedspd-sites-v2\n";
}

/// The former format, from before a round could have several exchanges.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct FormerSitesState {
    server: ServerState,
    since: Vec<Option<u32>>,
}

impl CheckpointState for FormerSitesState {
    const MAGIC: &Magic = b"fedspd-sites-v1\n";
}

/// Reads the checkpoint of a run, in the current or the former format.
pub(super) fn checkpoint(recorder: &Recorder, unit: Unit) -> Result<Option<Checkpoint<SitesState>>, Error> {
    if !recorder.has_checkpoint::<FormerSitesState>(unit) {
        return recorder.checkpoint(unit);
    }
    let former: Option<Checkpoint<FormerSitesState>> = recorder.checkpoint(unit)?;
    Ok(former.map(|former| {
        let first = |round| Exchange { round, number: 0 };
        let since = former.state.since.into_iter().map(|round| round.map(first)).collect();
        let Checkpoint { config_hash, history, finals, done, .. } = former;
        Checkpoint {
            config_hash,
            state: SitesState { server: former.state.server, since },
            history,
            finals,
            done,
        }
    }))
}

impl Coordinator {
    /// Updates the learning rate and records the round. After the last round it saves the model.
    ///
    /// # Errors
    /// If the round is not closed; faults of the folder.
    pub fn advance(&mut self, observer: &mut (dyn Observer + Send)) -> Result<(), Error> {
        let members = open::members(&self.sites);
        let Some(report) = self.closed.take() else {
            let fault = "the round is not closed yet";
            return Err(fedspd_federated::Error::Order { asked: "advance", fault }.into());
        };
        let (losses, validation) = self.pooled(|scores| scores.validation.as_ref())?;
        let validation_loss = losses.iter().sum::<f64>() / losses.len() as f64;
        let (_, test) = self.pooled(|scores| scores.test.as_ref())?;
        self.server.advance(validation_loss)?;
        let (round, (validated, tested)) = (self.history.done() + 1, self.due());
        let last = round == self.history.rounds;
        let test = tested.then_some(test);
        let validation =
            validated.then(|| Validation { loss: validation_loss, f1: validation.pooled.macro_f1() });
        let scored = RoundScores::new(validation, test.as_ref(), &self.facts.classes);
        let event =
            round_event(self.history.unit, round, self.config.mode, vec![(&members, report)], &scored);
        let progress = self.history.write(event, scored.scores, Some(&mut self.recorder), observer)?;
        match test {
            Some(test) if last => self.finish(&test, observer)?,
            _ => self.save(&[], false)?,
        }
        observer.round(&progress);
        Ok(())
    }

    /// Returns the losses and confusion matrices of a split, in the order of the sites.
    fn pooled(
        &self,
        split: impl Fn(&SiteScores) -> Option<&SplitScores>,
    ) -> Result<(Vec<f64>, Confusions), Error> {
        let (mut losses, mut confusions) = (Vec::new(), Confusions::new(self.facts.classes.len()));
        for (site, scores) in self.sites.iter().zip(&self.scores) {
            let Some(scores) = scores.as_ref().and_then(&split) else { continue };
            confusions.add(&site.name, scores.loss, &scores.confusion)?;
            losses.push(scores.loss);
        }
        Ok((losses, confusions))
    }

    fn save(&mut self, finals: &[Score], done: bool) -> Result<(), Error> {
        let checkpoint = Checkpoint {
            config_hash: self.recorder.manifest.config_hash.clone(),
            state: SitesState { server: self.server.state(), since: self.since.clone() },
            history: self.history.past.clone(),
            finals: finals.to_vec(),
            done,
        };
        self.recorder.save(self.history.unit, &checkpoint)
    }

    /// Saves the model and the results.
    fn finish(&mut self, test: &Confusions, observer: &mut (dyn Observer + Send)) -> Result<(), Error> {
        let (unit, feasibility) = (self.history.unit, self.server.feasibility_error()?);
        let finals = finals(test, &self.facts.classes, feasibility, None, &self.history.past);
        self.recorder.save_model(unit, |path| self.server.encode(path, &self.model), observer)?;
        let results = UnitResults { unit, rounds: self.history.past.clone(), finals: finals.clone() };
        let dataset = &self.recorder.manifest.dataset;
        let results = table(&self.config, dataset, &self.facts.alignment, &[results]);
        self.recorder.finish(&results)?;
        self.save(&finals, true)?;
        self.finished = true;
        Ok(())
    }

    /// Sets the status of the run to failed.
    ///
    /// # Errors
    /// If the manifest cannot be written.
    pub fn abandon(&mut self) -> Result<(), Error> {
        self.recorder.end(Status::Failed)
    }
}

#[cfg(test)]
mod tests {
    use fedspd_nn::schedule::{Schedule, ScheduleConfig};

    use super::*;

    #[test]
    fn a_checkpoint_in_the_former_format_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let config = crate::config::Config::new("sample");
        let facts = crate::record::RunFacts {
            dataset: "sample".into(),
            data_sha256: None,
            unit: "uV^2".into(),
            classes: Vec::new(),
            channels: Vec::new(),
            subjects: Vec::new(),
            excluded: Vec::new(),
            alignment: "none".into(),
            transductive: false,
            held_out: None,
            facts: None,
            parameters: 1,
            threads: 1,
        };
        let manifest = crate::record::run_manifest(&config, "test", facts).unwrap();
        let shards = fedspd_run::Shards { classes: Vec::new(), seeds: Vec::new() };
        let path = folder.path().join("run");
        let mut recorder = Recorder::create(&path, &config, manifest, &shards, |_| Ok(())).unwrap();
        assert!(checkpoint(&recorder, 0.into()).unwrap().is_none());
        let schedule = Schedule::new(ScheduleConfig::Constant, 0.1).unwrap();
        let server = postcard::to_allocvec(&(3_u32, vec![1.5_f64], schedule, vec![2.5_f64])).unwrap();
        let server: ServerState = postcard::from_bytes(&server).unwrap();
        let (since, config_hash) = (vec![Some(2), None], config.hash());
        let former = Checkpoint {
            config_hash,
            state: FormerSitesState { server: server.clone(), since },
            history: Vec::new(),
            finals: Vec::new(),
            done: false,
        };
        recorder.save(0.into(), &former).unwrap();
        let read = checkpoint(&recorder, 0.into()).unwrap().unwrap().state;
        assert_eq!(read.server, server);
        assert_eq!(read.since, [Some(Exchange { round: 2, number: 0 }), None]);
        let now = Checkpoint {
            config_hash: former.config_hash,
            state: read,
            history: Vec::new(),
            finals: Vec::new(),
            done: true,
        };
        recorder.save(0.into(), &now).unwrap();
        assert!(checkpoint(&recorder, 0.into()).unwrap().unwrap().done);
    }
}
