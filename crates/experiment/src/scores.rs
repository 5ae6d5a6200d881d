//! From predictions to the numbers of the results.

use fedspd_eeg::About;
use fedspd_nn::Evaluation;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::metrics::Confusion;

/// One number of the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Score {
    /// The name of a client or a held-out subject, or `pooled`, `mean` or `worst`.
    pub(crate) client: String,
    pub(crate) split: String,
    pub(crate) metric: String,
    pub(crate) value: f64,
}

/// What was predicted of some trials, whichever model did it.
#[derive(Default)]
pub(crate) struct Predicted {
    /// Trials and what was predicted of them.
    pairs: Vec<(usize, usize)>,
    /// The sum of the losses over trials.
    loss: f64,
}

impl Predicted {
    pub(crate) fn add(&mut self, trials: &[usize], evaluation: &Evaluation) {
        self.pairs.extend(trials.iter().copied().zip(evaluation.predictions.iter().copied()));
        self.loss += evaluation.loss * trials.len() as f64;
    }

    /// The confusion of all trials.
    fn confusion(&self, about: &About) -> Result<Confusion, Error> {
        let mut confusion = Confusion::new(about.classes.len());
        for &(trial, predicted) in &self.pairs {
            confusion.add(about.origins[trial].label, predicted)?;
        }
        Ok(confusion)
    }

    /// The macro-F1 of all trials together.
    pub(crate) fn macro_f1(&self, about: &About) -> Result<f64, Error> {
        Ok(self.confusion(about)?.macro_f1())
    }

    /// The scores of a split: all trials together with their confusion matrix, and the mean and the worst over groups (clients, subjects) with their trials;
    /// if asked for, each group and each class.
    pub(crate) fn scores<'a>(
        &self,
        about: &About,
        split: &str,
        prefix: &str,
        groups: impl Iterator<Item = (&'a str, &'a [usize])>,
        in_full: bool,
    ) -> Result<Vec<Score>, Error> {
        let mut scores = Vec::new();
        let mut add = |client: &str, metric: String, value: f64| {
            let (client, split) = (client.to_owned(), split.to_owned());
            scores.push(Score { client, split, metric: format!("{prefix}{metric}"), value });
        };
        let pooled = self.confusion(about)?;
        add("pooled", "macro_f1".into(), pooled.macro_f1());
        add("pooled", "accuracy".into(), pooled.accuracy());
        add("pooled", "kappa".into(), pooled.kappa());
        add("pooled", "loss".into(), self.loss / self.pairs.len() as f64);
        let mut sorted = self.pairs.clone();
        sorted.sort_unstable();
        let mut each = Vec::new();
        for (name, trials) in groups {
            let mut confusion = Confusion::new(about.classes.len());
            for &trial in trials {
                if let Ok(place) = sorted.binary_search_by_key(&trial, |&(trial, _)| trial) {
                    confusion.add(about.origins[trial].label, sorted[place].1)?;
                }
            }
            if confusion.total() > 0 {
                each.push((name, confusion));
            }
        }
        let f1: Vec<f64> = each.iter().map(|(_, confusion)| confusion.macro_f1()).collect();
        add("mean", "macro_f1".into(), f1.iter().sum::<f64>() / f1.len() as f64);
        add("worst", "macro_f1".into(), f1.iter().copied().fold(f64::NAN, f64::min));
        let classes = about.classes.len();
        for (place, &count) in pooled.counts().iter().enumerate() {
            let (truth, predicted) = (&about.classes[place / classes], &about.classes[place % classes]);
            add("pooled", format!("confusion:{truth}:{predicted}"), count as f64);
        }
        if in_full {
            for (class, f1) in about.classes.iter().zip(pooled.f1_per_class()) {
                add("pooled", format!("f1:{class}"), f1);
            }
            for (name, confusion) in &each {
                add(name, "macro_f1".into(), confusion.macro_f1());
                add(name, "accuracy".into(), confusion.accuracy());
                add(name, "trials".into(), confusion.total() as f64);
            }
        }
        Ok(scores)
    }
}
