//! Alignment of a subject while its trials arrive.

use fedspd_manifold::{Spd, SpdMetric};

use crate::trials::{EuclideanAlignment, second_moment};
use crate::{About, Alignment, Error};

/// Causal alignment of one subject, trial by trial and without labels.
///
/// The reference starts at the mean of a population, which counts as one trial. Each trial first
/// moves the reference and is then aligned with it: `R_t` lies at `1/(t + 1)` on the geodesic from
/// `R_(t-1)` to the covariance of trial `t`. In the log-Euclidean metric, and for the mean of
/// `X X^T`, this is the mean of all so far. In the affine-invariant metric it is the recursive
/// estimate of Ho et al., "Recursive Karcher expectation estimators and geometric law of large
/// numbers", AISTATS 2013.
#[derive(Clone, Debug)]
pub struct OnlineAlignment {
    kind: Alignment,
    /// The reference of each input; empty before the first trial without a population.
    references: Vec<Vec<f64>>,
    /// The number of trials, with the population as one.
    seen: usize,
}

impl OnlineAlignment {
    /// Begins at the mean of a population: one matrix of `n x n` for each input. Without it, the
    /// first trial is the first reference.
    pub fn new(kind: Alignment, n: usize, population: Option<&[f64]>) -> Self {
        let references: Vec<Vec<f64>> =
            population.map_or(Vec::new(), |all| all.chunks_exact(n * n).map(<[f64]>::to_vec).collect());
        Self { kind, seen: usize::from(!references.is_empty()), references }
    }

    /// Aligns the matrices or samples of one trial in place. `about` describes the trials, and
    /// `trial` is the index of this one there. After an error, the reference is unchanged.
    ///
    /// # Errors
    /// [`Error::Trial`] with the name of the trial; [`Error::Reference`] if the mean of `X X^T` is
    /// not positive definite.
    pub fn align(&mut self, about: &About, trial: usize, numbers: &mut [f64]) -> Result<(), Error> {
        match self.kind {
            Alignment::Riemannian => self.recentre(SpdMetric::AffineInvariant, about, trial, numbers),
            Alignment::LogEuclidean => self.recentre(SpdMetric::LogEuclidean, about, trial, numbers),
            Alignment::Euclidean => self.align_samples(about, trial, numbers),
        }
    }

    /// The share of the next trial in the reference.
    fn step(&self) -> f64 {
        1.0 / (self.seen + 1) as f64
    }

    fn recentre(
        &mut self,
        metric: SpdMetric,
        about: &About,
        trial: usize,
        matrices: &mut [f64],
    ) -> Result<(), Error> {
        let n = about.channels.len();
        let named = |source| Error::Trial { place: about.name(trial), source };
        let (mut spd, mut whitened) = (Spd::new(n)?, vec![0.0; n * n]);
        let mut moved = Vec::with_capacity(matrices.len() / (n * n));
        for (input, matrix) in matrices.chunks_exact(n * n).enumerate() {
            // Without a reference, the geodesic ends where it begins. This also checks the matrix.
            let from = self.references.get(input).map_or(matrix, |reference| reference);
            let mut reference = vec![0.0; n * n];
            spd.geodesic(metric, from, matrix, self.step(), &mut reference).map_err(named)?;
            moved.push(reference);
        }
        let mut aligned = Vec::with_capacity(matrices.len());
        for (reference, matrix) in moved.iter().zip(matrices.chunks_exact(n * n)) {
            spd.whiten(reference, matrix, &mut whitened).map_err(named)?;
            aligned.extend_from_slice(&whitened);
        }
        matrices.copy_from_slice(&aligned);
        (self.references, self.seen) = (moved, self.seen + 1);
        Ok(())
    }

    fn align_samples(&mut self, about: &About, trial: usize, samples: &mut [f64]) -> Result<(), Error> {
        let n = about.channels.len();
        let mut reference = second_moment(n, samples)?;
        let step = self.step();
        for (next, &before) in reference.iter_mut().zip(self.references.iter().flatten()) {
            *next = before + (*next - before) * step;
        }
        let (subject, count) = (&about.origins[trial].subject, self.seen + 1);
        let length = samples.len() / n;
        let alignment = EuclideanAlignment::at(reference, about, subject, (count, length))?;
        let mut aligned = vec![0.0; samples.len()];
        alignment.align(samples, &mut aligned)?;
        samples.copy_from_slice(&aligned);
        (self.references, self.seen) = (vec![alignment.into_reference()], self.seen + 1);
        Ok(())
    }
}
