//! Statistics of paired differences.

use fedspd_run::{Summary, summary};
use serde::Serialize;

use super::Wilcoxon;
use super::bootstrap::{interval, quantile};

/// A paired comparison of two runs over seeds or over clients.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Paired {
    /// The first run's score minus the second's, pair by pair.
    pub differences: Vec<f64>,
    /// Their mean.
    pub mean: f64,
    /// A bootstrap interval of the mean; none for a single pair.
    pub interval: Option<[f64; 2]>,
    /// Their median.
    pub median: f64,
    /// Cohen's d of the differences: mean divided by standard deviation; none if that is zero or
    /// there is only one pair.
    pub cohen_dz: Option<f64>,
    /// The matched-pairs rank-biserial correlation; none if all differences are zero.
    pub rank_biserial: Option<f64>,
    /// The signed-rank test.
    pub wilcoxon: Wilcoxon,
    /// Its p-value after Holm's correction over all pairs of runs.
    pub p_holm: f64,
}

impl Paired {
    /// Compares pairs of finite scores. `p_holm` is not corrected yet, because only the caller
    /// knows all pairs of runs.
    pub fn new(first: &[f64], second: &[f64]) -> Self {
        let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
        let mut sorted = differences.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let Summary { mean, std, .. } = summary(&differences);
        let wilcoxon = Wilcoxon::new(&differences);
        Self {
            mean,
            interval: interval(&differences),
            median: quantile(&sorted, 0.5),
            cohen_dz: (std > 0.0).then(|| mean / std),
            rank_biserial: wilcoxon.rank_biserial(),
            p_holm: wilcoxon.p,
            wilcoxon,
            differences,
        }
    }
}
