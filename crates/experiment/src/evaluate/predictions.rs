//! Predictions of a trained model on the trials of new subjects.

use std::borrow::Cow;

use fedspd_eeg::{About, Alignment};
use fedspd_manifold::Real;
use fedspd_nn::{Architecture, ParamSet};

use super::new_data::Gathered;
use super::predictor::Predictor;
use crate::Error;
use crate::config::AlignKind;
use crate::data::{Content, align};
use crate::train::{Visitor, with_saved_network};

/// The trials that alignment and statistics of a new subject are fitted on, without labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calibration {
    /// All its trials.
    All,
    /// Its first trials. Only the others are predicted.
    First(usize),
    /// For each trial, those before it and itself. Statistics stay those of training.
    Online,
}

/// Predictions of trials.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    /// The names of the classes, in the order of the probabilities.
    pub classes: Vec<String>,
    /// One entry for each trial, in the order of the data.
    pub trials: Vec<PredictedTrial>,
    /// Conversions of the data, and facts that could not be compared.
    pub notes: Vec<String>,
    /// The alignment of each subject, as in training.
    pub alignment: Option<Alignment>,
    /// Whether statistics of the network were fitted to each subject.
    pub calibrated: bool,
}

/// The prediction of a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictedTrial {
    /// The subject.
    pub subject: String,
    /// The session.
    pub session: String,
    /// The run.
    pub run: String,
    /// Seconds from the start of the recording to the event, if known.
    pub onset: Option<f64>,
    /// The true class, if known.
    pub label: Option<usize>,
    /// The probability of each class.
    pub probabilities: Vec<f64>,
}

impl PredictedTrial {
    /// Returns the most probable class; the first of equals.
    pub fn class(&self) -> usize {
        let larger = |best: usize, place: usize| self.probabilities[place] > self.probabilities[best];
        (0..self.probabilities.len()).fold(0, |best, place| if larger(best, place) { place } else { best })
    }
}

/// Predicts trials that are prepared up to alignment and z-scores. Alignment and, if requested,
/// statistics are fitted on the first trials of each subject, or on all of them.
pub(super) fn probabilities(
    predictor: &Predictor,
    gathered: Gathered,
    first: Option<usize>,
    statistics: bool,
) -> Result<Predictions, Error> {
    let Gathered { content, onsets, labelled, notes } = gathered;
    let about = content.about().clone();
    if let Some(first) = first {
        check_calibration(&about, first)?;
    }
    let network = &predictor.manifest().network;
    let statistics = statistics && network.kind().has_statistics();
    let work = Probabilities { predictor, content, first, statistics };
    let rows = with_saved_network(network, predictor.precision(), work)?;
    let trials = rows.into_iter().map(|(trial, probabilities)| {
        let origin = about.origins[trial].clone();
        PredictedTrial {
            subject: origin.subject,
            session: origin.session,
            run: origin.run,
            onset: onsets.get(trial).copied(),
            label: labelled.then_some(origin.label),
            probabilities,
        }
    });
    Ok(Predictions {
        classes: about.classes.clone(),
        trials: trials.collect(),
        notes,
        alignment: predictor.preparation().making.alignment(),
        calibrated: statistics,
    })
}

fn check_calibration(about: &About, first: usize) -> Result<(), Error> {
    for subject in about.subjects() {
        let trials = about.trials_of(subject).len();
        if trials <= first {
            return Err(Error::Calibration { first, subject: subject.to_owned(), trials });
        }
    }
    Ok(())
}

/// Computes the probabilities of all trials that are not used up by calibration.
struct Probabilities<'a> {
    predictor: &'a Predictor,
    content: Content,
    first: Option<usize>,
    statistics: bool,
}

impl Visitor for Probabilities<'_> {
    type Output = Vec<(usize, Vec<f64>)>;

    fn visit<T: Real, N: Architecture<T>>(self, network: N) -> Result<Self::Output, Error> {
        let (shape, about) = (self.content.shape(), self.content.about().clone());
        let subjects = align::new_subjects(&about, self.first);
        let numbers = aligned::<T>(self.predictor, &self.content, &subjects)?;
        drop(self.content);
        let examples = network.prepare(N::trials(&shape, numbers, about.labels())?)?;
        let parameters: ParamSet<T> = self.predictor.parameters().cast();
        let (mut workspace, classes) = (network.workspace(1)?, network.classes());
        let mut rows = Vec::with_capacity(about.origins.len());
        for subject in &subjects {
            let mut own = parameters.clone();
            if self.statistics {
                network.calibrate(&mut own, &examples, &subject.fit)?;
            }
            let predicted = &subject.apply[self.first.unwrap_or(0)..];
            let mut probabilities = vec![T::ZERO; predicted.len() * classes];
            network.probabilities(&own, &examples, predicted, &mut workspace, &mut probabilities)?;
            let each = probabilities.chunks_exact(classes);
            let each = each.map(|row| row.iter().map(|value| value.to_f64()).collect());
            rows.extend(predicted.iter().copied().zip(each));
        }
        rows.sort_by_key(|(trial, _)| *trial);
        Ok(rows)
    }
}

/// Aligns and scales trials as the model says, unless they are already.
fn aligned<T: Real>(
    predictor: &Predictor,
    content: &Content,
    subjects: &[align::Subject],
) -> Result<Vec<T>, Error> {
    let (wanted, found) = (&predictor.preparation().making, &content.about().making);
    let kind = match found.alignment() {
        Some(_) => AlignKind::None,
        None => wanted.alignment().map_or(AlignKind::None, AlignKind::from),
    };
    match content {
        Content::Covariances(covariances) => {
            let numbers = align::covariances(kind, subjects.to_vec(), covariances)?.covariances;
            Ok(match numbers {
                Cow::Borrowed(given) => given.matrices().iter().map(|&x| T::from_f64(x)).collect(),
                Cow::Owned(aligned) => aligned.into_matrices().into_iter().map(T::from_f64).collect(),
            })
        }
        Content::Trials(trials) => {
            let z_score = wanted.z_score() && !found.z_score();
            Ok(align::trials::<T>(kind, z_score, subjects, trials)?.numbers)
        }
    }
}
