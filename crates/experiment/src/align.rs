//! Alignment after the split: per subject, without labels, never across clients.

use fedspd_eeg::{About, Covariances, EuclideanAlignment, Recentring, Trials};
use fedspd_manifold::SpdMetric;
use rayon::prelude::*;

use crate::Error;
use crate::config::{Align, AlignFit, AlignKind};
use crate::design::Design;

/// What the reference of a subject is fitted on, and what it is applied to.
pub(crate) struct Subject {
    fit: Vec<usize>,
    apply: Vec<usize>,
}

/// The subjects of all clients and those held out, each with what its reference is fitted on: its training trials, or all of its trials; of a
/// subject that nobody trains on all trials or the first few, without their labels.
pub(crate) fn subjects(align: &Align, about: &About, design: &Design) -> Vec<Subject> {
    let of_clients = design.clients.iter().zip(&design.shards).flat_map(|(client, shard)| {
        client.subjects.iter().map(move |subject| {
            let own = |trials: &[usize]| -> Vec<usize> {
                trials.iter().copied().filter(|&trial| about.origins[trial].subject == *subject).collect()
            };
            let apply = own(&client.trials);
            let fit = if align.fit == AlignFit::All { apply.clone() } else { own(&shard.train) };
            Subject { fit, apply }
        })
    });
    let held_out = design.held_out.iter().map(|held_out| {
        let first = align.calibration.unwrap_or(usize::MAX);
        let fit = held_out.trials.iter().copied().take(first).collect();
        Subject { fit, apply: held_out.trials.clone() }
    });
    of_clients.chain(held_out).collect()
}

/// Covariances after alignment, and what they were aligned with.
pub(crate) struct Aligned {
    pub(crate) covariances: Covariances,
    /// The trials of each subject, ascending, and its reference; none where nothing was aligned.
    pub(crate) references: Vec<(Vec<usize>, Recentring)>,
}

/// Aligned covariances.
pub(crate) fn covariances(
    kind: AlignKind,
    subjects: Vec<Subject>,
    covariances: &Covariances,
) -> Result<Aligned, Error> {
    let metric = match kind {
        AlignKind::None | AlignKind::Euclidean => {
            return Ok(Aligned { covariances: covariances.clone(), references: Vec::new() });
        }
        AlignKind::Riemannian => SpdMetric::AffineInvariant,
        AlignKind::LogEuclidean => SpdMetric::LogEuclidean,
    };
    let fitted: Vec<Result<Recentring, _>> =
        subjects.par_iter().map(|subject| Recentring::fit(covariances, &subject.fit, metric)).collect();
    let mut aligned = Aligned { covariances: covariances.clone(), references: Vec::new() };
    for (recentring, subject) in fitted.into_iter().zip(subjects) {
        let recentring = recentring?;
        recentring.apply(&mut aligned.covariances, &subject.apply)?;
        aligned.references.push((subject.apply, recentring));
    }
    Ok(aligned)
}

/// Aligned trials.
pub(crate) fn trials(kind: AlignKind, subjects: &[Subject], trials: &Trials) -> Result<Trials, Error> {
    let mut aligned = trials.clone();
    if kind == AlignKind::Euclidean {
        for subject in subjects {
            EuclideanAlignment::fit(trials, &subject.fit)?.apply(&mut aligned, &subject.apply)?;
        }
    }
    Ok(aligned)
}
