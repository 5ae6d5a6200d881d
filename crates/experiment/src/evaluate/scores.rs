//! Scores of predictions, for the results.

use fedspd_eeg::About;
use fedspd_nn::Evaluation;
use fedspd_run::{Confusion, ConfusionFault};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::record::PastRound;

/// One number of the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Score {
    /// The name of a client or a held-out subject, or `pooled`, `mean` or `worst`.
    pub(crate) client: String,
    pub(crate) split: String,
    pub(crate) metric: String,
    pub(crate) value: f64,
}

/// Predictions of trials, by one model or several.
#[derive(Default)]
pub(crate) struct Predicted {
    /// Trials with their predicted classes.
    pairs: Vec<(usize, usize)>,
    /// The probabilities of the classes, in the order of the pairs.
    probabilities: Vec<f64>,
    /// The sum of the losses over trials.
    loss: f64,
}

impl Predicted {
    pub(crate) fn add(&mut self, trials: &[usize], evaluation: &Evaluation) {
        self.pairs.extend(trials.iter().copied().zip(evaluation.predictions.iter().copied()));
        self.probabilities.extend_from_slice(&evaluation.probabilities);
        self.loss += evaluation.loss * trials.len() as f64;
    }

    /// Returns trials with their predicted classes and probabilities, in the order of the data.
    pub(super) fn by_trial(&self) -> impl Iterator<Item = (usize, usize, &[f64])> {
        let classes = self.probabilities.len() / self.pairs.len().max(1);
        let mut places: Vec<usize> = (0..self.pairs.len()).collect();
        places.sort_unstable_by_key(|&place| self.pairs[place]);
        places.into_iter().map(move |place| {
            let (trial, class) = self.pairs[place];
            (trial, class, &self.probabilities[place * classes..(place + 1) * classes])
        })
    }

    /// Computes the confusion matrices of all trials and of each group (a client, a subject).
    /// Groups without predictions are left out.
    pub(crate) fn confusions<'a>(
        &self,
        about: &About,
        groups: impl Iterator<Item = (&'a str, &'a [usize])>,
    ) -> Result<Confusions, Error> {
        let mut pooled = Confusion::new(about.classes.len());
        for &(trial, predicted) in &self.pairs {
            pooled.add(about.origins[trial].label, predicted)?;
        }
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
                each.push((name.to_owned(), confusion));
            }
        }
        Ok(Confusions { pooled, loss: self.loss, each })
    }

    /// Computes the macro-F1 of all trials together.
    pub(crate) fn macro_f1(&self, about: &About) -> Result<f64, Error> {
        Ok(self.confusions(about, std::iter::empty())?.pooled.macro_f1())
    }
}

/// The prefix of metrics of a final model.
pub(super) const FINAL: &str = "final_";
/// The metric of the distance of a final model from the manifold.
pub(super) const FEASIBILITY_ERROR: &str = "final_feasibility_error";

/// Returns the metric of an entry of a confusion matrix.
pub(super) fn confusion_metric(truth: &str, predicted: &str) -> String {
    format!("confusion:{truth}:{predicted}")
}

/// The amount of detail of scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Scores of all trials together.
    Main,
    /// Also the scores of each class and of each group.
    Groups,
    /// Also the confusion matrix of each group, so that folds can be pooled.
    GroupConfusions,
}

/// Confusion matrices of all trials together and of each group.
pub(crate) struct Confusions {
    pub(crate) pooled: Confusion,
    /// The sum of the losses over trials.
    loss: f64,
    each: Vec<(String, Confusion)>,
}

impl Confusions {
    /// Creates empty confusion matrices.
    pub(crate) fn new(classes: usize) -> Self {
        Self { pooled: Confusion::new(classes), loss: 0.0, each: Vec::new() }
    }

    /// Adds a group with its mean loss.
    pub(crate) fn add(&mut self, name: &str, loss: f64, confusion: &Confusion) -> Result<(), Error> {
        self.add_trials(loss, confusion)?;
        self.each.push((name.to_owned(), confusion.clone()));
        Ok(())
    }

    /// Adds trials with their mean loss to those of all groups.
    pub(crate) fn add_trials(&mut self, loss: f64, confusion: &Confusion) -> Result<(), Error> {
        self.pooled.merge(confusion)?;
        self.loss += loss * confusion.total() as f64;
        Ok(())
    }

    /// Replaces the groups.
    pub(crate) fn set_groups(&mut self, groups: Vec<(String, Confusion)>) {
        self.each = groups;
    }

    /// Computes the scores of a split: those of all trials with their confusion matrix, and the
    /// mean and the worst over groups. The macro-F1 of a group counts the classes that it has.
    pub(crate) fn scores(&self, classes: &[String], split: &str, prefix: &str, detail: Detail) -> Vec<Score> {
        let Self { pooled, each, .. } = self;
        let mut scores = Vec::new();
        let mut add = |client: &str, metric: String, value: f64| {
            let (client, split) = (client.to_owned(), split.to_owned());
            scores.push(Score { client, split, metric: format!("{prefix}{metric}"), value });
        };
        add("pooled", "macro_f1".into(), pooled.macro_f1());
        add("pooled", "accuracy".into(), pooled.accuracy());
        add("pooled", "kappa".into(), pooled.kappa());
        add("pooled", "loss".into(), self.loss / pooled.total() as f64);
        let f1: Vec<f64> = each.iter().map(|(_, confusion)| confusion.macro_f1_of_present()).collect();
        add("mean", "macro_f1".into(), f1.iter().sum::<f64>() / f1.len() as f64);
        add("worst", "macro_f1".into(), f1.iter().copied().fold(f64::NAN, f64::min));
        let counted = |confusion: &Confusion| -> Vec<(String, f64)> {
            let pairs = confusion.counts().iter().enumerate().map(|(place, &count)| {
                let (truth, predicted) = (&classes[place / classes.len()], &classes[place % classes.len()]);
                (confusion_metric(truth, predicted), count as f64)
            });
            pairs.collect()
        };
        for (metric, count) in counted(pooled) {
            add("pooled", metric, count);
        }
        if detail != Detail::Main {
            for (class, f1) in classes.iter().zip(pooled.f1_per_class()) {
                add("pooled", format!("f1:{class}"), f1);
            }
            for (name, confusion) in each {
                add(name, "macro_f1".into(), confusion.macro_f1_of_present());
                add(name, "accuracy".into(), confusion.accuracy());
                add(name, "trials".into(), confusion.total() as f64);
                if detail == Detail::GroupConfusions {
                    for (metric, count) in counted(confusion) {
                        add(name, metric, count);
                    }
                }
            }
        }
        scores
    }
}

/// The scores of a model on the validation trials of all clients.
#[derive(Clone, Copy)]
pub(crate) struct Validation {
    /// The uniform mean over clients.
    pub(crate) loss: f64,
    /// The macro-F1 of all trials together.
    pub(crate) f1: f64,
}

/// The scores of a round that is validated, tested, or both.
pub(crate) struct RoundScores {
    /// For the results.
    pub(crate) scores: Vec<Score>,
    pub(crate) validation: Option<Validation>,
    pub(crate) test_f1: Option<f64>,
}

impl RoundScores {
    pub(crate) fn new(validation: Option<Validation>, test: Option<&Confusions>, classes: &[String]) -> Self {
        let score = |metric, value| Score::pooled("validation", metric, value);
        let validated = |Validation { loss, f1 }| [score("macro_f1", f1), score("loss", loss)];
        let mut scores: Vec<Score> = validation.into_iter().flat_map(validated).collect();
        scores.extend(test.into_iter().flat_map(|test| test.scores(classes, "test", "", Detail::Main)));
        Self { scores, validation, test_f1: test.map(|test| test.pooled.macro_f1()) }
    }
}

impl Score {
    pub(crate) fn pooled(split: &str, metric: &str, value: f64) -> Self {
        Self { client: "pooled".into(), split: split.into(), metric: metric.into(), value }
    }
}

/// Computes the scores of the final model of a unit. `best_round` is its round if it is not the
/// last one.
pub(crate) fn finals(
    test: &Confusions,
    classes: &[String],
    detail: Detail,
    feasibility: f64,
    best_round: Option<u32>,
    history: &[PastRound],
) -> Vec<Score> {
    let mut finals = test.scores(classes, "test", FINAL, detail);
    finals.push(Score::pooled("model", FEASIBILITY_ERROR, feasibility));
    finals.extend(best_round.map(|round| Score::pooled("model", "final_round", round.into())));
    finals.extend(best_by_validation(history));
    finals
}

/// Returns the test score of the round with the best validation score, a secondary result of
/// federated training.
fn best_by_validation(history: &[PastRound]) -> Vec<Score> {
    let find = |past: &PastRound, split: &str| {
        let wanted =
            |score: &&Score| score.client == "pooled" && score.split == split && score.metric == "macro_f1";
        past.scores.iter().find(wanted).map(|score| score.value)
    };
    let tested =
        history.iter().filter_map(|past| Some((find(past, "validation")?, find(past, "test")?, past.round)));
    // The first of equals.
    let best = tested.fold(None, |best: Option<(f64, f64, u32)>, this| match best {
        Some(best) if !(this.0 > best.0) => Some(best),
        _ => Some(this),
    });
    best.map_or(Vec::new(), |(_, test, round)| {
        let score = |metric, value| Score::pooled("test", metric, value);
        vec![score("best_val_macro_f1", test), score("best_val_round", round.into())]
    })
}

/// The confusion matrix of some trials. `labels` are those of all trials.
pub(crate) fn confusion(
    classes: usize,
    labels: &[usize],
    trials: &[usize],
    evaluation: &Evaluation,
) -> Result<Confusion, ConfusionFault> {
    let mut confusion = Confusion::new(classes);
    for (&trial, &predicted) in trials.iter().zip(&evaluation.predictions) {
        confusion.add(labels[trial], predicted)?;
    }
    Ok(confusion)
}
