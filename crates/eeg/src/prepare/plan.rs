//! Everything that can be known and checked before the work begins.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::file::{Facts, FileChannel};
use crate::dataset::{Definition, Ids, Selection, natural};
use crate::epochs::{Dropped, Epoch, epochs, is_bad};
use crate::filter::{ratio, resampled_length};
use crate::segments::{is_interruption, segments};
use crate::voltage::microvolts_per;
use crate::{About, Error, Making, Origin};

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    /// Which subjects; all if absent.
    pub subjects: Option<Selection>,
    /// Whether recordings at another rate are resampled instead of refused.
    pub resample: bool,
}

/// The runs, trials and channels of a preparation.
#[derive(Clone, Debug)]
pub struct Plan {
    definition: Definition,
    classes: Vec<String>,
    channels: Vec<String>,
    /// One list for each subject.
    subjects: Vec<Vec<Run>>,
    /// Events that give no trial.
    pub dropped: Vec<Dropped>,
    /// Annotations (or labels) that begin no trial because no class of the definition is theirs, each with how often it is there.
    pub ignored: BTreeMap<String, usize>,
    /// Subjects that the definition leaves out.
    pub left_out: Vec<LeftOut>,
}

/// One recording of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Whose and which.
    pub ids: Ids,
    /// Where it is.
    pub path: PathBuf,
    /// The rate of the file.
    pub sfreq: f64,
    /// Its trials, in samples of the definition's rate.
    pub epochs: Vec<Epoch>,
    /// The places of the plan's channels in the file.
    pub(super) places: Vec<usize>,
    /// The pieces that are filtered by themselves, in samples of the definition's rate.
    pub(super) segments: Vec<Range<usize>>,
}

/// A subject that the definition leaves out.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// Who.
    pub subject: String,
    /// Why.
    pub reason: String,
    /// The rate of the first recording, if it is there.
    pub measured_sfreq: Option<f64>,
}

impl Plan {
    /// Looks at the headers and annotations of all recordings, which are searched in the given folders, in their order.
    ///
    /// # Errors
    /// [`Error::NoSubject`] for a subject that is not of the dataset, [`Error::Missing`] for a file that is not there, [`Error::Rate`] for a recording at
    /// another rate, [`Error::Channel`] for a missing channel, faults of files; [`Error::NoTrials`] if nothing remains.
    pub fn new(definition: Definition, roots: &[PathBuf], options: &PlanOptions) -> Result<Self, Error> {
        let mut recordings = recordings(&definition, roots, options)?;
        let left_out = leave_out(&definition, roots, options, &mut recordings);
        let classes = definition.classes();
        let Some(first) = recordings.first() else {
            return Err(match left_out.into_iter().next() {
                Some(LeftOut { subject, reason, measured_sfreq }) => {
                    Error::LeftOut { subject, reason, measured: measured_sfreq }
                }
                None => Error::NoTrials { what: "the dataset" },
            });
        };
        let channels = if let Some(channels) = &definition.channels {
            channels.clone()
        } else {
            let facts = Facts::of(&definition, &find(roots, &definition.files.path(first))?)?;
            facts.channels.iter().map(|c| definition.channel_name(&c.label).to_owned()).collect()
        };
        let look = |ids: &Ids| -> Result<(Run, Vec<Dropped>, Vec<String>), Error> {
            let path = find(roots, &definition.files.path(ids))?;
            let facts = Facts::of(&definition, &path)?;
            let (places, measured, samples) = choose(&definition, &channels, &path, &facts.channels)?;
            // A duration such as 1.1 s has no exact number: rates that differ by rounding are one rate.
            let rates = ratio(measured, definition.sfreq);
            let same = matches!(rates, Ok((1, 1)));
            if !same && !options.resample {
                return Err(Error::Rate {
                    path,
                    measured,
                    expected: definition.sfreq,
                    lengths: [measured, definition.sfreq].map(|sfreq| definition.trial_length(sfreq)),
                });
            }
            let sfreq = definition.sfreq;
            let rates = match rates {
                Ok(rates) => rates,
                Err(fault) => return Err(Error::Recording { path, source: Box::new(fault) }),
            };
            let samples = resampled_length(samples, rates);
            let measured = if same { sfreq } else { measured };
            let (epochs, dropped) = epochs(&definition, &classes, ids, (samples, sfreq), &facts.annotations);
            let segments = segments(&facts.annotations, samples, sfreq);
            // What is annotated as bad or as an interruption is heeded, not ignored.
            let heeded = |text: &str| is_bad(text) || is_interruption(text);
            let texts = facts.annotations.into_iter().map(|annotation| annotation.text);
            let nobodys =
                texts.filter(|text| definition.class_of(&ids.run, text).is_none() && !heeded(text)).collect();
            let run = Run { ids: ids.clone(), path, sfreq: measured, epochs, places, segments };
            Ok((run, dropped, nobodys))
        };
        // All first, so that of several faults it is always the first that is reported.
        let looked: Vec<Result<_, _>> = recordings.par_iter().map(look).collect();
        let mut subjects: Vec<Vec<Run>> = Vec::new();
        let (mut dropped, mut ignored) = (Vec::new(), BTreeMap::new());
        for result in looked {
            let (run, drops, nobodys) = result?;
            dropped.extend(drops);
            for text in nobodys {
                *ignored.entry(text).or_insert(0) += 1;
            }
            match subjects.last_mut().filter(|runs| runs[0].ids.subject == run.ids.subject) {
                Some(runs) => runs.push(run),
                None => subjects.push(vec![run]),
            }
        }
        let plan = Self { definition, classes, channels, subjects, dropped, ignored, left_out };
        if plan.trials() == 0 {
            let first = plan.subjects.iter().flatten().next().map(|run| run.path.clone()).unwrap_or_default();
            let dropped = plan.dropped.first().map(|drop| (plan.dropped.len(), drop.reason.to_string()));
            let (files, noted) = (plan.files(), plan.ignored.into_keys().collect());
            return Err(Error::NoEvents { first, files, dropped, noted });
        }
        Ok(plan)
    }

    /// The dataset.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// The channels, in order.
    pub fn channels(&self) -> &[String] {
        &self.channels
    }

    /// The recordings of each subject.
    pub fn subjects(&self) -> &[Vec<Run>] {
        &self.subjects
    }

    /// The number of files.
    pub fn files(&self) -> usize {
        self.subjects.iter().map(Vec::len).sum()
    }

    /// The number of trials.
    pub fn trials(&self) -> usize {
        self.subjects.iter().flatten().map(|run| run.epochs.len()).sum()
    }

    /// The classes that have no trial in any recording, each with the annotations that would begin one: perhaps one of these is misspelt.
    pub fn empty_classes(&self) -> Vec<(&str, Vec<&str>)> {
        let counts = self.about("").class_counts();
        let empty = self.classes.iter().zip(counts).filter(|(_, count)| *count == 0);
        empty.map(|(class, _)| (&**class, self.definition.annotations_of(class))).collect()
    }

    /// The recordings that give no trial, though others do.
    pub fn without_trials(&self) -> Vec<&Path> {
        let empty = self.subjects.iter().flatten().filter(|run| run.epochs.is_empty());
        empty.map(|run| &*run.path).collect()
    }

    /// The subjects with recordings at another rate, which are resampled, and that rate.
    pub fn resampled(&self) -> Vec<(&str, f64)> {
        let other = |run: &&Run| run.sfreq != self.definition.sfreq;
        let mut subjects: Vec<(&str, f64)> =
            self.subjects.iter().flatten().filter(other).map(|run| (&*run.ids.subject, run.sfreq)).collect();
        subjects.dedup();
        subjects
    }

    /// Samples of a trial.
    pub fn trial_length(&self) -> usize {
        self.definition.trial_length(self.definition.sfreq)
    }

    /// Classes, channels and origins of the trials to come; how they are made is not known yet.
    pub fn about(&self, unit: &str) -> About {
        self.about_runs(unit, self.subjects.iter().flatten())
    }

    /// The same of some runs.
    pub(super) fn about_runs<'r>(&self, unit: &str, runs: impl IntoIterator<Item = &'r Run>) -> About {
        let origins = runs.into_iter().flat_map(|run| {
            run.epochs.iter().map(|epoch| Origin {
                label: epoch.label,
                subject: run.ids.subject.clone(),
                session: run.ids.session.clone(),
                run: run.ids.run.clone(),
            })
        });
        About {
            classes: self.classes.clone(),
            channels: self.channels.clone(),
            sfreq: self.definition.sfreq,
            unit: unit.to_owned(),
            making: Making::default(),
            origins: origins.collect(),
        }
    }
}

/// The recordings asked for, subject by subject and session by session: those that the definition lists, or else those that are found.
fn recordings(definition: &Definition, roots: &[PathBuf], options: &PlanOptions) -> Result<Vec<Ids>, Error> {
    let pattern = &definition.files;
    let mut all = Vec::new();
    if let Ok(listed) = definition.listed() {
        all = listed;
    } else {
        for root in roots.iter().filter(|root| root.is_dir()) {
            all = pattern.find(root).map_err(|source| Error::File { path: root.clone(), source })?;
            if !all.is_empty() {
                break;
            }
        }
        if let Some(subjects) = &definition.subjects {
            all.retain(|ids| subjects.ids().contains(&ids.subject));
        }
        let is_of =
            |list: &Option<Vec<String>>, id: &String| list.as_ref().is_none_or(|list| list.contains(id));
        all.retain(|ids| is_of(&definition.sessions, &ids.session) && is_of(&definition.runs, &ids.run));
        all.sort_by(|a, b| order(definition, a).cmp(&order(definition, b)));
        if all.is_empty() {
            return Err(Error::NoFiles { pattern: pattern.to_string(), roots: roots.to_vec() });
        }
    }
    if let Some(wanted) = &options.subjects {
        if let Some(unknown) = wanted.ids().iter().find(|id| !all.iter().any(|ids| ids.subject == **id)) {
            let mut known: Vec<String> = all.iter().map(|ids| ids.subject.clone()).collect();
            known.dedup();
            return Err(Error::NoSubject { subject: unknown.clone(), known });
        }
        let mut chosen = Vec::new();
        for id in wanted.ids() {
            chosen.extend(all.iter().filter(|ids| ids.subject == *id).cloned());
        }
        all = chosen;
    }
    Ok(all)
}

/// Where a recording comes: by the order of the definition where it has one, otherwise by names.
fn order<'a>(definition: &Definition, ids: &'a Ids) -> impl Ord + use<'a> {
    let place = |list: &Option<Vec<String>>, id: &String| {
        list.as_ref().and_then(|list| list.iter().position(|listed| listed == id))
    };
    let session = (place(&definition.sessions, &ids.session), natural(&ids.session));
    (natural(&ids.subject), session, place(&definition.runs, &ids.run), natural(&ids.run))
}

/// Takes out the subjects that the definition excludes.
fn leave_out(
    definition: &Definition,
    roots: &[PathBuf],
    options: &PlanOptions,
    recordings: &mut Vec<Ids>,
) -> Vec<LeftOut> {
    let excluded = definition.excluded.iter().filter(|e| !(e.unless_resampled && options.resample));
    let mut left_out = Vec::new();
    for excluded in excluded {
        let Some(first) = recordings.iter().find(|ids| ids.subject == excluded.subject) else { continue };
        let path = find(roots, &definition.files.path(first));
        let facts = path.and_then(|path| Facts::of(definition, &path));
        let measured_sfreq = facts.ok().and_then(|facts| facts.channels.first().map(|c| c.sfreq));
        recordings.retain(|ids| ids.subject != excluded.subject);
        let (subject, reason) = (excluded.subject.clone(), excluded.reason.clone());
        left_out.push(LeftOut { subject, reason, measured_sfreq });
    }
    left_out
}

fn find(roots: &[PathBuf], relative: &Path) -> Result<PathBuf, Error> {
    let there = roots.iter().map(|root| root.join(relative)).find(|path| path.is_file());
    there.ok_or_else(|| Error::Missing { file: relative.to_owned(), roots: roots.to_vec() })
}

/// The places of the channels in a file, their rate and their samples.
fn choose(
    definition: &Definition,
    channels: &[String],
    path: &Path,
    in_file: &[FileChannel],
) -> Result<(Vec<usize>, f64, usize), Error> {
    let mut chosen: Vec<&FileChannel> = Vec::with_capacity(channels.len());
    for name in channels {
        let mut named = in_file.iter().filter(|c| definition.channel_name(&c.label) == name);
        let (Some(channel), None) = (named.next(), named.next()) else {
            let count = in_file.iter().filter(|c| definition.channel_name(&c.label) == name).count();
            let there = in_file.iter().map(|c| c.label.clone()).collect();
            return Err(Error::Channel { path: path.to_owned(), channel: name.clone(), count, there });
        };
        chosen.push(channel);
    }
    let Some(&first) = chosen.first() else { return Err(Error::NoChannels { path: path.to_owned() }) };
    let volts = |channel: &FileChannel| match channel.unit.as_str() {
        "" => definition.unit.is_some(),
        unit => microvolts_per(unit).is_some(),
    };
    if let Some(other) = chosen.iter().find(|channel| !volts(channel)) {
        let (channel, unit) = (other.label.clone(), other.unit.clone());
        return Err(Error::Unit { path: path.to_owned(), channel, unit });
    }
    if let Some(other) = chosen.iter().find(|channel| channel.sfreq != first.sfreq) {
        return Err(Error::MixedRates {
            path: path.to_owned(),
            channels: [first.label.clone(), other.label.clone()],
            rates: [first.sfreq, other.sfreq],
        });
    }
    Ok((chosen.iter().map(|channel| channel.place).collect(), first.sfreq, first.samples))
}
