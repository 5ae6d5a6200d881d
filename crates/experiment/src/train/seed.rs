//! One seed of an experiment, or one fold of a seed, from its first round or its checkpoint to its
//! last round.

use std::path::Path;
use std::sync::Mutex;

use fedspd_federated::{Worker, in_order};
use fedspd_manifold::Real;
use fedspd_nn::file::{Manifest as ModelManifest, Network, encode};
use fedspd_nn::{Architecture, Model, ParamSet};
use fedspd_run::{Stage, Unit};

use super::chosen::{Chosen, chosen_rounds, learning_rate};
use super::cohort::{Cohort, CohortRound, Roster, Scored, evaluate_new, mean_loss};
use super::experiment::{Experiment, Inputs};
use super::settings;
use crate::config::{Mode, Select};
use crate::data::align::References;
use crate::evaluate::{
    Detail, InterpretationData, Predicted, RoundScores, Score, Validation, finals, run_table,
};
use crate::record::{
    Checkpoint, CohortState, History, PastRound, Progress, Recorder, UnitResults, is_due, round_event, warn,
};
use crate::split::{Design, Part};
use crate::{Ended, Error, Observer};

/// The splits that a round's model is scored on.
#[derive(Clone, Copy)]
struct Due {
    validated: bool,
    tested: bool,
}

/// One seed, or one fold of a seed: a network, its trials and their split.
pub(crate) struct SeedRun<'a, T: Real, N: Architecture<T>> {
    experiment: &'a Experiment,
    network: &'a N,
    examples: N::Examples,
    design: Design,
    unit: Unit,
    /// The choices of the first stage, for the second.
    chosen: Option<Chosen>,
    /// The unit of the numbers that the network reads.
    read_unit: String,
    /// The references of the subjects that clients train on.
    references: References,
    interpretation: Option<InterpretationData>,
}

/// A trained model and the manifest of its file.
pub(crate) struct TrainedModel<T> {
    pub(crate) manifest: ModelManifest,
    pub(crate) parameters: ParamSet<T>,
}

/// The scores and predictions of the final model.
struct Finals {
    finals: Vec<Score>,
    /// A table (.csv) of all tested trials.
    predictions: String,
}

/// The outcome of a seed.
pub(crate) struct SeedOutcome<T> {
    pub(crate) results: UnitResults,
    /// The common model; none if clients train alone or the seed was interrupted.
    pub(crate) model: Option<TrainedModel<T>>,
    pub(crate) ended: Ended,
}

impl<'a, T: Real, N: Architecture<T>> SeedRun<'a, T, N> {
    /// Splits and aligns the trials of a unit. With `interpreted`, it copies some training trials
    /// for the interpretation of the final model.
    pub(crate) fn new(
        experiment: &'a Experiment,
        network: &'a N,
        unit: Unit,
        chosen: Option<Chosen>,
        interpreted: bool,
    ) -> Result<Self, Error> {
        let design = experiment.design(unit)?.for_stage(unit.stage);
        // Clients that train alone have no common model to interpret.
        let interpreted =
            interpreted && experiment.config.mode != Mode::Local && unit.stage != Some(Stage::Choose);
        let Inputs { numbers, unit: read_unit, references, interpretation } =
            experiment.inputs(&design, interpreted)?;
        let examples = experiment.examples(network, numbers)?;
        Ok(Self {
            experiment,
            network,
            examples,
            design,
            unit,
            chosen,
            read_unit,
            references,
            interpretation,
        })
    }

    /// Trains from the start, or from the checkpoint if the recorder has one.
    pub(crate) fn run(
        &self,
        mut recorder: Option<&mut Recorder>,
        observer: &mut (dyn Observer + Send),
    ) -> Result<SeedOutcome<T>, Error> {
        let (config, unit) = (&self.experiment.config, self.unit);
        let outcome = |rounds, finals, model, ended| {
            Ok(SeedOutcome { results: UnitResults { unit, rounds, finals }, model, ended })
        };
        let rosters = Roster::all(config.mode, &self.design);
        let mut cohorts = self.cohorts(&rosters)?;
        let mut workers = self.workers()?;
        let rounds = self.chosen.as_ref().map_or_else(|| settings::rounds(config), Chosen::rounds);
        let mut history = History { unit, rounds, past: Vec::new() };
        let stored: Option<Checkpoint<Vec<CohortState>>> =
            recorder.as_deref_mut().map(|recorder| recorder.checkpoint(unit)).transpose()?.flatten();
        // A resumed unit has its warnings in the log already.
        let resumed = stored.is_some();
        if let Some(checkpoint) = stored {
            checkpoint.check(cohorts.len())?;
            for (cohort, state) in cohorts.iter_mut().zip(&checkpoint.state) {
                cohort.restore(state)?;
            }
            history.past = checkpoint.history;
        }
        if let Some(recorder) = recorder.as_deref_mut() {
            history.open(recorder)?;
        }
        for warning in self.warnings(&mut cohorts, &mut workers)? {
            warn(recorder.as_deref_mut().filter(|_| !resumed), observer, &warning)?;
        }
        while history.done() < history.rounds && cohorts.iter().any(|cohort| cohort.active) {
            if observer.interrupted() {
                if let Some(recorder) = recorder.as_deref_mut() {
                    save(recorder, unit, &cohorts, &history.past, &[], false)?;
                }
                let ended = Ended::Interrupted { unit, round: history.done() };
                return outcome(history.past, Vec::new(), None, ended);
            }
            let round = history.done() + 1;
            // With early stopping, every round is validated. The second stage has no validation.
            let validated = unit.stage != Some(Stage::Fit)
                && is_due(round, round == history.rounds, config.run.validate_every);
            let done = self.one_round(&mut cohorts, &mut workers, validated)?;
            let last = round == history.rounds || cohorts.iter().all(|cohort| !cohort.active);
            let tested = unit.stage != Some(Stage::Choose) && is_due(round, last, config.run.eval_every);
            let mut scored = self.score_round(Due { validated, tested }, &cohorts, &mut workers, &done)?;
            if unit.stage == Some(Stage::Choose) {
                let trained = rosters.iter().zip(&done);
                let trained = trained.filter_map(|(roster, done)| Some((roster, done.report.as_ref()?)));
                scored.scores.extend(trained.map(|(roster, report)| {
                    learning_rate(roster.model_name(config.mode), report.learning_rate)
                }));
            }
            let trained = cohorts.iter().zip(done);
            let trained = trained
                .filter_map(|(cohort, done)| Some((cohort.federation.server().members(), done.report?)));
            let event = round_event(unit, round, config.mode, trained.collect(), &scored);
            let progress = history.write(event, scored.scores, recorder.as_deref_mut(), observer)?;
            if let Some(recorder) = recorder.as_deref_mut()
                && (last || round.is_multiple_of(config.run.checkpoint_every as u32))
            {
                save(recorder, unit, &cohorts, &history.past, &[], false)?;
            }
            observer.round(&progress);
        }
        let past = history.past;
        if unit.stage == Some(Stage::Choose) {
            let models = rosters.iter().zip(&cohorts);
            let chosen = models.map(|(roster, cohort)| {
                chosen_rounds(roster.model_name(config.mode), cohort.chosen_rounds())
            });
            let chosen: Vec<Score> = chosen.collect();
            if let Some(recorder) = recorder {
                save(recorder, unit, &cohorts, &past, &chosen, true)?;
            }
            return outcome(past, chosen, None, Ended::Finished);
        }
        let Finals { finals, predictions } = self.finish(&mut cohorts, &mut workers, &past)?;
        let model = self.model(&cohorts)?;
        if let Some(recorder) = recorder {
            recorder.save_predictions(unit, &predictions)?;
            if let Some(model) = &model {
                self.save_model(model, recorder, observer)?;
            }
            save(recorder, unit, &cohorts, &past, &finals, true)?;
        }
        outcome(past, finals, model, Ended::Finished)
    }

    /// Creates one worker for each thread. A single client has one worker, and all threads share
    /// its batches.
    fn workers(&self) -> Result<Vec<Worker<'_, T, N>>, Error> {
        let (config, threads) = (&self.experiment.config, self.experiment.threads());
        let clients = self.design.clients.len();
        let alone = config.mode == Mode::Centralised || clients == 1;
        let (count, each) = if alone { (1, threads) } else { (threads.min(clients), 1) };
        let workers = (0..count).map(|_| Worker::new(self.network, config.train.batch, each));
        Ok(workers.collect::<Result<_, _>>()?)
    }

    /// Creates the cohorts of rosters.
    fn cohorts<'c>(&'c self, rosters: &'c [Roster]) -> Result<Vec<Cohort<'c, T, N>>, Error> {
        let config = &self.experiment.config;
        let cohort = |roster: &'c Roster| {
            let rates = self.chosen.as_ref().map(|chosen| chosen.rates(roster.model_name(config.mode)));
            Cohort::new(config, self.network, &self.examples, roster, self.unit.seed, rates)
        };
        rosters.iter().map(cohort).collect()
    }

    /// Returns the warnings before the first round, without training.
    pub(crate) fn warnings_before(&self) -> Result<Vec<String>, Error> {
        let rosters = Roster::all(self.experiment.config.mode, &self.design);
        let mut cohorts = self.cohorts(&rosters)?;
        self.warnings(&mut cohorts, &mut self.workers()?)
    }

    /// Returns the warnings about the split and about the trials of each client.
    fn warnings(
        &self,
        cohorts: &mut [Cohort<'_, T, N>],
        workers: &mut [Worker<'_, T, N>],
    ) -> Result<Vec<String>, Error> {
        let mut warnings = self.design.warnings(&self.experiment.config);
        for cohort in cohorts {
            warnings.extend(cohort.federation.check(workers)?);
        }
        Ok(warnings)
    }

    /// Trains one round of every cohort. A single cohort uses all workers, several use one each.
    fn one_round<'c>(
        &self,
        cohorts: &mut [Cohort<'c, T, N>],
        workers: &mut [Worker<'_, T, N>],
        validated: bool,
    ) -> Result<Vec<CohortRound<'c>>, Error> {
        let score = |scored: &[Scored<'_>]| predicted(scored).macro_f1(self.experiment.dataset.about());
        if let [cohort] = cohorts {
            return Ok(vec![cohort.round(workers, validated, score)?]);
        }
        let cohorts: Vec<Mutex<&mut Cohort<'c, T, N>>> = cohorts.iter_mut().map(Mutex::new).collect();
        let mut rounds = Vec::with_capacity(cohorts.len());
        let work = |worker: &mut Worker<'_, T, N>, place: usize| {
            let mut cohort = cohorts[place].lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            cohort.round(std::slice::from_mut(worker), validated, score)
        };
        in_order(workers, cohorts.len(), work, |_, round| {
            rounds.push(round?);
            Ok::<(), Error>(())
        })?;
        Ok(rounds)
    }

    /// Scores a round over all clients. A client that has stopped early counts with the model of
    /// its last round.
    fn score_round(
        &self,
        due: Due,
        cohorts: &[Cohort<'_, T, N>],
        workers: &mut [Worker<'_, T, N>],
        rounds: &[CohortRound<'_>],
    ) -> Result<RoundScores, Error> {
        let about = self.experiment.dataset.about();
        let validation = if due.validated {
            let scored = rounds.iter().flat_map(|round| &round.validation);
            let loss = mean_loss(scored.clone());
            Some(Validation { loss, f1: predicted(scored).macro_f1(about)? })
        } else {
            None
        };
        let test = if due.tested {
            Some(predict_tests(cohorts, workers)?.confusions(about, self.clients())?)
        } else {
            None
        };
        Ok(RoundScores::new(validation, test.as_ref(), &about.classes))
    }

    /// Tests the final model, as `run.select` says.
    fn finish(
        &self,
        cohorts: &mut [Cohort<'_, T, N>],
        workers: &mut [Worker<'_, T, N>],
        history: &[PastRound],
    ) -> Result<Finals, Error> {
        let (about, design, config) =
            (self.experiment.dataset.about(), &self.design, &self.experiment.config);
        let mut best_rounds = Vec::new();
        for cohort in cohorts.iter_mut() {
            best_rounds.extend(cohort.return_to_best()?);
        }
        let tested = predict_tests(cohorts, workers)?;
        let test = tested.confusions(about, self.clients())?;
        let mut feasibility = 0.0_f64;
        for cohort in cohorts.iter() {
            feasibility = feasibility.max(cohort.parameters().feasibility_error()?);
        }
        let detail = if self.unit.fold.is_some() { Detail::GroupConfusions } else { Detail::Groups };
        if config.select() == Select::BestValidation {
            best_rounds.extend(self.chosen.as_ref().and_then(Chosen::only));
        }
        let best_round = if let [round] = best_rounds[..] { Some(round) } else { None };
        let mut finals = finals(&test, &about.classes, detail, feasibility, best_round, history);
        let mut unseen = Predicted::default();
        if let [cohort] = cohorts
            && !design.held_out.is_empty()
        {
            unseen = self.predict_held_out(&cohort.parameters(), workers)?;
            let groups = design.held_out.iter().map(|held_out| (&*held_out.subject, &held_out.trials[..]));
            let confusions = unseen.confusions(about, groups)?;
            finals.extend(confusions.scores(&about.classes, "held-out", "final_", detail));
        }
        let predictions = run_table(about, &[("test", &tested), ("held-out", &unseen)]);
        Ok(Finals { finals, predictions })
    }

    /// Predicts the trials of held-out subjects with the shared model. Alignment and statistics are
    /// fitted on the first `align.calibration` trials, and the others are scored. Without this key,
    /// all trials serve both.
    fn predict_held_out(
        &self,
        parameters: &ParamSet<T>,
        workers: &mut [Worker<'_, T, N>],
    ) -> Result<Predicted, Error> {
        let mut predicted = Predicted::default();
        for held_out in &self.design.held_out {
            let first = self.experiment.config.calibration();
            let (fitted, tested) = match first {
                Some(first) if first < held_out.trials.len() => held_out.trials.split_at(first),
                _ => (&held_out.trials[..], &held_out.trials[..]),
            };
            let (trials, worker) = ((fitted, tested), &mut workers[0]);
            let evaluation = evaluate_new(self.network, parameters, &self.examples, trials, worker)?;
            predicted.add(tested, &evaluation);
        }
        Ok(predicted)
    }

    /// Returns the clients with their test trials.
    fn clients(&self) -> impl Iterator<Item = (&str, &[usize])> {
        let Design { clients, shards, .. } = &self.design;
        clients.iter().zip(shards).map(|(client, shard)| (&*client.name, &shard.test[..]))
    }

    /// Returns the common model, or none if several clients train alone.
    fn model(&self, cohorts: &[Cohort<'_, T, N>]) -> Result<Option<TrainedModel<T>>, Error> {
        let [cohort] = cohorts else { return Ok(None) };
        let Experiment { config, dataset } = self.experiment;
        let channels = dataset.about().channels.len();
        let population = config.align.population.then(|| self.references.mean(config.align.kind, channels));
        let population = population.transpose()?.flatten();
        let manifest = self.experiment.model_manifest(self.network.describe(), &self.read_unit)?;
        Ok(Some(TrainedModel { manifest: manifest.starting_at(population), parameters: cohort.parameters() }))
    }

    fn save_model(
        &self,
        model: &TrainedModel<T>,
        recorder: &mut Recorder,
        observer: &mut (dyn Observer + Send),
    ) -> Result<(), Error> {
        if let (Some(data), Network::SpdNet(config)) = (&self.interpretation, &model.manifest.network) {
            recorder.save_interpretation(self.unit, &data.interpret(config, &model.parameters)?)?;
        }
        let encoded = |path: &Path| encode(path, &model.manifest, &model.parameters);
        recorder.save_model(self.unit, encoded, observer)
    }
}

fn save<T: Real, M: Model<T>>(
    recorder: &mut Recorder,
    unit: Unit,
    cohorts: &[Cohort<'_, T, M>],
    history: &[PastRound],
    finals: &[Score],
    done: bool,
) -> Result<(), Error> {
    let state: Vec<CohortState> = cohorts.iter().map(Cohort::state).collect();
    recorder.save(unit, &Progress { state, history, finals, done })
}

/// Predicts the test trials of all clients.
fn predict_tests<T: Real, M: Model<T>>(
    cohorts: &[Cohort<'_, T, M>],
    workers: &mut [Worker<'_, T, M>],
) -> Result<Predicted, Error> {
    let mut all = Vec::new();
    for cohort in cohorts {
        all.extend(cohort.evaluate(workers, Part::Test)?);
    }
    Ok(predicted(&all))
}

/// Collects predictions.
fn predicted<'a>(scored: impl IntoIterator<Item = &'a Scored<'a>>) -> Predicted {
    let mut predicted = Predicted::default();
    for Scored { trials, evaluation } in scored {
        predicted.add(trials, evaluation);
    }
    predicted
}
