//! Warnings before training.

use fedspd_manifold::Real;
use fedspd_nn::Architecture;

use super::experiment::{Experiment, in_pool};
use super::network::Visitor;
use super::seed::SeedRun;
use crate::Error;

impl Experiment {
    /// Returns all warnings of a run before its rounds, in the order of the run: about the data, then
    /// about the split and the trials of each seed and fold.
    ///
    /// # Errors
    /// Faults of the setup.
    pub fn warnings(&self) -> Result<Vec<String>, Error> {
        in_pool(self.threads(), || self.with_network(Warnings { experiment: self }))
    }
}

struct Warnings<'a> {
    experiment: &'a Experiment,
}

impl Visitor for Warnings<'_> {
    type Output = Vec<String>;

    fn visit<T: Real, N: Architecture<T>>(self, network: N) -> Result<Vec<String>, Error> {
        let mut warnings = self.experiment.dataset.notes.clone();
        for unit in self.experiment.units()? {
            let run = SeedRun::new(self.experiment, &network, unit, None, false)?;
            warnings.extend(run.warnings_before()?);
        }
        Ok(warnings)
    }
}
