//! Predictions become numbers.

use serde::Serialize;
use thiserror::Error;

/// Why trials cannot be counted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfusionFault {
    /// Counts of another shape.
    #[error("a confusion matrix of {found} counts where {expected} were expected")]
    Counts {
        /// How many pairs of classes there are.
        expected: usize,
        /// How many counts came.
        found: usize,
    },
    /// A label or prediction that is no class.
    #[error("class {class} was {role}, but there are {classes} classes (counted from 0)")]
    Class {
        /// The class.
        class: usize,
        /// `true` or `predicted`.
        role: &'static str,
        /// The number of classes.
        classes: usize,
    },
    /// Confusions of different classes.
    #[error("a confusion of {found} classes cannot join one of {expected}")]
    Different {
        /// The number of classes.
        expected: usize,
        /// That of the other.
        found: usize,
    },
}

/// How often each class was taken for each.
///
/// Pooled over clients, it is what the headline number comes from: the macro-F1 of a client's two dozen test trials is noisy, and its
/// mean over clients biased.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Confusion {
    classes: usize,
    counts: Vec<u64>,
}

impl Confusion {
    /// No trials of so many classes.
    pub fn new(classes: usize) -> Self {
        Self { classes, counts: vec![0; classes * classes] }
    }

    /// Counts that were taken elsewhere: a row for each true class.
    ///
    /// # Errors
    /// When there are not as many as pairs of classes.
    pub fn of(classes: usize, counts: &[u64]) -> Result<Self, ConfusionFault> {
        if counts.len() != classes * classes {
            return Err(ConfusionFault::Counts { expected: classes * classes, found: counts.len() });
        }
        Ok(Self { classes, counts: counts.to_vec() })
    }

    /// Counts a trial.
    ///
    /// # Errors
    /// When one of the two is no class.
    pub fn add(&mut self, truth: usize, predicted: usize) -> Result<(), ConfusionFault> {
        for (class, role) in [(truth, "true"), (predicted, "predicted")] {
            if class >= self.classes {
                return Err(ConfusionFault::Class { class, role, classes: self.classes });
            }
        }
        self.counts[truth * self.classes + predicted] += 1;
        Ok(())
    }

    /// Counts the trials of another.
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

    /// How many trials of each class there are.
    pub fn support(&self) -> Vec<u64> {
        (0..self.classes).map(|class| self.row(class).iter().sum()).collect()
    }

    /// The share of trials that were told right; NaN without trials.
    pub fn accuracy(&self) -> f64 {
        (0..self.classes).map(|class| self.right(class)).sum::<u64>() as f64 / self.total() as f64
    }

    /// Cohen's kappa, `(p - q) / (1 - q)`: the accuracy `p` above what chance `q` gives with the same shares of true and predicted classes. NaN without
    /// trials, and where one class is always both true and predicted: chance is then always right.
    pub fn kappa(&self) -> f64 {
        let total = self.total() as f64;
        let support = self.support();
        let both = |class: usize| support[class] as f64 * self.predicted(class) as f64;
        let chance = (0..self.classes).map(both).sum::<f64>() / (total * total);
        (self.accuracy() - chance) / (1.0 - chance)
    }

    /// The F1 score of each class, `2 TP / (2 TP + FP + FN)`; 0 for a class that is neither true nor predicted anywhere.
    pub fn f1_per_class(&self) -> Vec<f64> {
        let support = self.support();
        let f1 = |class: usize| match support[class] + self.predicted(class) {
            0 => 0.0,
            either => 2.0 * self.right(class) as f64 / either as f64,
        };
        (0..self.classes).map(f1).collect()
    }

    /// The mean of the classes' F1 scores, over all classes, as scikit-learn's with `labels` all classes and `zero_division=0`. NaN
    /// without trials, where nothing was measured.
    pub fn macro_f1(&self) -> f64 {
        if self.total() == 0 {
            return f64::NAN;
        }
        self.f1_per_class().iter().sum::<f64>() / self.classes as f64
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
