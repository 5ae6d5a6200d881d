//! Quantiles and evenly spread samples.

/// Returns at most `most` of the entries, evenly spread.
pub(super) fn evenly(all: &[usize], most: usize) -> Vec<usize> {
    let taken = all.len().min(most);
    (0..taken).map(|i| all[i * all.len() / taken]).collect()
}

/// Computes the quantile of sorted numbers, linear between neighbours (NumPy's default). Returns
/// zero without numbers.
pub(super) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let place = share * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}
