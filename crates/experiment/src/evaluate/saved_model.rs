//! Scores of a saved model on other data.

use std::path::{Path, PathBuf};

use fedspd_run::{Confusion, RunFolder, Shards};

use super::predictions::Predictions;
use crate::Error;
use crate::config::Mode;
use crate::record::saved_config;

/// The scores of a model on data.
pub struct ModelScores {
    /// The confusion matrix of all trials.
    pub confusion: Confusion,
    /// The mean cross-entropy.
    pub loss: f64,
    /// The confusion matrix of each subject, in the order of the data.
    pub subjects: Vec<(String, Confusion)>,
}

impl ModelScores {
    /// Scores predictions.
    ///
    /// # Errors
    /// [`Error::Unlabelled`] if the true classes are unknown.
    pub fn new(predictions: &Predictions) -> Result<Self, Error> {
        let classes = predictions.classes.len();
        let (mut confusion, mut loss) = (Confusion::new(classes), 0.0);
        let mut subjects: Vec<(String, Confusion)> = Vec::new();
        for trial in &predictions.trials {
            let label = trial.label.ok_or(Error::Unlabelled)?;
            let place = subjects.iter().position(|(subject, _)| *subject == trial.subject);
            let place = place.unwrap_or_else(|| {
                subjects.push((trial.subject.clone(), Confusion::new(classes)));
                subjects.len() - 1
            });
            confusion.add(label, trial.class())?;
            subjects[place].1.add(label, trial.class())?;
            loss -= trial.probabilities[label].ln() / predictions.trials.len() as f64;
        }
        Ok(Self { confusion, loss, subjects })
    }
}

/// Returns the model of a run with one seed.
///
/// # Errors
/// Faults of the folder; [`Error::NoModel`] with the reason if there is not exactly one model.
pub fn model_of_run(folder: &Path) -> Result<PathBuf, Error> {
    let folder = RunFolder::open(folder)?;
    let seeds = fedspd_run::Manifest::read(&folder.manifest())?.seeds;
    let none = |reason: String| Err(Error::NoModel { path: folder.root().to_owned(), reason });
    if saved_config(&folder)?.mode == Mode::Local {
        return none("clients that train alone have no common model".into());
    }
    let [seed] = seeds[..] else {
        return none(format!("it has {} seeds; name one of the files in its folder `models`", seeds.len()));
    };
    let folds = Shards::read(&folder.shards())?.seeds.len();
    if folds > 1 {
        return none(format!("it has {folds} folds; name one of the files in its folder `models`"));
    }
    let model = folder.model(seed);
    if !model.is_file() {
        return none("the run is not done; resume it first".into());
    }
    Ok(model)
}
