//! Wilcoxon's signed-rank test of paired differences, two-sided.
//!
//! Zero differences are dropped, as in Wilcoxon's original test; ties get the mean of their ranks.
//! Up to [`EXACT`] differences the null distribution is exact, even with ties. Beyond, it is normal
//! with corrections for ties and for continuity. `scipy.stats.wilcoxon` gives the same numbers
//! (`golden/wilcoxon`).

use serde::Serialize;

/// Largest number n of differences for which all `2^n` sign patterns are counted, because these
/// counts are exact in an `f64`.
pub const EXACT: usize = 50;

/// Result of a signed-rank test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Wilcoxon {
    /// The number of non-zero differences.
    pub used: usize,
    /// The sum of the ranks of positive differences.
    pub plus: f64,
    /// The sum of the ranks of negative differences.
    pub minus: f64,
    /// The p-value: the probability of rank sums at least as uneven under random signs; 1 if all
    /// differences are zero.
    pub p: f64,
    /// Whether the p-value is exact.
    pub exact: bool,
}

impl Wilcoxon {
    /// Tests these differences, which must be finite.
    pub fn new(differences: &[f64]) -> Self {
        let mut sizes: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
        sizes.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
        let ranks = doubled_ranks(&sizes);
        let all: u64 = ranks.iter().sum();
        let plus: u64 = sizes.iter().zip(&ranks).filter(|(d, _)| **d > 0.0).map(|(_, rank)| rank).sum();
        let (used, exact) = (sizes.len(), sizes.len() <= EXACT);
        let p = if exact { exact_p(&ranks, plus) } else { normal_p(&ranks, plus) };
        Self { used, plus: plus as f64 / 2.0, minus: (all - plus) as f64 / 2.0, p, exact }
    }

    /// Returns the matched-pairs rank-biserial correlation, from -1 (all negative) to 1 (all
    /// positive); none if all differences are zero.
    pub fn rank_biserial(&self) -> Option<f64> {
        (self.used > 0).then(|| (self.plus - self.minus) / (self.plus + self.minus))
    }
}

/// Returns doubled ranks of values sorted by absolute value. Doubled ranks are integers, even with
/// ties.
fn doubled_ranks(sorted: &[f64]) -> Vec<u64> {
    let mut ranks = Vec::with_capacity(sorted.len());
    for tied in sorted.chunk_by(|a, b| a.abs() == b.abs()) {
        let first = ranks.len() as u64 + 1;
        let last = first + tied.len() as u64 - 1;
        ranks.extend(std::iter::repeat_n(first + last, tied.len()));
    }
    ranks
}

/// Counts the sign patterns for every rank sum, rank by rank.
fn exact_p(ranks: &[u64], plus: u64) -> f64 {
    let all: u64 = ranks.iter().sum();
    let mut patterns = vec![0.0_f64; all as usize + 1];
    patterns[0] = 1.0;
    let mut reached = 0;
    for &rank in ranks {
        reached += rank as usize;
        for sum in (rank as usize..=reached).rev() {
            patterns[sum] += patterns[sum - rank as usize];
        }
    }
    // The distribution is symmetric, so the smaller tail is that of the smaller sum.
    let smaller = plus.min(all - plus) as usize;
    let tail: f64 = patterns[..=smaller].iter().sum();
    (2.0 * tail / (1_u64 << ranks.len()) as f64).min(1.0)
}

fn normal_p(ranks: &[u64], plus: u64) -> f64 {
    let n = ranks.len() as f64;
    let mean = n * (n + 1.0) / 4.0;
    let ties: f64 = ranks
        .chunk_by(|a, b| a == b)
        .map(|tied| {
            let t = tied.len() as f64;
            t * t * t - t
        })
        .sum();
    let variance = (n * (n + 1.0) * (2.0 * n + 1.0) - ties / 2.0) / 24.0;
    let distance = ((plus as f64 / 2.0 - mean).abs() - 0.5).max(0.0);
    // Twice the tail of the normal distribution.
    libm::erfc(distance / (2.0 * variance).sqrt())
}
