//! Alignment after the split: per subject, without labels, never across clients.

use std::borrow::Cow;

use fedspd_eeg::{About, Covariances, EuclideanAlignment, NO_UNIT, Recentring, Trials};
use fedspd_manifold::{IterationLimits, Real, Spd, SpdMetric};
use rayon::prelude::*;

use crate::Error;
use crate::config::{Align, AlignFit, AlignKind};
use crate::split::Design;

/// The trials that a subject's reference is fitted on, and those that it is applied to.
#[derive(Clone)]
pub(crate) struct Subject {
    pub(crate) fit: Vec<usize>,
    pub(crate) apply: Vec<usize>,
    /// Whether a client trains on it.
    pub(crate) trained: bool,
}

/// Returns the subjects of all clients and the held-out ones. The reference of a subject is fitted
/// on its training trials or on all its trials. For a held-out subject, or someone new in this fold,
/// it is fitted on all trials or the first few. Labels are never used.
pub(crate) fn subjects(align: &Align, about: &About, design: &Design) -> Vec<Subject> {
    let of_clients = design.clients.iter().zip(&design.shards).flat_map(|(client, shard)| {
        client.subjects.iter().map(move |subject| {
            let own = |trials: &[usize]| -> Vec<usize> {
                trials.iter().copied().filter(|&trial| about.origins[trial].subject == *subject).collect()
            };
            let apply = own(&client.trials);
            let new = design.newcomers.iter().find(|newcomer| newcomer.subject == *subject);
            let fit = match new {
                Some(newcomer) => newcomer.fit.clone(),
                None if align.fit == AlignFit::All => apply.clone(),
                None => own(&shard.train),
            };
            Subject { fit, apply, trained: new.is_none() }
        })
    });
    let held_out = design.held_out.iter().map(|held_out| {
        let first = align.calibration.unwrap_or(usize::MAX);
        let fit = held_out.trials.iter().copied().take(first).collect();
        Subject { fit, apply: held_out.trials.clone(), trained: false }
    });
    of_clients.chain(held_out).collect()
}

/// Returns the subjects of new data. The reference of each is fitted on all its trials, or on the
/// first ones.
pub(crate) fn new_subjects(about: &About, first: Option<usize>) -> Vec<Subject> {
    let subject = |name: &str| {
        let apply = about.trials_of(name);
        let fit = apply.iter().copied().take(first.unwrap_or(usize::MAX)).collect();
        Subject { fit, apply, trained: false }
    };
    about.subjects().into_iter().map(subject).collect()
}

/// Covariances after alignment, and the references.
pub(crate) struct Aligned<'a> {
    /// Borrowed without alignment.
    pub(crate) covariances: Cow<'a, Covariances>,
    /// The trials of each subject, ascending, and its reference; empty without alignment.
    pub(crate) references: Vec<(Vec<usize>, Recentring)>,
    /// The references of the subjects that clients train on.
    pub(crate) trained: References,
}

/// Trials after alignment and scaling.
pub(crate) struct AlignedTrials<T> {
    pub(crate) numbers: Vec<T>,
    pub(crate) unit: String,
    /// The references of the subjects that clients train on.
    pub(crate) trained: References,
}

/// The references of subjects, all inputs one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct References(Vec<Vec<f64>>);

impl References {
    /// Returns the mean of each input in the geometry of an alignment; none without references.
    pub(crate) fn mean(&self, kind: AlignKind, channels: usize) -> Result<Option<Vec<f64>>, Error> {
        let (Self(subjects), size) = (self, channels * channels);
        let Some(first) = subjects.first() else { return Ok(None) };
        let metric = match kind {
            AlignKind::None => return Ok(None),
            AlignKind::Euclidean => {
                let mut mean = vec![0.0; first.len()];
                for subject in subjects {
                    mean.iter_mut().zip(subject).for_each(|(sum, x)| *sum += x / subjects.len() as f64);
                }
                return Ok(Some(mean));
            }
            AlignKind::Riemannian => SpdMetric::AffineInvariant,
            AlignKind::LogEuclidean => SpdMetric::LogEuclidean,
        };
        let mut spd = Spd::new(channels).map_err(fedspd_eeg::Error::from)?;
        let mut mean = Vec::with_capacity(first.len());
        for input in (0..first.len()).step_by(size) {
            let all: Vec<f64> =
                subjects.iter().flat_map(|subject| &subject[input..input + size]).copied().collect();
            let input = spd.mean(metric, &all, None, IterationLimits::default());
            mean.extend(input.map_err(fedspd_eeg::Error::from)?.point);
        }
        Ok(Some(mean))
    }
}

/// Aligns covariances.
pub(crate) fn covariances(
    kind: AlignKind,
    subjects: Vec<Subject>,
    covariances: &Covariances,
) -> Result<Aligned<'_>, Error> {
    let metric = match kind {
        AlignKind::None | AlignKind::Euclidean => {
            return Ok(Aligned {
                covariances: Cow::Borrowed(covariances),
                references: Vec::new(),
                trained: References::default(),
            });
        }
        AlignKind::Riemannian => SpdMetric::AffineInvariant,
        AlignKind::LogEuclidean => SpdMetric::LogEuclidean,
    };
    let fitted: Vec<Result<Recentring, _>> =
        subjects.par_iter().map(|subject| Recentring::fit(covariances, &subject.fit, metric)).collect();
    let (mut aligned, mut references) = (covariances.clone(), Vec::with_capacity(subjects.len()));
    let mut trained = References::default();
    for (recentring, subject) in fitted.into_iter().zip(subjects) {
        let recentring = recentring?;
        recentring.apply(&mut aligned, &subject.apply)?;
        if subject.trained {
            let inputs = 0..covariances.inputs.len();
            trained.0.push(inputs.flat_map(|input| recentring.reference(input)).copied().collect());
        }
        references.push((subject.apply, recentring));
    }
    Ok(Aligned { covariances: Cow::Owned(aligned), references, trained })
}

/// Aligns and scales trials. It copies one trial at a time in double precision.
pub(crate) fn trials<T: Real>(
    kind: AlignKind,
    z_score: bool,
    subjects: &[Subject],
    trials: &Trials,
) -> Result<AlignedTrials<T>, Error> {
    let about = &trials.about;
    let euclidean = subjects.iter().filter(|_| kind == AlignKind::Euclidean);
    let fitted = euclidean.map(|subject| EuclideanAlignment::fit(trials, &subject.fit));
    let fitted = fitted.collect::<Result<Vec<_>, _>>()?;
    let (mut alignments, mut trained) = (vec![None; trials.len()], References::default());
    for (alignment, subject) in fitted.iter().zip(subjects) {
        if subject.trained {
            trained.0.push(alignment.reference().to_vec());
        }
        subject.apply.iter().for_each(|&trial| alignments[trial] = Some(alignment));
    }
    let mut samples = vec![0.0; trials.length() * about.channels.len()];
    let mut numbers = Vec::with_capacity(trials.len() * samples.len());
    for (trial, alignment) in alignments.iter().enumerate() {
        match alignment {
            Some(alignment) => alignment.align(trials.trial(trial), &mut samples)?,
            None => samples.copy_from_slice(trials.trial(trial)),
        }
        if z_score {
            fedspd_eeg::z_score(about, trial, &mut samples)?;
        }
        numbers.extend(samples.iter().map(|&x| T::from_f64(x)));
    }
    let scaled = z_score || kind == AlignKind::Euclidean;
    Ok(AlignedTrials { numbers, unit: if scaled { NO_UNIT } else { &about.unit }.to_owned(), trained })
}

#[cfg(test)]
mod tests {
    use fedspd_eeg::{MICROVOLTS, Making, Origin};

    use super::*;

    /// The numbers equal those of alignment, scaling and conversion of all trials at once. Memory
    /// is that of the result.
    #[test]
    fn trials_are_converted_one_by_one() {
        let (channels, length, count) = (4, 50, 60);
        let origin = |trial: usize| Origin {
            label: trial % 2,
            subject: (trial / 20).to_string(),
            session: "1".into(),
            run: "1".into(),
        };
        let about = About {
            classes: vec!["a".into(), "b".into()],
            channels: (0..channels).map(|channel| channel.to_string()).collect(),
            sfreq: 100.0,
            unit: MICROVOLTS.into(),
            origins: (0..count).map(origin).collect(),
            making: Making::default(),
        };
        let numbers = (0..count * length * channels).map(|i| ((i * i) as f64 * 0.37).sin()).collect();
        let data = Trials::new(about, length, numbers).unwrap();
        // The last subject is in no group.
        let subject = |number: usize| Subject {
            fit: (20 * number..20 * number + 12).collect(),
            apply: (20 * number..20 * number + 20).collect(),
            trained: true,
        };
        let subjects = [subject(0), subject(1)];
        for (kind, z_score) in [
            (AlignKind::None, false),
            (AlignKind::None, true),
            (AlignKind::Euclidean, false),
            (AlignKind::Euclidean, true),
        ] {
            let mut expected = data.clone();
            for subject in subjects.iter().filter(|_| kind == AlignKind::Euclidean) {
                let alignment = EuclideanAlignment::fit(&data, &subject.fit).unwrap();
                alignment.apply(&mut expected, &subject.apply).unwrap();
            }
            if z_score {
                expected.z_score().unwrap();
            }
            let mut found = None;
            let counted = allocation_counter::measure(|| {
                found = Some(trials::<f32>(kind, z_score, &subjects, &data).unwrap());
            });
            let AlignedTrials { numbers, unit, .. } = found.unwrap();
            assert_eq!(unit, expected.about.unit);
            let eager = (0..count).flat_map(|trial| expected.trial(trial)).map(|&x| x as f32);
            assert_eq!(numbers, eager.collect::<Vec<_>>());
            let all = size_of_val(&numbers[..]) as u64;
            assert!(counted.bytes_max < all + all / 4, "{} of {all}", counted.bytes_max);
        }
    }
}
