//! Holm's correction: many tests, one error rate.

/// The adjusted probabilities, in the order given: the smallest times their number, the next times one less, and so on, never decreasing, at most 1.
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
