//! Holm's correction for multiple tests.

/// Returns the adjusted p-values, in the order given. The smallest of n is multiplied by n, the
/// next by n - 1, and so on; they never decrease and are at most 1.
pub fn holm(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b]));
    let mut adjusted = vec![1.0; probabilities.len()];
    let mut largest: f64 = 0.0;
    for (place, &index) in order.iter().enumerate() {
        largest = largest.max((probabilities.len() - place) as f64 * probabilities[index]).min(1.0);
        adjusted[index] = largest;
    }
    adjusted
}
