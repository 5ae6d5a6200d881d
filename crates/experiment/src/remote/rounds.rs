//! The end of a round and of the run.

use fedspd_federated::{Exchange, ServerState};
use fedspd_run::Status;
use serde::{Deserialize, Serialize};

use super::coordinator::Coordinator;
use super::open;
use super::scores::{SiteScores, SplitScores};
use crate::evaluate::{Confusions, Detail, RoundScores, Score, Validation, finals};
use crate::record::sealed::Magic;
use crate::record::{
    Checkpoint, CheckpointState, FormerCheckpoint, Progress, UnitResults, round_event, same, table,
};
use crate::{Error, Observer};

/// The state between rounds: that of the server, and the version of each site's state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SitesState {
    pub(super) server: ServerState,
    pub(super) since: Vec<Option<Exchange>>,
}

impl CheckpointState for SitesState {
    const MAGIC: &Magic = b"fedspd-sites-v3\n";

    fn former(magic: &Magic, content: &[u8]) -> Option<postcard::Result<FormerCheckpoint<Self>>> {
        match magic {
            b"fedspd-sites-v2\n" => Some(postcard::from_bytes(content)),
            b"fedspd-sites-v1\n" => Some(postcard::from_bytes(content).map(from_first)),
            _ => None,
        }
    }
}

/// The state of the first format, from before a round could have several exchanges.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct FirstSitesState {
    server: ServerState,
    since: Vec<Option<u32>>,
}

fn from_first(first: FormerCheckpoint<FirstSitesState>) -> FormerCheckpoint<SitesState> {
    let FormerCheckpoint { config_hash, state, history, finals, done } = first;
    let exchange = |round| Exchange { round, number: 0 };
    let since = state.since.into_iter().map(|round| round.map(exchange)).collect();
    let state = SitesState { server: state.server, since };
    FormerCheckpoint { config_hash, state, history, finals, done }
}

impl Checkpoint<SitesState> {
    /// Checks that a damaged file does not name other sites or rounds.
    pub(super) fn check(&self, sites: usize) -> Result<(), Error> {
        same("sites", sites, self.state.since.len())?;
        same("rounds", self.history.len(), self.state.server.round as usize)
    }
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
        let scored = RoundScores::new(validation, test.as_ref(), &self.facts.preparation.classes);
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
        let (mut losses, mut confusions) =
            (Vec::new(), Confusions::new(self.facts.preparation.classes.len()));
        for (site, scores) in self.sites.iter().zip(&self.scores) {
            let Some(scores) = scores.as_ref().and_then(&split) else { continue };
            confusions.add(&site.name, scores.loss, &scores.confusion)?;
            losses.push(scores.loss);
        }
        Ok((losses, confusions))
    }

    fn save(&mut self, finals: &[Score], done: bool) -> Result<(), Error> {
        let state = SitesState { server: self.server.state(), since: self.since.clone() };
        let progress = Progress { state, history: &self.history.past, finals, done };
        self.recorder.save(self.history.unit, &progress)
    }

    /// Saves the model and the results.
    fn finish(&mut self, test: &Confusions, observer: &mut (dyn Observer + Send)) -> Result<(), Error> {
        let (unit, feasibility) = (self.history.unit, self.server.feasibility_error()?);
        let classes = &self.facts.preparation.classes;
        let finals = finals(test, classes, Detail::Groups, feasibility, None, &self.history.past);
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
    use crate::record::{Checkpoint, PastRound, Recorder, sealed};

    #[test]
    fn checkpoints_in_former_formats_are_read() {
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
            preparation: serde_json::Value::Null,
        };
        let manifest = crate::record::run_manifest(&config, "test", facts).unwrap();
        let shards = fedspd_run::Shards { classes: Vec::new(), seeds: Vec::new() };
        let path = folder.path().join("run");
        let mut recorder = Recorder::create(&path, &config, manifest, &shards, &[], |_| Ok(())).unwrap();
        let mut read = || -> Option<Checkpoint<SitesState>> { recorder.checkpoint(0.into()).unwrap() };
        assert!(read().is_none());
        let schedule = Schedule::new(ScheduleConfig::Constant, 0.1).unwrap();
        let server = postcard::to_allocvec(&(3_u32, vec![1.5_f64], schedule, vec![2.5_f64])).unwrap();
        let server: ServerState = postcard::from_bytes(&server).unwrap();
        let score = Score {
            client: "pooled".into(),
            split: "test".into(),
            metric: "macro_f1".into(),
            value: f64::NAN,
        };
        let history = || vec![PastRound { round: 1, scores: vec![score.clone()] }];
        let since = vec![Some(Exchange { round: 2, number: 0 }), None];
        let checkpoint = path.join("checkpoints/seed-0.ckpt");
        let first = FormerCheckpoint {
            config_hash: config.hash(),
            state: FirstSitesState { server: server.clone(), since: vec![Some(2), None] },
            history: history(),
            finals: Vec::new(),
            done: false,
        };
        sealed::write(&checkpoint, b"fedspd-sites-v1\n", &first).unwrap();
        let from_first = read().unwrap();
        let second = FormerCheckpoint {
            config_hash: config.hash(),
            state: SitesState { server: server.clone(), since: since.clone() },
            history: history(),
            finals: Vec::new(),
            done: false,
        };
        sealed::write(&checkpoint, b"fedspd-sites-v2\n", &second).unwrap();
        let from_second = read().unwrap();
        let history = history();
        let state = SitesState { server: server.clone(), since: since.clone() };
        let progress = Progress { state, history: &history, finals: &[], done: true };
        recorder.save(0.into(), &progress).unwrap();
        let now: Checkpoint<SitesState> = recorder.checkpoint(0.into()).unwrap().unwrap();
        for (read, done) in [(from_first, false), (from_second, false), (now, true)] {
            assert_eq!((&read.state.server, &read.state.since, read.done), (&server, &since, done));
            assert_eq!((read.history[0].round, read.history.len()), (1, 1));
            assert!(read.history[0].scores[0].value.is_nan());
            let message = |fault: Result<(), Error>| fault.unwrap_err().to_string();
            assert_eq!(
                message(read.check(3)),
                "wrong number of sites in the stored state: found 2, expected 3"
            );
            assert_eq!(
                message(read.check(2)),
                "wrong number of rounds in the stored state: found 3, expected 1"
            );
        }
    }
}
