//! Riemannian recentring: moves each subject's mean covariance to the identity.

use fedspd_manifold::{IterationLimits, Spd, SpdMetric};

use super::Covariances;
use crate::about::NO_UNIT;
use crate::{AlignmentFit, Error};

/// Recentring of one subject's covariances (Zanini et al. 2018): `C -> G^-1/2 C G^-1/2`, where `G`
/// is their mean, for each input separately.
///
/// Uses no labels. Fit and apply are separate, because an experiment recentres after the split: the
/// mean is fitted on training trials or, on request, on all unlabelled trials of the subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Recentring {
    metric: SpdMetric,
    /// The mean of each input.
    references: Vec<Vec<f64>>,
}

impl Recentring {
    /// Fits the means on some trials.
    ///
    /// # Errors
    /// [`Error::NoTrials`]; [`Error::Trial`] with the trial of the faulty matrix.
    pub fn fit(covariances: &Covariances, chosen: &[usize], metric: SpdMetric) -> Result<Self, Error> {
        if chosen.is_empty() {
            return Err(Error::NoTrials { what: "recentring" });
        }
        let mut spd = Spd::new(covariances.about.channels.len())?;
        let mut references = Vec::with_capacity(covariances.inputs.len());
        for input in 0..covariances.inputs.len() {
            let matrices: Vec<f64> =
                chosen.iter().flat_map(|&trial| covariances.matrix(trial, input)).copied().collect();
            let mean = spd.mean(metric, &matrices, None, IterationLimits::default());
            references.push(mean.map_err(|source| covariances.fault(chosen, input, source))?.point);
        }
        Ok(Self { metric, references })
    }

    /// The mean of an input.
    pub fn reference(&self, input: usize) -> &[f64] {
        &self.references[input]
    }

    /// Recentres some trials in place. The whole set becomes dimensionless, so the trials of every
    /// subject must be recentred.
    ///
    /// # Errors
    /// [`Error::Trial`] with the trial of the faulty matrix.
    pub fn apply(&self, covariances: &mut Covariances, chosen: &[usize]) -> Result<(), Error> {
        let n = covariances.about.channels.len();
        let (mut spd, mut whitened) = (Spd::new(n)?, Vec::new());
        for (input, reference) in self.references.iter().enumerate() {
            let matrices: Vec<f64> =
                chosen.iter().flat_map(|&trial| covariances.matrix(trial, input)).copied().collect();
            whitened.resize(matrices.len(), 0.0);
            spd.whiten(reference, &matrices, &mut whitened)
                .map_err(|source| covariances.fault(chosen, input, source))?;
            for (&trial, matrix) in chosen.iter().zip(whitened.chunks_exact(n * n)) {
                let range = covariances.range(trial, input);
                covariances.matrices_mut()[range].copy_from_slice(matrix);
            }
        }
        covariances.about.unit = NO_UNIT.into();
        covariances.about.making.align(self.metric.into());
        Ok(())
    }
}

impl Covariances {
    /// Recentres every subject separately, with means of all its trials (transductive: nothing is
    /// held out).
    ///
    /// # Errors
    /// As [`Recentring::fit`] and [`Recentring::apply`].
    pub fn recentre(&mut self, metric: SpdMetric) -> Result<(), Error> {
        let subjects: Vec<String> = self.about.subjects().into_iter().map(str::to_owned).collect();
        for subject in subjects {
            let trials = self.about.trials_of(&subject);
            Recentring::fit(self, &trials, metric)?.apply(self, &trials)?;
        }
        self.about.making.fitted_on(AlignmentFit::All);
        Ok(())
    }

    /// Adds the name of the faulty matrix to an error of the geometry.
    fn fault(&self, chosen: &[usize], input: usize, source: fedspd_manifold::Error) -> Error {
        use fedspd_manifold::Error::{NotFinite, NotPositiveDefinite, NotSymmetric, Overflow, TooLarge};
        match source {
            NotFinite { matrix, .. }
            | NotPositiveDefinite { matrix, .. }
            | NotSymmetric { matrix, .. }
            | Overflow { matrix, .. }
            | TooLarge { matrix, .. } => Error::Trial { place: self.place(chosen[matrix], input), source },
            source => Error::Geometry(source),
        }
    }
}
