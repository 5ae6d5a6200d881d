//! One seed of an experiment, from its first round or its checkpoint to its last.

use std::path::Path;
use std::sync::Mutex;

use fedspd_federated::{Shard, Worker, in_order, mean_loss};
use fedspd_manifold::Real;
use fedspd_nn::file::{self, Manifest};
use fedspd_nn::{Evaluation, Model, ParamSet};
use fedspd_run::Portrait;

use crate::checkpoint::{Checkpoint, CourseState, Past};
use crate::config::Mode;
use crate::course::{Course, Step};
use crate::design::Design;
use crate::diary::{Diary, is_due, warn};
use crate::experiment::Experiment;
use crate::round_event::round_event;
use crate::scores::{Predicted, RoundScores, Score, Validation, finals};
use crate::store::Store;
use crate::{Ended, Error, Observer, network};

/// What came of a seed.
pub(crate) struct SeedRun {
    pub(crate) history: Vec<Past>,
    pub(crate) finals: Vec<Score>,
    /// The bytes of the one model that came out, where there is no folder to save it in.
    pub(crate) model: Option<Result<Vec<u8>, fedspd_nn::Error>>,
}

/// What a round's model is scored on.
#[derive(Clone, Copy)]
struct Due {
    validated: bool,
    tested: bool,
}

/// What training is done with.
pub(crate) struct Setting<'a, T: Real, M: Model<T>> {
    pub(crate) experiment: &'a Experiment,
    pub(crate) model: &'a M,
    pub(crate) examples: &'a M::Examples,
    pub(crate) manifest: Manifest,
    /// Fits statistics to trials of someone new, without their labels.
    pub(crate) calibrate: &'a Calibrate<'a, T>,
    /// What a network looks at, if that can be said.
    pub(crate) portrait: &'a Draw<'a, T>,
}

type Draw<'a, T> = dyn Fn(&ParamSet<T>) -> Result<Option<Portrait>, Error> + 'a;
type Calibrate<'a, T> = dyn Fn(&mut ParamSet<T>, &[usize]) -> Result<(), Error> + 'a;

impl<T: Real, M: Model<T>> Setting<'_, T, M> {
    pub(crate) fn run(
        &self,
        seed: u64,
        design: &Design,
        mut store: Option<&mut Store>,
        observer: &mut (dyn Observer + Send),
    ) -> Result<(SeedRun, Ended), Error> {
        let config = &self.experiment.config;
        let pooled = design.pooled();
        let mut courses = Course::all(config, self.model, self.examples, design, &pooled, seed)?;
        let mut workers = self.workers(design.clients.len())?;
        let mut diary = Diary { seed, rounds: network::rounds(config), history: Vec::new() };
        if let Some(checkpoint) = store.as_deref().map(|store| store.checkpoint(seed)).transpose()?.flatten()
        {
            if checkpoint.done {
                return Ok((
                    SeedRun { history: checkpoint.history, finals: checkpoint.finals, model: None },
                    Ended::Finished,
                ));
            }
            let states: &Vec<CourseState> = &checkpoint.state;
            for (course, state) in courses.iter_mut().zip(states) {
                course.restore(state)?;
            }
            diary.history = checkpoint.history;
        }
        if let Some(store) = store.as_deref_mut() {
            diary.open(store)?;
        }
        for warning in design.warnings(config) {
            warn(store.as_deref_mut(), observer, &warning)?;
        }
        for course in &mut courses {
            for warning in course.federation.check(&mut workers)? {
                warn(store.as_deref_mut(), observer, &warning)?;
            }
        }
        while diary.done() < diary.rounds && courses.iter().any(|course| course.active) {
            if observer.interrupted() {
                if let Some(store) = store.as_deref_mut() {
                    store
                        .save(seed, &checkpoint(store.config_hash(), &courses, &diary.history, &[], false))?;
                }
                let ended = Ended::Interrupted { seed, round: diary.done() };
                return Ok((SeedRun { history: diary.history, finals: Vec::new(), model: None }, ended));
            }
            let round = diary.done() + 1;
            // Where early stopping may end training sooner, every round is validated.
            let validated = is_due(round, round == diary.rounds, config.run.validate_every);
            let done = self.one_round(&mut courses, &mut workers, validated)?;
            let last = round == diary.rounds || courses.iter().all(|course| !course.active);
            let due = Due { validated, tested: is_due(round, last, config.run.eval_every) };
            let scored = self.look_back(due, &courses, &mut workers, design, &done)?;
            let played = courses.iter().zip(done);
            let played = played
                .filter_map(|(course, step)| Some((course.federation.server().members(), step.report?)));
            let event = round_event(seed, round, config.mode, played.collect(), &scored);
            let progress = diary.write(event, scored.scores, store.as_deref_mut(), observer)?;
            if let Some(store) = store.as_deref_mut()
                && (last || round.is_multiple_of(config.run.checkpoint_every as u32))
            {
                store.save(seed, &checkpoint(store.config_hash(), &courses, &diary.history, &[], false))?;
            }
            observer.round(&progress);
        }
        let history = diary.history;
        let finals = self.finish(&mut courses, &mut workers, design, &history)?;
        let model = match store {
            Some(store) => {
                self.save_model(seed, &courses, store, observer)?;
                store.save(seed, &checkpoint(store.config_hash(), &courses, &history, &finals, true))?;
                None
            }
            None => match &courses[..] {
                [course] => Some(file::encode(Path::new("the model"), &self.manifest, &course.parameters())),
                _ => None,
            },
        };
        Ok((SeedRun { history, finals, model }, Ended::Finished))
    }

    /// One for each thread; or one whose batches are shared by all threads, where there is a single client.
    fn workers(&self, clients: usize) -> Result<Vec<Worker<'_, T, M>>, Error> {
        let (config, threads) = (&self.experiment.config, self.experiment.threads());
        let alone = config.mode == Mode::Centralised || clients == 1;
        let (count, each) = if alone { (1, threads) } else { (threads.min(clients), 1) };
        let workers = (0..count).map(|_| Worker::new(self.model, config.train.batch, each));
        Ok(workers.collect::<Result<_, _>>()?)
    }

    /// One round of every course: of a single one at all workers, of several each at one worker.
    fn one_round(
        &self,
        courses: &mut [Course<'_, T, M>],
        workers: &mut [Worker<'_, T, M>],
        validated: bool,
    ) -> Result<Vec<Step>, Error> {
        let score = |shards: &[Shard], validation: &[Option<Evaluation>]| {
            collect(shards.iter(), validation, |shard| &shard.validation)
                .macro_f1(self.experiment.dataset.about())
        };
        if let [course] = courses {
            return Ok(vec![course.round(workers, validated, score)?]);
        }
        let courses: Vec<Mutex<&mut Course<'_, T, M>>> = courses.iter_mut().map(Mutex::new).collect();
        let mut steps = Vec::with_capacity(courses.len());
        let work = |worker: &mut Worker<'_, T, M>, place: usize| {
            let mut course = courses[place].lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            course.round(std::slice::from_mut(worker), validated, score)
        };
        in_order(workers, courses.len(), work, |_, step| {
            steps.push(step?);
            Ok::<(), Error>(())
        })?;
        Ok(steps)
    }

    /// The scores of a round, of all clients: one that has stopped early counts with the model of its last round.
    fn look_back(
        &self,
        due: Due,
        courses: &[Course<'_, T, M>],
        workers: &mut [Worker<'_, T, M>],
        design: &Design,
        steps: &[Step],
    ) -> Result<RoundScores, Error> {
        let about = self.experiment.dataset.about();
        let validation = if due.validated {
            let mut predicted = Predicted::default();
            for (course, step) in courses.iter().zip(steps) {
                add(&mut predicted, course.shards().iter(), &step.validation, |shard| &shard.validation);
            }
            let loss = mean_loss(steps.iter().flat_map(|step| &step.validation));
            Some(Validation { loss, f1: predicted.macro_f1(about)? })
        } else {
            None
        };
        let test = if due.tested {
            Some(predict(courses, workers, |shard| &shard.test)?.tally(about, tests(design))?)
        } else {
            None
        };
        Ok(RoundScores::new(validation, test.as_ref(), &about.classes))
    }

    /// The scores of the model that the seed ends with: that of the last round, or the best one where early stopping kept it.
    fn finish(
        &self,
        courses: &mut [Course<'_, T, M>],
        workers: &mut [Worker<'_, T, M>],
        design: &Design,
        history: &[Past],
    ) -> Result<Vec<Score>, Error> {
        let about = self.experiment.dataset.about();
        let mut best_rounds = Vec::new();
        for course in courses.iter_mut() {
            best_rounds.extend(course.return_to_best()?);
        }
        let test = predict(courses, workers, |shard| &shard.test)?.tally(about, tests(design))?;
        let mut feasibility = 0.0_f64;
        for course in courses.iter() {
            feasibility = feasibility.max(course.parameters().feasibility_error()?);
        }
        let best_round = if let [round] = best_rounds[..] { Some(round) } else { None };
        let mut finals = finals(&test, &about.classes, feasibility, best_round, history);
        if let [course] = courses
            && !design.held_out.is_empty()
        {
            let unseen = self.unseen(&course.parameters(), workers, design)?;
            let groups = design.held_out.iter().map(|held_out| (&*held_out.subject, &held_out.trials[..]));
            finals.extend(unseen.tally(about, groups)?.scores(&about.classes, "held-out", "final_", true));
        }
        Ok(finals)
    }

    /// What the shared model makes of subjects that nobody trained on. Trials that a reference or statistics were fitted on count too, unless it was only the first
    /// few.
    fn unseen(
        &self,
        parameters: &ParamSet<T>,
        workers: &mut [Worker<'_, T, M>],
        design: &Design,
    ) -> Result<Predicted, Error> {
        let mut unseen = Predicted::default();
        for held_out in &design.held_out {
            let first = self.experiment.config.calibration();
            let (fitted, tested) = match first {
                Some(first) if first < held_out.trials.len() => held_out.trials.split_at(first),
                _ => (&held_out.trials[..], &held_out.trials[..]),
            };
            let mut parameters = parameters.clone();
            (self.calibrate)(&mut parameters, fitted)?;
            unseen.add(tested, &workers[0].trainer.evaluate(&parameters, self.examples, tested)?);
        }
        Ok(unseen)
    }

    fn save_model(
        &self,
        seed: u64,
        courses: &[Course<'_, T, M>],
        store: &mut Store,
        observer: &mut (dyn Observer + Send),
    ) -> Result<(), Error> {
        // Training of each client by itself gives as many models as clients, and none of them is the result.
        let [course] = courses else { return Ok(()) };
        if let Some(portrait) = (self.portrait)(&course.parameters())? {
            portrait.write(&store.portrait(seed))?;
        }
        match file::save(&store.model(seed), &self.manifest, &course.parameters()) {
            Err(fedspd_nn::Error::Model { fault, .. }) => {
                warn(Some(store), observer, &format!("the model of seed {seed} is not saved: {fault}"))
            }
            saved => Ok(saved?),
        }
    }
}

fn checkpoint<T: Real, M: Model<T>>(
    config_hash: &str,
    courses: &[Course<'_, T, M>],
    history: &[Past],
    finals: &[Score],
    done: bool,
) -> Checkpoint<Vec<CourseState>> {
    Checkpoint {
        config_hash: config_hash.to_owned(),
        state: courses.iter().map(Course::state).collect(),
        history: history.to_vec(),
        finals: finals.to_vec(),
        done,
    }
}

/// What all courses make of some trials of all clients.
fn predict<T: Real, M: Model<T>>(
    courses: &[Course<'_, T, M>],
    workers: &mut [Worker<'_, T, M>],
    trials: fn(&Shard) -> &[usize],
) -> Result<Predicted, Error> {
    let mut predicted = Predicted::default();
    for course in courses {
        let evaluations = course.evaluate(workers, trials)?;
        add(&mut predicted, course.shards().iter(), &evaluations, trials);
    }
    Ok(predicted)
}

/// The clients with their test trials.
fn tests(design: &Design) -> impl Iterator<Item = (&str, &[usize])> {
    design.clients.iter().zip(&design.shards).map(|(client, shard)| (&*client.name, &shard.test[..]))
}

fn collect<'a>(
    shards: impl Iterator<Item = &'a Shard>,
    evaluations: &[Option<Evaluation>],
    trials: fn(&Shard) -> &[usize],
) -> Predicted {
    let mut predicted = Predicted::default();
    add(&mut predicted, shards, evaluations, trials);
    predicted
}

fn add<'a>(
    predicted: &mut Predicted,
    shards: impl Iterator<Item = &'a Shard>,
    evaluations: &[Option<Evaluation>],
    trials: fn(&Shard) -> &[usize],
) {
    for (shard, evaluation) in shards.zip(evaluations) {
        if let Some(evaluation) = evaluation {
            predicted.add(trials(shard), evaluation);
        }
    }
}
