//! Confusion matrices and their scores.

use serde::Serialize;
use thiserror::Error;

/// Errors of confusion matrices.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfusionFault {
    /// The number of counts is wrong.
    #[error("a confusion matrix of {found} counts where {expected} were expected")]
    Counts {
        /// The number of pairs of classes.
        expected: usize,
        /// The number of counts given.
        found: usize,
    },
    /// A label or prediction is not a class.
    #[error("class {class} was {role}, but classes are counted from 0 and their number is {classes}")]
    Class {
        /// The class.
        class: usize,
        /// `true` or `predicted`.
        role: &'static str,
        /// The number of classes.
        classes: usize,
    },
    /// Two matrices have different numbers of classes.
    #[error("a confusion matrix of {found} classes cannot be added to one of {expected}")]
    Different {
        /// The number of classes.
        expected: usize,
        /// That of the other matrix.
        found: usize,
    },
}

/// A confusion matrix: the number of trials for each true and predicted class.
///
/// The headline score uses the matrix pooled over clients. The macro-F1 of a client's two dozen
/// test trials is noisy, and its mean over clients is biased.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Confusion {
    classes: usize,
    counts: Vec<u64>,
}

impl Confusion {
    /// Makes an empty matrix for this number of classes.
    pub fn new(classes: usize) -> Self {
        Self { classes, counts: vec![0; classes * classes] }
    }

    /// Makes a matrix from counts, with a row for each true class.
    ///
    /// # Errors
    /// When the number of counts is not the number of pairs of classes.
    pub fn of(classes: usize, counts: &[u64]) -> Result<Self, ConfusionFault> {
        if counts.len() != classes * classes {
            return Err(ConfusionFault::Counts { expected: classes * classes, found: counts.len() });
        }
        Ok(Self { classes, counts: counts.to_vec() })
    }

    /// Adds a trial.
    ///
    /// # Errors
    /// When one of the two is not a class.
    pub fn add(&mut self, truth: usize, predicted: usize) -> Result<(), ConfusionFault> {
        for (class, role) in [(truth, "true"), (predicted, "predicted")] {
            if class >= self.classes {
                return Err(ConfusionFault::Class { class, role, classes: self.classes });
            }
        }
        self.counts[truth * self.classes + predicted] += 1;
        Ok(())
    }

    /// Adds the counts of another matrix.
    ///
    /// # Errors
    /// When it has another number of classes.
    pub fn merge(&mut self, other: &Self) -> Result<(), ConfusionFault> {
        if other.classes != self.classes {
            return Err(ConfusionFault::Different { expected: self.classes, found: other.classes });
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        Ok(())
    }

    /// The number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The counts: a row for each true class, a column for each predicted one.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The number of trials.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The number of trials of each true class.
    pub fn support(&self) -> Vec<u64> {
        (0..self.classes).map(|class| self.row(class).iter().sum()).collect()
    }

    /// The share of trials with the correct prediction; NaN without trials.
    pub fn accuracy(&self) -> f64 {
        (0..self.classes).map(|class| self.right(class)).sum::<u64>() as f64 / self.total() as f64
    }

    /// Cohen's kappa, `(p - q) / (1 - q)`, with accuracy `p` and chance accuracy `q` for the same
    /// shares of true and predicted classes. NaN without trials of at least two classes, because
    /// chance then cannot be told from skill.
    pub fn kappa(&self) -> f64 {
        if self.support().iter().filter(|&&trials| trials > 0).count() < 2 {
            return f64::NAN;
        }
        let total = self.total() as f64;
        let support = self.support();
        let both = |class: usize| support[class] as f64 * self.predicted(class) as f64;
        let chance = (0..self.classes).map(both).sum::<f64>() / (total * total);
        (self.accuracy() - chance) / (1.0 - chance)
    }

    /// The F1 score of each class, `2 TP / (2 TP + FP + FN)`; 0 for a class that is neither true
    /// nor predicted anywhere.
    pub fn f1_per_class(&self) -> Vec<f64> {
        let support = self.support();
        let f1 = |class: usize| match support[class] + self.predicted(class) {
            0 => 0.0,
            either => 2.0 * self.right(class) as f64 / either as f64,
        };
        (0..self.classes).map(f1).collect()
    }

    /// The mean F1 score over all classes, as in scikit-learn with `labels` set to all classes and
    /// `zero_division=0`. NaN without trials.
    pub fn macro_f1(&self) -> f64 {
        if self.total() == 0 {
            return f64::NAN;
        }
        self.f1_per_class().iter().sum::<f64>() / self.classes as f64
    }

    /// The mean F1 score over the classes that have trials, for clients: a class that a client lacks
    /// cannot be recognised there. NaN without trials.
    pub fn macro_f1_of_present(&self) -> f64 {
        let present = self.f1_per_class().into_iter().zip(self.support()).filter(|(_, trials)| *trials > 0);
        let f1: Vec<f64> = present.map(|(f1, _)| f1).collect();
        f1.iter().sum::<f64>() / f1.len() as f64
    }

    fn row(&self, truth: usize) -> &[u64] {
        &self.counts[truth * self.classes..][..self.classes]
    }

    fn right(&self, class: usize) -> u64 {
        self.row(class)[class]
    }

    fn predicted(&self, class: usize) -> u64 {
        self.counts.iter().skip(class).step_by(self.classes).sum()
    }
}
