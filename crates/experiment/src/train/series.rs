//! Runs of several configurations, one after the other.

use std::path::Path;

use fedspd_eeg::prepare::Progress;
use fedspd_run::{Manifest, RunFolder, Status};

use super::experiment::Experiment;
use super::run::{Resumable, run};
use crate::config::Config;
use crate::record::saved_config;
use crate::{Ended, Error, Observer};

/// Runs of several configurations, one after the other. It loads data again only if the next
/// configuration needs other data.
#[derive(Default)]
pub struct RunSeries {
    last: Option<Experiment>,
}

impl RunSeries {
    /// Completes the run of a folder: begins it, resumes it, or leaves it alone if it is done.
    ///
    /// # Errors
    /// [`Error::ConfigChanged`] if the folder holds a run of another configuration; faults in
    /// loading and training.
    pub fn complete<O: Observer + Send>(
        &mut self,
        config: &Config,
        name: &str,
        folder: &Path,
        progress: &impl Progress,
        observer: impl FnOnce(usize) -> O,
    ) -> Result<Ended, Error> {
        if let Ok(begun) = RunFolder::open(folder) {
            let manifest = Manifest::read(&begun.manifest())?;
            // Recordings may have moved. Their hash shows whether they are the same.
            let mut own = saved_config(&begun)?;
            own.data.root.clone_from(&config.data.root);
            if own.hash() != config.hash() {
                return Err(Error::ConfigChanged { path: begun.config() });
            }
            if manifest.status == Status::Done {
                return Ok(Ended::Finished);
            }
            let here = |begun: &mut Config| {
                begun.run.threads = config.run.threads;
                begun.data.root.clone_from(&config.data.root);
            };
            let mut run = Resumable::open(folder, here, progress)?;
            let rounds = run.rounds_left()?;
            return Ok(run.go_on(&mut observer(rounds))?.1);
        }
        let experiment = self.experiment(config, progress)?;
        let rounds = experiment.all_rounds()?;
        Ok(run(experiment, name, folder, &mut observer(rounds))?.1)
    }

    /// Returns the experiment of a configuration. Reuses the loaded data if they are the same.
    fn experiment(&mut self, config: &Config, progress: &impl Progress) -> Result<&Experiment, Error> {
        let same = |last: &Experiment| {
            let (last, this) = (&last.config, config);
            (&last.data, &last.covariance, last.model.kind) == (&this.data, &this.covariance, this.model.kind)
        };
        let next = match self.last.take() {
            Some(last) if same(&last) => last.with(config.clone())?,
            _ => Experiment::new(config.clone(), progress)?,
        };
        Ok(self.last.insert(next))
    }
}
