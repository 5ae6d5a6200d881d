//! The plan: all checks that are possible before samples are read.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::file::{Facts, FileChannel};
use crate::dataset::{Definition, Ids, Selection};
use crate::epochs::{Dropped, Epoch, epochs, is_bad};
use crate::filter::{ratio, resampled_length};
use crate::natural_order::NaturallyOrdered;
use crate::segments::{is_interruption, segments};
use crate::voltage::microvolts_per;
use crate::{About, Error, Making, Origin};

/// Options of a plan.
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    /// The requested subjects; all if absent.
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
    subjects: Vec<Vec<PlannedRecording>>,
    /// Events without a trial.
    pub dropped: Vec<Dropped>,
    /// Annotations (or labels) without a class in the definition, with their numbers of
    /// occurrences.
    pub ignored: BTreeMap<String, usize>,
    /// Subjects that the definition excludes.
    pub left_out: Vec<LeftOut>,
}

/// One recording of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedRecording {
    /// Subject, session and run.
    pub ids: Ids,
    /// The path of the file.
    pub path: PathBuf,
    /// The sampling rate of the file.
    pub sfreq: f64,
    /// Its trials, in samples at the definition's rate.
    pub epochs: Vec<Epoch>,
    /// The indices of the plan's channels in the file.
    pub(super) places: Vec<usize>,
    /// The segments that are filtered separately, in samples at the definition's rate.
    pub(super) segments: Vec<Range<usize>>,
}

/// A subject that the definition excludes.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// The subject.
    pub subject: String,
    /// The reason.
    pub reason: String,
    /// The sampling rate of the first recording, if that file exists.
    pub measured_sfreq: Option<f64>,
}

impl Plan {
    /// Reads the headers and annotations of all recordings. The folders are searched in the given
    /// order.
    ///
    /// # Errors
    /// [`Error::NoSubject`] for a subject outside the dataset, [`Error::Missing`] for a missing
    /// file, [`Error::Rate`] for a recording at another rate, [`Error::Channel`] for a missing
    /// channel, faults of files; [`Error::LeftOut`], [`Error::NoEvents`] or [`Error::NoTrials`] if
    /// no trial remains.
    pub fn new(definition: Definition, roots: &[PathBuf], options: &PlanOptions) -> Result<Self, Error> {
        let mut recordings = recordings(&definition, roots, options)?;
        let left_out = leave_out(&definition, roots, options, &mut recordings);
        let find = |ids: Ids| find(roots, &definition.files.path(&ids)).map(|path| (ids, path));
        let recordings = recordings.into_iter().map(find).collect::<Result<Vec<_>, _>>()?;
        Self::look(definition, &recordings, left_out, options.resample)
    }

    /// Reads the headers and annotations of given files.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn of_files(
        definition: Definition,
        recordings: &[(Ids, PathBuf)],
        resample: bool,
    ) -> Result<Self, Error> {
        Self::look(definition, recordings, Vec::new(), resample)
    }

    fn look(
        definition: Definition,
        recordings: &[(Ids, PathBuf)],
        left_out: Vec<LeftOut>,
        resample: bool,
    ) -> Result<Self, Error> {
        let classes = definition.classes();
        let Some((_, first)) = recordings.first() else {
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
            let facts = Facts::of(&definition, first)?;
            facts.channels.iter().map(|c| definition.channel_name(&c.label).to_owned()).collect()
        };
        let look =
            |(ids, path): &(Ids, PathBuf)| -> Result<(PlannedRecording, Vec<Dropped>, Vec<String>), Error> {
                let path = path.clone();
                let facts = Facts::of(&definition, &path)?;
                let (places, measured, samples) = choose(&definition, &channels, &path, &facts.channels)?;
                // A duration such as 1.1 s is not exact in binary: rates that differ only by rounding
                // are equal.
                let rates = ratio(measured, definition.sfreq);
                let same = matches!(rates, Ok((1, 1)));
                if !same && !resample {
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
                let (epochs, dropped) =
                    epochs(&definition, &classes, ids, (samples, sfreq), &facts.annotations);
                let segments = segments(&facts.annotations, samples, sfreq);
                // Bad annotations and interruptions have an effect, so they do not count as ignored.
                let heeded = |text: &str| is_bad(text) || is_interruption(text);
                let texts = facts.annotations.into_iter().map(|annotation| annotation.text);
                let nobodys = texts
                    .filter(|text| definition.class_of(&ids.run, text).is_none() && !heeded(text))
                    .collect();
                let run =
                    PlannedRecording { ids: ids.clone(), path, sfreq: measured, epochs, places, segments };
                Ok((run, dropped, nobodys))
            };
        // All files are read first, so that of several faults the first one is always reported.
        let looked: Vec<Result<_, _>> = recordings.par_iter().map(look).collect();
        let mut subjects: Vec<Vec<PlannedRecording>> = Vec::new();
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

    /// The definition of the dataset.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// The channels, in order.
    pub fn channels(&self) -> &[String] {
        &self.channels
    }

    /// The recordings of each subject.
    pub fn subjects(&self) -> &[Vec<PlannedRecording>] {
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

    /// The classes without a trial in any recording, each with its annotations. One of these may be
    /// misspelt.
    pub fn empty_classes(&self) -> Vec<(&str, Vec<&str>)> {
        let counts = self.about("").class_counts();
        let empty = self.classes.iter().zip(counts).filter(|(_, count)| *count == 0);
        empty.map(|(class, _)| (&**class, self.definition.annotations_of(class))).collect()
    }

    /// The recordings without a trial, if others have trials.
    pub fn without_trials(&self) -> Vec<&Path> {
        let empty = self.subjects.iter().flatten().filter(|run| run.epochs.is_empty());
        empty.map(|run| &*run.path).collect()
    }

    /// The subjects whose recordings are resampled, with the original sampling rate.
    pub fn resampled(&self) -> Vec<(&str, f64)> {
        let other = |run: &&PlannedRecording| run.sfreq != self.definition.sfreq;
        let mut subjects: Vec<(&str, f64)> =
            self.subjects.iter().flatten().filter(other).map(|run| (&*run.ids.subject, run.sfreq)).collect();
        subjects.dedup();
        subjects
    }

    /// The onset of each trial's event, in seconds after the first sample of its recording.
    pub fn onsets(&self) -> Vec<f64> {
        let Definition { sfreq, interval: [before, _], .. } = self.definition;
        let onset = |epoch: &Epoch| epoch.start as f64 / sfreq - before;
        self.subjects.iter().flatten().flat_map(|run| run.epochs.iter().map(onset)).collect()
    }

    /// The number of samples of a trial.
    pub fn trial_length(&self) -> usize {
        self.definition.trial_length(self.definition.sfreq)
    }

    /// Classes, channels and origins of the planned trials. Their processing is not set yet.
    pub fn about(&self, unit: &str) -> About {
        self.about_runs(unit, self.subjects.iter().flatten())
    }

    /// As [`Plan::about`], for some runs.
    pub(super) fn about_runs<'r>(
        &self,
        unit: &str,
        runs: impl IntoIterator<Item = &'r PlannedRecording>,
    ) -> About {
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

/// Finds the files of a preparation, without reading them.
///
/// # Errors
/// [`Error::NoSubject`], [`Error::NoFiles`] or [`Error::Missing`].
pub fn files(
    definition: &Definition,
    roots: &[PathBuf],
    options: &PlanOptions,
) -> Result<Vec<PathBuf>, Error> {
    let excluded = |ids: &Ids| {
        let mut all = definition.excluded.iter().filter(|e| !(e.unless_resampled && options.resample));
        all.any(|excluded| excluded.subject == ids.subject)
    };
    let recordings = recordings(definition, roots, options)?;
    let kept = recordings.iter().filter(|ids| !excluded(ids));
    kept.map(|ids| find(roots, &definition.files.path(ids))).collect()
}

/// The requested recordings, subject by subject and session by session. The definition lists them,
/// or else they are searched on disk.
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

/// The sort key of a recording: the order of the definition if it has one, otherwise by name.
fn order<'a>(definition: &Definition, ids: &'a Ids) -> impl Ord + use<'a> {
    let place = |list: &Option<Vec<String>>, id: &String| {
        list.as_ref().and_then(|list| list.iter().position(|listed| listed == id))
    };
    let session = (place(&definition.sessions, &ids.session), NaturallyOrdered(&ids.session));
    (NaturallyOrdered(&ids.subject), session, place(&definition.runs, &ids.run), NaturallyOrdered(&ids.run))
}

/// Removes the subjects that the definition excludes.
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

/// Returns the indices of the channels in a file, their sampling rate and their number of samples.
fn choose(
    definition: &Definition,
    channels: &[String],
    path: &Path,
    in_file: &[FileChannel],
) -> Result<(Vec<usize>, f64, usize), Error> {
    let named = |name: &String| -> Vec<&FileChannel> {
        in_file.iter().filter(|channel| definition.channel_name(&channel.label) == name).collect()
    };
    let refused = |channel: String, count: usize| {
        let unnamed =
            |c: &&FileChannel| !channels.iter().any(|name| definition.channel_name(&c.label) == name);
        let there = in_file.iter().filter(unnamed).map(|c| c.label.clone()).collect();
        Err(Error::Channel { path: path.to_owned(), channel, count, there })
    };
    if let Some(twice) = channels.iter().find(|name| named(name).len() > 1) {
        return refused(twice.clone(), named(twice).len());
    }
    let chosen: Vec<&FileChannel> = channels.iter().flat_map(named).collect();
    if chosen.len() < channels.len() {
        let missing = channels.iter().filter(|name| named(name).is_empty()).map(String::as_str);
        return refused(missing.collect::<Vec<_>>().join(", "), 0);
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
