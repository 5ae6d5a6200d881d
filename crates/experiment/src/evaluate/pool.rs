//! The scores of all folds of a seed together.

use std::collections::HashMap;

use fedspd_run::Confusion;

use super::scores::{Confusions, Detail, FEASIBILITY_ERROR, FINAL, Score, confusion_metric};
use crate::Error;

/// Pools the final scores of the folds of a seed: sums the confusion matrices of all trials and of
/// each client or held-out subject, then scores the sums. The distance from the manifold is the
/// largest of all folds.
pub(crate) fn pool_folds(classes: &[String], folds: &[&[Score]]) -> Result<Vec<Score>, Error> {
    let mut pooled = Vec::new();
    for split in ["test", "held-out"] {
        let mut all = Confusions::new(classes.len());
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut groups: Vec<(String, Confusion)> = Vec::new();
        for fold in folds {
            let fold = FoldScores::new(fold, split);
            let Some(confusion) = fold.confusion("pooled", classes)? else { continue };
            all.add_trials(fold.value("pooled", "loss").unwrap_or(f64::NAN), &confusion)?;
            for name in fold.groups() {
                let Some(confusion) = fold.confusion(name, classes)? else { continue };
                if let Some(&place) = places.get(name) {
                    groups[place].1.merge(&confusion)?;
                } else {
                    places.insert(name.to_owned(), groups.len());
                    groups.push((name.to_owned(), confusion));
                }
            }
        }
        if all.pooled.total() > 0 {
            all.set_groups(groups);
            pooled.extend(all.scores(classes, split, FINAL, Detail::Groups));
        }
    }
    let errors = folds.iter().flat_map(|fold| fold.iter());
    let errors = errors.filter(|score| score.metric == FEASIBILITY_ERROR).map(|score| score.value);
    pooled.extend(errors.reduce(f64::max).map(|error| Score::pooled("model", FEASIBILITY_ERROR, error)));
    Ok(pooled)
}

/// The final scores of one split of a fold.
struct FoldScores<'a> {
    values: HashMap<(&'a str, &'a str), f64>,
    /// Clients or subjects, in their order.
    groups: Vec<&'a str>,
}

impl<'a> FoldScores<'a> {
    fn new(scores: &'a [Score], split: &str) -> Self {
        let (mut values, mut groups) = (HashMap::new(), Vec::new());
        for score in scores.iter().filter(|score| score.split == split) {
            let Some(metric) = score.metric.strip_prefix(FINAL) else { continue };
            values.insert((&*score.client, metric), score.value);
            if metric == "trials" {
                groups.push(&*score.client);
            }
        }
        Self { values, groups }
    }

    fn groups(&self) -> impl Iterator<Item = &'a str> {
        self.groups.iter().copied()
    }

    fn value(&self, client: &str, metric: &str) -> Option<f64> {
        self.values.get(&(client, metric)).copied()
    }

    /// Returns the confusion matrix of all trials or of a group.
    fn confusion(&self, client: &str, classes: &[String]) -> Result<Option<Confusion>, Error> {
        let pairs = classes.iter().flat_map(|truth| classes.iter().map(move |found| (truth, found)));
        let counts = pairs.map(|(truth, found)| self.value(client, &confusion_metric(truth, found)));
        let Some(counts) = counts.map(|count| count.map(|count| count as u64)).collect::<Option<Vec<_>>>()
        else {
            return Ok(None);
        };
        Ok(Some(Confusion::of(classes.len(), &counts)?))
    }
}
