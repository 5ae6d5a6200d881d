//! Warnings before training.

use fedspd_manifold::Real;
use fedspd_nn::Architecture;
use fedspd_run::Unit;

use super::experiment::{Experiment, in_pool};
use super::network::Visitor;
use super::seed::SeedRun;
use crate::Error;

impl Experiment {
    /// Returns all warnings of a run before its rounds, in the order of the run: about the data, then
    /// about the split and the trials of each seed.
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
        for &seed in self.experiment.config.run.seeds.as_slice() {
            let seed = SeedRun::new(self.experiment, &network, Unit::of_seed(seed), false)?;
            warnings.extend(seed.warnings_before()?);
        }
        Ok(warnings)
    }
}
